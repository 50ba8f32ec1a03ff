/* check_space - who takes which half units of a rack; what is full depth takes both faces. */
#include "inventory/model/check_priv.h"

#include <stdio.h>

/* A device or a reservation; devices come first. */
struct taker {
	enum model_noun noun;
	const char *name;
	unsigned line;
	size_t rack;
	unsigned low, halves; /* in half units from the rack's first */
	bool full_depth;
	enum rack_face face;
};

struct space {
	const struct model_check *c;
	size_t *start; /* of each rack in taken */
	size_t *taken; /* a taker per half unit and face, MODEL_NONE when free */
};

static unsigned first_u(const struct rack *r)
{
	return r->first_u ? r->first_u : 1;
}

/* "10" or "10.5", where half is counted from the rack's first unit. */
struct unit_text {
	char text[16];
};
static struct unit_text unit_at(const struct rack *r, unsigned half)
{
	struct unit_text u;

	snprintf(u.text, sizeof u.text, "%u%s", first_u(r) + half / 2, half % 2 ? ".5" : "");
	return u;
}

/* The last unit that the taker is in. */
static struct unit_text top_of(const struct rack *r, const struct taker *t)
{
	return unit_at(r, (t->low + t->halves - 1) / 2 * 2);
}

static struct taker taker_of(const struct model *m, size_t i)
{
	if (i < m->devices.n) {
		const struct device *d = &m->devices.at[i];
		const struct device_type *t = &m->types.at[d->type];
		const unsigned first = first_u(&m->racks.at[d->rack]);

		return (struct taker){NOUN_DEVICE, d->name, d->line, d->rack,
			(d->position - first) * 2 + d->half_up, t->height_u * 2 + t->half_u,
			t->full_depth, d->face};
	}
	const struct reservation *v = &m->reservations.at[i - m->devices.n];

	return (struct taker){NOUN_RESERVATION, v->name, v->line, v->rack,
		(v->position - first_u(&m->racks.at[v->rack])) * 2, v->height_u * 2, v->full_depth,
		v->face};
}

static void tell_taken(const struct space *s, size_t row, unsigned half, size_t other)
{
	const struct model *m = s->c->m;
	const struct taker t = taker_of(m, row), o = taker_of(m, other);
	const struct rack *r = &m->racks.at[t.rack];
	struct model_problem p = {.code = E_CONFLICT,
		.noun = t.noun,
		.row = t.noun == NOUN_DEVICE ? row : row - m->devices.n,
		.field = "position"};

	snprintf(p.hint, sizeof p.hint, "'%s' takes units %s to %s", o.name, unit_at(r, o.low).text,
		top_of(r, &o).text);
	check_tell(s->c, &p, "'%s' and '%s'%s both take unit %s of rack '%s'", t.name, o.name,
		check_line(o.line).text, unit_at(r, half / 2 * 2).text, r->name);
}

/* Takes the half units of one that fits; tells the first conflict only. */
static void place(const struct space *s, size_t row)
{
	const struct taker t = taker_of(s->c->m, row);
	bool told = false;

	for (unsigned half = t.low; half < t.low + t.halves; half++) {
		for (unsigned face = 0; face < FACE_N; face++) {
			size_t *taken = &s->taken[s->start[t.rack] + (size_t)half * FACE_N + face];

			if (!t.full_depth && face != t.face)
				continue;
			if (*taken == MODEL_NONE) {
				*taken = row;
			} else if (!told && *taken != row) {
				told = true;
				tell_taken(s, row, half, *taken);
			}
		}
	}
}

/* Whether it lies in the rack; told when it does not. */
static bool is_inside(const struct space *s, struct model_problem *p, unsigned position,
	unsigned halves, bool half_up)
{
	const struct model *m = s->c->m;
	const bool device = p->noun == NOUN_DEVICE;
	const size_t rack = device ? m->devices.at[p->row].rack : m->reservations.at[p->row].rack;
	const char *name = device ? m->devices.at[p->row].name : m->reservations.at[p->row].name;
	const struct rack *r = &m->racks.at[rack];
	const unsigned first = first_u(r), top = (half_up + halves + 1) / 2;

	if (position >= first && position - first + top <= r->height_u &&
		(position - first) * 2 + half_up + halves <= r->height_u * 2)
		return true;
	if (first == 1)
		check_tell(s->c, p, "'%s' takes units %u to %u, but rack '%s' has %u", name,
			position, position + top - 1, r->name, r->height_u);
	else
		check_tell(s->c, p, "'%s' takes units %u to %u, but rack '%s' has %u to %u", name,
			position, position + top - 1, r->name, first, first + r->height_u - 1);
	return false;
}

static void check_device(const struct space *s, size_t row)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = NOUN_DEVICE, .row = row, .field = "position"};
	const struct model *m = s->c->m;
	const struct device *d = &m->devices.at[row];
	const struct device_type *t = d->type == MODEL_NONE ? NULL : &m->types.at[d->type];

	if (!t || d->position == 0)
		return;
	if (d->rack == MODEL_NONE) {
		snprintf(p.hint, sizeof p.hint, "state its 'rack' too");
		check_tell(s->c, &p, "'%s' has a position but no rack", d->name);
	} else if (t->height_u == 0 && !t->half_u) {
		snprintf(p.hint, sizeof p.hint, "remove its 'position'");
		check_tell(s->c, &p, "'%s' has a position, but its type '%s' takes no units",
			d->name, t->name);
	} else if (is_inside(s, &p, d->position, t->height_u * 2 + t->half_u, d->half_up)) {
		place(s, row);
	}
}

static void check_reservation(const struct space *s, size_t row)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = NOUN_RESERVATION, .row = row, .field = "position"};
	const struct reservation *v = &s->c->m->reservations.at[row];

	if (v->rack == MODEL_NONE)
		return;
	if ((v->position == 0) != (v->height_u == 0)) {
		p.field = v->position == 0 ? "height_u" : "position";
		snprintf(p.hint, sizeof p.hint, "state both, or neither to keep watts alone");
		check_tell(s->c, &p, "reservation '%s' has %s", v->name,
			v->position ? "a position but no height_u" : "a height_u but no position");
	} else if (v->position && is_inside(s, &p, v->position, v->height_u * 2, false)) {
		place(s, s->c->m->devices.n + row);
	}
}

void model_check_space(const struct model_check *c)
{
	const struct model *m = c->m;
	struct arena *a = arena_new();
	struct space s = {c, arena_alloc(a, (m->racks.n + 1) * sizeof(size_t)), NULL};
	size_t n = 0;

	for (size_t i = 0; i < m->racks.n; i++) {
		s.start[i] = n;
		n += (size_t)m->racks.at[i].height_u * 2 * FACE_N;
	}
	s.taken = arena_alloc(a, (n + 1) * sizeof(size_t));
	for (size_t i = 0; i < n; i++)
		s.taken[i] = MODEL_NONE;
	for (size_t i = 0; i < m->devices.n; i++)
		check_device(&s, i);
	for (size_t i = 0; i < m->reservations.n; i++)
		check_reservation(&s, i);
	arena_free(a);
}
