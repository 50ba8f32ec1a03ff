/* place - counts what banks and lines carry, then takes the emptiest that fits. */
#include "inventory/audit/place.h"

#include "inventory/audit/part.h"
#include "inventory/audit/space.h"

#include <math.h>
#include <string.h>

#define FEEDS_MAX 16

struct places {
	struct model *m;
	const struct audit *a;
	size_t rack;
	const struct device_type *type;
	size_t feeds[FEEDS_MAX]; /* elements */
	unsigned n;
	bool *used;         /* outlets */
	double (*extra)[3]; /* A that this placement adds, by element and line */
	double watts;       /* of a PSU */
};

static bool serves(const struct places *p, size_t pdu)
{
	const struct graph *g = &p->a->graph;

	if (p->m->pdus.at[pdu].rack != MODEL_NONE)
		return p->m->pdus.at[pdu].rack == p->rack;
	for (uint32_t i = 0; i < g->at[graph_element(g, LEVEL_PDU, pdu)].n; i++) {
		const uint32_t cord = g->below[g->at[graph_element(g, LEVEL_PDU, pdu)].first + i];

		if (p->m->devices.at[g->cord_device[cord]].rack == p->rack)
			return true;
	}
	return false;
}

static uint32_t feed_of(const struct places *p, size_t outlet)
{
	uint32_t e = graph_element(&p->a->graph, LEVEL_OUTLET, outlet);

	while (e != GRAPH_NONE && p->a->graph.at[e].level != LEVEL_FEED)
		e = p->a->graph.at[e].parent;
	return e;
}

static void list_feeds(struct places *p)
{
	for (size_t o = 0; o < p->m->outlets.n; o++) {
		const uint32_t feed = feed_of(p, o);
		unsigned i = 0;

		if (feed == GRAPH_NONE || !serves(p, p->m->outlets.at[o].pdu))
			continue;
		while (i < p->n && p->feeds[i] != feed)
			i++;
		if (i == p->n && p->n < FEEDS_MAX)
			p->feeds[p->n++] = feed;
	}
}

/* Whether the plug of the type's cord goes in: big inlets need C19, small ones C13, C15 do. */
static bool fits_in(const struct device_type *t, const char *outlet)
{
	if (!outlet || !model_stated(t->inlet_amps))
		return true;
	if (t->inlet_amps > 12)
		return strcmp(outlet, "C19") == 0 || strcmp(outlet, "C21") == 0;
	return strcmp(outlet, "C13") == 0 || strcmp(outlet, "C15") == 0;
}

static bool on_line(uint8_t phase, unsigned line)
{
	if (phase >= PHASE_L1 && phase <= PHASE_L3)
		return phase - PHASE_L1 == (int)line;
	if (phase >= PHASE_L1L2 && phase <= PHASE_L3L1)
		return phase - PHASE_L1L2 != (int)((line + 1) % 3);
	return true;
}

/* What the fullest of the outlet's lines carries in e, with what this placement adds. */
static double amps_on(const struct places *p, uint32_t e, uint8_t phase)
{
	const struct element_load *l = &p->a->loads.normal[e];
	double most = 0;

	for (unsigned i = 0; i < 3; i++) {
		const double amps = p->a->graph.at[e].phases == 3 ? l->lines[i] : l->amps;

		if (on_line(phase, i) && amps + p->extra[e][i] > most)
			most = amps + p->extra[e][i];
	}
	return most;
}

/* How full what is above the outlet is: its bank first, then its line of the PDU. */
static double fullness(const struct places *p, size_t outlet)
{
	const struct graph *g = &p->a->graph;
	const uint32_t own = graph_element(g, LEVEL_OUTLET, outlet);
	double full = 0;

	for (uint32_t e = g->at[own].parent; e != GRAPH_NONE && g->at[e].level < LEVEL_FEED;
		e = g->at[e].parent)
		full += amps_on(p, e, g->at[own].up);
	return full;
}

static size_t choose_outlet(const struct places *p, size_t feed)
{
	size_t best = MODEL_NONE;
	double least = INFINITY;

	for (size_t o = 0; o < p->m->outlets.n; o++) {
		double full;

		if (p->used[o] || !serves(p, p->m->outlets.at[o].pdu) || feed_of(p, o) != feed ||
			!fits_in(p->type, p->m->outlets.at[o].type))
			continue;
		full = fullness(p, o);
		if (full < least) {
			least = full;
			best = o;
		}
	}
	return best;
}

