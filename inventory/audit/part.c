/* part - marks what belongs, numbers it anew, copies it row by row. */
#include "inventory/audit/part.h"

#include "agent/base/mem.h"

#include <string.h>

#define COPY(to, from)                                                                 \
	do {                                                                           \
		(to)->n = (to)->room = (from)->n;                                      \
		(to)->at = (from)->n ? xmalloc((from)->n * sizeof *(from)->at) : NULL; \
		if ((from)->n)                                                         \
			memcpy((to)->at, (from)->at, (from)->n * sizeof *(from)->at);  \
	} while (0)

static void copy_shared(struct model *to, const struct model *m)
{
	to->site = m->site;
	to->about = m->about;
	to->file = m->file;
	to->terms = m->terms;
	COPY(&to->locations, &m->locations);
	COPY(&to->zones, &m->zones);
	COPY(&to->panels, &m->panels);
	COPY(&to->upses, &m->upses);
	COPY(&to->generators, &m->generators);
	COPY(&to->units, &m->units);
	COPY(&to->types, &m->types);
}

struct model *part_copy(const struct model *m)
{
	struct model *to = model_new();

	copy_shared(to, m);
	COPY(&to->racks, &m->racks);
	COPY(&to->feeds, &m->feeds);
	COPY(&to->pdus, &m->pdus);
	COPY(&to->banks, &m->banks);
	COPY(&to->outlets, &m->outlets);
	COPY(&to->devices, &m->devices);
	COPY(&to->ports, &m->ports);
	COPY(&to->cords, &m->cords);
	COPY(&to->reservations, &m->reservations);
	return to;
}

/* For each row of the whole its row in the part, MODEL_NONE: not in it. */
struct numbering {
	size_t *at, n;
};

struct maker {
	struct arena *arena;
	const struct graph *g;
	const struct model *m;
	struct part *out;
	bool *element;
	struct numbering racks, feeds, pdus, outlets, devices, ports;
};

static void open_numbers(struct maker *k, struct numbering *by, size_t rows)
{
	by->at = arena_alloc(k->arena, (rows + 1) * sizeof *by->at);
	for (size_t i = 0; i < rows; i++)
		by->at[i] = MODEL_NONE;
}

static void mark_above(struct maker *k, uint32_t e)
{
	for (; e != GRAPH_NONE && !k->element[e]; e = k->g->at[e].parent)
		k->element[e] = true;
}

static void take_device(struct maker *k, uint32_t device)
{
	const struct graph *g = k->g;

	if (k->devices.at[device] != MODEL_NONE)
		return;
	k->devices.at[device] = 0;
	if (k->m->devices.at[device].rack != MODEL_NONE)
		k->racks.at[k->m->devices.at[device].rack] = 0;
	for (uint32_t i = g->device_first[device]; i < g->device_first[device + 1]; i++)
		mark_above(k, graph_outlet(g, g->device_cords[i]));
}

/* The rack's devices, then whoever shares a feed with them. */
static void choose(struct maker *k, size_t rack)
{
	const struct graph *g = k->g;
	bool *feeds = arena_alloc(k->arena, k->m->feeds.n + 1);

	k->racks.at[rack] = 0;
	for (uint32_t i = g->rack_first[rack]; i < g->rack_first[rack + 1]; i++)
		take_device(k, g->rack_devices[i]);
	for (size_t i = 0; i < k->m->pdus.n; i++)
		if (k->m->pdus.at[i].rack == rack)
			mark_above(k, graph_element(g, LEVEL_PDU, i));
	for (size_t i = 0; i < k->m->feeds.n; i++) {
		const uint32_t e = graph_element(g, LEVEL_FEED, i);

		if (k->m->feeds.at[i].rack == rack)
			mark_above(k, e);
		feeds[i] = k->element[e];
	}
	for (size_t i = 0; i < k->m->feeds.n; i++) {
		const struct element *e = &g->at[graph_element(g, LEVEL_FEED, i)];

		for (uint32_t c = 0; feeds[i] && c < e->n; c++)
			take_device(k, g->cord_device[g->below[e->first + c]]);
	}
}

static void number(struct numbering *by, size_t rows, size_t **old, struct arena *a)
{
	*old = arena_alloc(a, (rows + 1) * sizeof **old);
	by->n = 0;
	for (size_t i = 0; i < rows; i++) {
		if (by->at[i] == MODEL_NONE)
			continue;
		(*old)[by->n] = i;
		by->at[i] = by->n++;
	}
}

