/* check_space - who takes which units of a rack; full-depth devices take both faces. */
#include "inventory/model/check.h"

#include <stdarg.h>
#include <stdio.h>

struct space {
	const struct model_check *c;
	size_t *start; /* of each rack in taken */
	size_t *taken; /* a device per unit and face, MODEL_NONE when free */
};

__attribute__((format(printf, 3, 4))) static void tell(
	const struct model_check *c, struct model_problem *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->msg, sizeof p->msg, fmt, ap);
	va_end(ap);
	c->report(c->ctx, p);
}

static size_t *slot(const struct space *s, size_t rack, unsigned unit, unsigned face)
{
	return &s->taken[s->start[rack] + (size_t)(unit - 1) * FACE_N + face];
}

static void tell_taken(const struct space *s, size_t row, unsigned unit, size_t other)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = NOUN_DEVICE, .row = row, .field = "position"};
	const struct model *m = s->c->m;
	const struct device *d = &m->devices.at[row], *o = &m->devices.at[other];
	char line[24] = "";

	if (o->line)
		snprintf(line, sizeof line, " (line %u)", o->line);
	snprintf(p.hint, sizeof p.hint, "'%s' takes units %u to %u", o->name, o->position,
		o->position + m->types.at[o->type].height_u - 1);
	tell(s->c, &p, "'%s' and '%s'%s both take unit %u of rack '%s'", d->name, o->name, line,
		unit, m->racks.at[d->rack].name);
}

/* Takes the units of a device that fits; tells the first conflict only. */
static void place(const struct space *s, size_t row, const struct device_type *t)
{
	const struct device *d = &s->c->m->devices.at[row];
	bool told = false;

	for (unsigned unit = d->position; unit < d->position + t->height_u; unit++) {
		for (unsigned face = 0; face < FACE_N; face++) {
			size_t *taken = slot(s, d->rack, unit, face);

			if (!t->full_depth && face != d->face)
				continue;
			if (*taken == MODEL_NONE) {
				*taken = row;
			} else if (!told && *taken != row) {
				told = true;
				tell_taken(s, row, unit, *taken);
			}
		}
	}
}

static void check_device(const struct space *s, size_t row)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = NOUN_DEVICE, .row = row, .field = "position"};
	const struct model *m = s->c->m;
	const struct device *d = &m->devices.at[row];
	const struct device_type *t = d->type == MODEL_NONE ? NULL : &m->types.at[d->type];
	const struct rack *r = d->rack == MODEL_NONE ? NULL : &m->racks.at[d->rack];

	if (!t || d->position == 0)
		return;
	if (!r) {
		snprintf(p.hint, sizeof p.hint, "state its 'rack' too");
		tell(s->c, &p, "'%s' has a position but no rack", d->name);
	} else if (t->height_u == 0) {
		snprintf(p.hint, sizeof p.hint, "remove its 'position'");
		tell(s->c, &p, "'%s' has a position, but its type '%s' takes no units", d->name,
			t->name);
	} else if (d->position > r->height_u || t->height_u > r->height_u - d->position + 1) {
		tell(s->c, &p, "'%s' takes units %u to %u, but rack '%s' has %u", d->name,
			d->position, d->position + t->height_u - 1, r->name, r->height_u);
	} else {
		place(s, row, t);
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
		n += (size_t)m->racks.at[i].height_u * FACE_N;
	}
	s.taken = arena_alloc(a, (n + 1) * sizeof(size_t));
	for (size_t i = 0; i < n; i++)
		s.taken[i] = MODEL_NONE;
	for (size_t i = 0; i < m->devices.n; i++)
		check_device(&s, i);
	arena_free(a);
}
