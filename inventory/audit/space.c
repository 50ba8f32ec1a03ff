/* space - two rows of flags. */
#include "inventory/audit/space.h"

#include <stdio.h>

unsigned space_halves(const struct device_type *t)
{
	return t->height_u * 2 + t->half_u;
}

static void mark(struct space *s, unsigned at, unsigned n, const bool faces[2], bool taken)
{
	for (unsigned i = at; i < at + n && i < s->n; i++) {
		if (faces[0])
			s->front[i] = taken;
		if (faces[1])
			s->rear[i] = taken;
	}
}

void space_put(struct space *s, const struct device *d, const struct device_type *t, bool taken)
{
	const bool faces[2] = {
		t->full_depth || d->face == FACE_FRONT, t->full_depth || d->face == FACE_REAR};

	if (d->position >= s->first_u)
		mark(s, (d->position - s->first_u) * 2 + d->half_up, space_halves(t), faces, taken);
}

static void put_reservations(const struct model *m, size_t rack, struct space *s)
{
	vec_each(&m->reservations, const struct reservation, v) {
		const bool faces[2] = {v->full_depth || v->face == FACE_FRONT,
			v->full_depth || v->face == FACE_REAR};

		if (v->rack == rack && v->position >= s->first_u)
			mark(s, (v->position - s->first_u) * 2, v->height_u * 2, faces, true);
	}
}

void space_make(const struct graph *g, size_t rack, bool reservations, struct space *out)
{
	const struct rack *k = &g->m->racks.at[rack];

	*out = (struct space){.first_u = k->first_u ? k->first_u : 1, .n = k->height_u * 2};
	if (out->n > SPACE_MAX)
		out->n = SPACE_MAX;
	for (uint32_t i = g->rack_first[rack]; i < g->rack_first[rack + 1]; i++)
		space_put(out, &g->m->devices.at[g->rack_devices[i]],
			graph_type(g->m, g->rack_devices[i]), true);
	if (reservations)
		put_reservations(g->m, rack, out);
}

static bool half_taken(
	const struct space *s, const struct device_type *t, enum rack_face face, unsigned i)
{
	return ((t->full_depth || face == FACE_FRONT) && s->front[i]) ||
	       ((t->full_depth || face == FACE_REAR) && s->rear[i]);
}

bool space_fits(
	const struct space *s, const struct device_type *t, enum rack_face face, unsigned unit)
{
	const unsigned at = unit < s->first_u ? s->n : (unit - s->first_u) * 2;

	if (at + space_halves(t) > s->n)
		return false;
	for (unsigned i = at; i < at + space_halves(t); i++)
		if (half_taken(s, t, face, i))
			return false;
	return true;
}

unsigned space_find(
	const struct space *s, const struct device_type *t, enum rack_face face, unsigned *best)
{
	const unsigned need = space_halves(t);
	unsigned run = 0, longest = 0, at = 0;

	for (unsigned i = 0; i < s->n; i++) {
		run = half_taken(s, t, face, i) || (run == 0 && i % 2) ? 0 : run + 1;
		if (run > longest)
			longest = run;
		if (at == 0 && need > 0 && run == need)
			at = s->first_u + (i + 1 - need) / 2;
	}
	if (best)
		*best = longest / 2;
	return at;
}

static bool unit_taken(const struct space *s, unsigned i)
{
	return s->front[i] || s->rear[i] || s->front[i + 1] || s->rear[i + 1];
}

void space_count(const struct space *s, unsigned *used, unsigned *free_u, unsigned *gap)
{
	unsigned run = 0;

	*used = *free_u = *gap = 0;
	for (unsigned i = 0; i + 1 < s->n; i += 2) {
		const bool taken = unit_taken(s, i);

		*used += taken;
		*free_u += !taken;
		run = taken ? 0 : run + 1;
		if (run > *gap)
			*gap = run;
	}
}

void space_runs(const struct space *s, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 0; i + 1 < s->n && n + 16 < size; i += 2) {
		unsigned end = i;

		if (unit_taken(s, i))
			continue;
		while (end + 1 < s->n && !unit_taken(s, end))
			end += 2;
		n += (size_t)snprintf(out + n, size - n, "%s%u-%u", n ? ", " : "",
			s->first_u + i / 2, s->first_u + end / 2 - 1);
		i = end;
	}
}