static void number_all(struct maker *k)
{
	const struct model *m = k->m;

	for (size_t i = 0; i < m->feeds.n; i++)
		if (k->element[graph_element(k->g, LEVEL_FEED, i)])
			k->feeds.at[i] = 0;
	for (size_t i = 0; i < m->pdus.n; i++) {
		if (!k->element[graph_element(k->g, LEVEL_PDU, i)])
			continue;
		k->pdus.at[i] = 0;
		if (m->pdus.at[i].rack != MODEL_NONE)
			k->racks.at[m->pdus.at[i].rack] = 0;
	}
	for (size_t i = 0; i < m->outlets.n; i++)
		if (k->pdus.at[m->outlets.at[i].pdu] != MODEL_NONE)
			k->outlets.at[i] = 0;
	for (size_t i = 0; i < m->cords.n; i++)
		if (k->devices.at[k->g->cord_device[i]] != MODEL_NONE)
			k->ports.at[m->cords.at[i].port] = 0;
	number(&k->racks, m->racks.n, &k->out->racks, k->arena);
	number(&k->feeds, m->feeds.n, &k->out->feeds, k->arena);
	number(&k->pdus, m->pdus.n, &k->out->pdus, k->arena);
	number(&k->outlets, m->outlets.n, &k->out->outlets, k->arena);
	number(&k->devices, m->devices.n, &k->out->devices, k->arena);
	number(&k->ports, m->ports.n, &k->out->ports, k->arena);
}

static size_t renumber(const struct numbering *by, size_t row)
{
	return row == MODEL_NONE ? MODEL_NONE : by->at[row];
}

static void copy_power(const struct maker *k, struct model *to)
{
	const struct model *m = k->m;

	for (size_t i = 0; i < k->feeds.n; i++) {
		struct feed *f = vec_push(&to->feeds);

		*f = m->feeds.at[k->out->feeds[i]];
		f->rack = renumber(&k->racks, f->rack);
	}
	for (size_t i = 0; i < k->pdus.n; i++) {
		struct pdu *p = vec_push(&to->pdus);

		*p = m->pdus.at[k->out->pdus[i]];
		p->rack = renumber(&k->racks, p->rack);
		p->feed = renumber(&k->feeds, p->feed);
		if (p->upstream.kind == SUPPLY_OUTLET)
			p->upstream.row = renumber(&k->outlets, p->upstream.row);
		else if (p->upstream.kind == SUPPLY_FEED)
			p->upstream.row = renumber(&k->feeds, p->upstream.row);
	}
	for (size_t i = 0; i < k->outlets.n; i++) {
		struct outlet *o = vec_push(&to->outlets);

		*o = m->outlets.at[k->out->outlets[i]];
		o->pdu = renumber(&k->pdus, o->pdu);
	}
	vec_each(&m->banks, const struct bank, bank) {
		if (k->pdus.at[bank->pdu] == MODEL_NONE)
			continue;
		*vec_push(&to->banks) = *bank;
		to->banks.at[to->banks.n - 1].pdu = k->pdus.at[bank->pdu];
	}
}

static void copy_devices(const struct maker *k, struct model *to)
{
	const struct model *m = k->m;

	for (size_t i = 0; i < k->racks.n; i++)
		*vec_push(&to->racks) = m->racks.at[k->out->racks[i]];
	for (size_t i = 0; i < k->devices.n; i++) {
		struct device *d = vec_push(&to->devices);

		*d = m->devices.at[k->out->devices[i]];
		d->rack = renumber(&k->racks, d->rack);
	}
	for (size_t i = 0; i < k->ports.n; i++) {
		struct port *p = vec_push(&to->ports);

		*p = m->ports.at[k->out->ports[i]];
		p->device = renumber(&k->devices, p->device);
	}
	vec_each(&m->cords, const struct cord, c)
		if (k->ports.at[c->port] != MODEL_NONE)
			*vec_push(&to->cords) = (struct cord){
				k->ports.at[c->port], k->outlets.at[c->outlet], c->line};
	vec_each(&m->reservations, const struct reservation, v) {
		if (k->racks.at[v->rack] == MODEL_NONE)
			continue;
		*vec_push(&to->reservations) = *v;
		to->reservations.at[to->reservations.n - 1].rack = k->racks.at[v->rack];
	}
}

void part_make(struct arena *a, const struct graph *g, size_t rack, struct part *out)
{
	struct maker k = {.arena = a, .g = g, .m = g->m, .out = out};

	*out = (struct part){.m = model_new()};
	k.element = arena_alloc(a, g->base[LEVEL_N] + 1);
	open_numbers(&k, &k.racks, g->m->racks.n);
	open_numbers(&k, &k.feeds, g->m->feeds.n);
	open_numbers(&k, &k.pdus, g->m->pdus.n);
	open_numbers(&k, &k.outlets, g->m->outlets.n);
	open_numbers(&k, &k.devices, g->m->devices.n);
	open_numbers(&k, &k.ports, g->m->ports.n);
	choose(&k, rack);
	number_all(&k);
	copy_shared(out->m, g->m);
	copy_power(&k, out->m);
	copy_devices(&k, out->m);
	out->rack = k.racks.at[rack];
}

const char *part_name(struct model *m, const char *stem, size_t n)
{
	return arena_printf(m->arena, "%s-%zu", stem, n);
}