static void take_outlet(struct places *p, size_t outlet, struct place *out)
{
	const struct graph *g = &p->a->graph;
	const uint32_t own = graph_element(g, LEVEL_OUTLET, outlet);
	const double amps = p->watts / (isnan(g->at[own].volts) ? 230 : g->at[own].volts);

	p->used[outlet] = true;
	out->outlets[out->n++] = outlet;
	for (uint32_t e = g->at[own].parent; e != GRAPH_NONE && g->at[e].level < LEVEL_FEED;
		e = g->at[e].parent)
		for (unsigned i = 0; i < 3; i++)
			p->extra[e][i] += on_line(g->at[own].up, i) ? amps : 0;
}

/* Feeds that carry least come first, so that two PSUs find the two emptiest of three. */
static void sort_feeds(struct places *p)
{
	for (unsigned i = 1; i < p->n; i++) {
		for (unsigned k = i; k > 0 && p->a->loads.normal[p->feeds[k]].watts <
						      p->a->loads.normal[p->feeds[k - 1]].watts;
			k--) {
			const size_t feed = p->feeds[k];

			p->feeds[k] = p->feeds[k - 1];
			p->feeds[k - 1] = feed;
		}
	}
}

static bool find_outlets(struct places *p, struct place *out, struct place_fault *fault)
{
	const unsigned psus = p->type->psus ? p->type->psus : 1;

	if (p->n == 0) {
		*fault = (struct place_fault){RULE_CORDS, 0, psus,
			"no PDU with outlets stands in the rack: nothing is known of its power"};
		return false;
	}
	sort_feeds(p);
	for (unsigned i = 0; i < psus && i < PLACE_PSUS_MAX; i++) {
		const size_t outlet = choose_outlet(p, p->feeds[i % p->n]);

		if (outlet == MODEL_NONE) {
			*fault = (struct place_fault){RULE_CORDS, i, psus,
				arena_printf(p->m->arena,
					"%u PSUs need outlets; feed '%s' has no free one for the %s",
					psus,
					p->m->feeds.at[p->a->graph.at[p->feeds[i % p->n]].row].name,
					i ? "next of them" : "first")};
			return false;
		}
		take_outlet(p, outlet, out);
	}
	return true;
}

static bool find_units(struct places *p, struct place *out, struct place_fault *fault)
{
	const double needed = space_halves(p->type) / 2.0;
	struct space space;
	unsigned best;
	char runs[256];

	space_make(&p->a->graph, p->rack, true, &space);
	out->unit = space_find(&space, p->type, FACE_FRONT, &best);
	if (out->unit || needed <= 0)
		return true;
	space_runs(&space, runs, sizeof runs);
	*fault = (struct place_fault){RULE_CONTIGUOUS_U, needed, best,
		arena_printf(p->m->arena,
			"%g U in one run are needed; the longest free run is %u U%s%s", needed,
			best, runs[0] ? "; free: " : "", runs)};
	return false;
}

bool place_device(struct model *m, const struct audit *a, size_t rack, size_t type,
	struct place *out, struct place_fault *fault)
{
	struct places p = {.m = m, .a = a, .rack = rack, .type = &m->types.at[type]};
	const struct graph *g = &a->graph;
	const double max = p.type->watts[BASIS_MAX];

	*out = (struct place){.device = m->devices.n};
	p.used = arena_alloc(m->arena, m->outlets.n + 1);
	p.extra = arena_alloc(m->arena, (g->base[LEVEL_N] + 1) * sizeof *p.extra);
	p.watts = isnan(max) ? 0 : max / (p.type->psus ? p.type->psus : 1);
	for (size_t o = 0; o < m->outlets.n; o++)
		p.used[o] = g->outlet_cord[o] != GRAPH_NONE;
	vec_each(&m->pdus, const struct pdu, pdu)
		if (pdu->upstream.kind == SUPPLY_OUTLET)
			p.used[pdu->upstream.row] = true;
	list_feeds(&p);
	if (!find_units(&p, out, fault) || !find_outlets(&p, out, fault))
		return false;
	*vec_push(&m->devices) = (struct device){.name = part_name(m, p.type->name, m->devices.n),
		.type = type,
		.rack = rack,
		.position = out->unit,
		.watts_measured = MODEL_UNSET,
		.watts_cap = MODEL_UNSET};
	for (unsigned i = 0; i < out->n; i++) {
		*vec_push(&m->ports) = (struct port){.name = part_name(m, "psu", i + 1),
			.device = out->device,
			.kind = PORT_POWER};
		*vec_push(&m->cords) = (struct cord){m->ports.n - 1, out->outlets[i], 0};
	}
	return true;
}
