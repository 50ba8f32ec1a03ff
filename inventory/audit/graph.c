/* graph - parents first, then lists of what is below by counting. */
#include "inventory/audit/graph.h"

#include "agent/base/err.h"
#include "inventory/audit/formula.h"

#include <math.h>

struct builder {
	struct arena *arena;
	struct graph *g;
	const struct policy *p;
};

static uint32_t *numbers(struct arena *a, size_t n)
{
	return arena_alloc(a, (n + 1) * sizeof(uint32_t));
}

static void make_elements(struct builder *b)
{
	const struct model *m = b->g->m;
	const size_t n[LEVEL_N] = {
		m->outlets.n, m->banks.n, m->pdus.n, m->feeds.n, m->panels.n, m->upses.n};
	uint32_t at = 0;

	for (unsigned level = 0; level < LEVEL_N; level++) {
		b->g->base[level] = at;
		at += (uint32_t)n[level];
	}
	b->g->base[LEVEL_N] = at;
	b->g->at = arena_alloc(b->arena, (at + 1) * sizeof *b->g->at);
	for (unsigned level = 0; level < LEVEL_N; level++)
		for (uint32_t i = 0; i < n[level]; i++)
			b->g->at[b->g->base[level] + i] = (struct element){.level = level,
				.row = i,
				.parent = GRAPH_NONE,
				.phases = 3,
				.gain = 1,
				.volts = NAN};
}

static uint32_t supply_element(const struct graph *g, struct supply s)
{
	switch (s.kind) {
	case SUPPLY_PANEL:
		return graph_element(g, LEVEL_PANEL, s.row);
	case SUPPLY_UPS:
		return graph_element(g, LEVEL_UPS, s.row);
	case SUPPLY_FEED:
		return graph_element(g, LEVEL_FEED, s.row);
	case SUPPLY_OUTLET:
		return graph_element(g, LEVEL_OUTLET, s.row);
	default:
		return GRAPH_NONE;
	}
}

const struct device_type *graph_type(const struct model *m, size_t device)
{
	static const struct device_type unknown = {
		.name = "?", .watts = {MODEL_UNSET, MODEL_UNSET, MODEL_UNSET, MODEL_UNSET}};
	const size_t type = m->devices.at[device].type;

	return type == MODEL_NONE ? &unknown : &m->types.at[type];
}

double graph_ups_efficiency(const struct ups *u)
{
	return model_stated(u->efficiency) ? u->efficiency : GRAPH_UPS_EFFICIENCY;
}

static void join_upstream(struct builder *b)
{
	struct graph *g = b->g;
	const struct model *m = g->m;

	for (size_t i = 0; i < m->upses.n; i++) {
		struct element *e = &g->at[graph_element(g, LEVEL_UPS, i)];

		e->parent = supply_element(g, m->upses.at[i].upstream);
		e->gain = 1 / graph_ups_efficiency(&m->upses.at[i]);
	}
	for (size_t i = 0; i < m->panels.n; i++) {
		struct element *e = &g->at[graph_element(g, LEVEL_PANEL, i)];

		e->parent = supply_element(g, m->panels.at[i].upstream);
		e->phases = m->panels.at[i].phases == 1 ? 1 : 3;
		e->volts = formula_volts_ll(m->panels.at[i].volts, e->phases, VOLTS_LL);
	}
}

static void join_feeds(struct builder *b)
{
	struct graph *g = b->g;

	for (size_t i = 0; i < g->m->feeds.n; i++) {
		const struct feed *f = &g->m->feeds.at[i];
		struct element *e = &g->at[graph_element(g, LEVEL_FEED, i)];

		e->phases = f->phases == 3 ? 3 : 1;
		e->volts = formula_volts_ll(f->volts, e->phases, f->volts_are);
		e->parent = supply_element(g, f->upstream);
		if (e->parent == GRAPH_NONE && f->panel != MODEL_NONE)
			e->parent = graph_element(g, LEVEL_PANEL, f->panel);
		if (e->phases == 1)
			e->up = f->phase == PHASE_UNSTATED ? PHASE_ALL : (uint8_t)f->phase;
	}
}

static void join_pdus(struct builder *b)
{
	struct graph *g = b->g;
	const struct model *m = g->m;

	for (size_t i = 0; i < m->pdus.n; i++) {
		struct element *e = &g->at[graph_element(g, LEVEL_PDU, i)];

		e->parent = supply_element(g, m->pdus.at[i].upstream);
		if (e->parent == GRAPH_NONE && m->pdus.at[i].feed != MODEL_NONE)
			e->parent = graph_element(g, LEVEL_FEED, m->pdus.at[i].feed);
	}
	for (size_t i = 0; i < m->banks.n; i++)
		g->at[graph_element(g, LEVEL_BANK, i)].parent =
			graph_element(g, LEVEL_PDU, m->banks.at[i].pdu);
}

/* Rows of one list by their owner, as first[owner] .. first[owner + 1] in *rows. */
struct grouping {
	uint32_t *first, *rows;
};

static void group_open(struct arena *a, struct grouping *by, size_t owners, size_t rows)
{
	by->first = numbers(a, owners + 2);
	by->rows = numbers(a, rows);
}

/* Call count for each row, then close, then put for each row; first[o] is its place at the end. */
static void group_close(struct grouping *by, size_t owners)
{
	for (size_t i = 0; i < owners; i++)
		by->first[i + 2] += by->first[i + 1];
}

static void group_put(struct grouping *by, size_t owner, uint32_t row)
{
	by->rows[by->first[owner + 1]++] = row;
}

/* The one phase of a bank's outlets, PHASE_ALL when there are several. */
static void note_phase(struct element *bank, uint8_t phase)
{
	if (phase != PHASE_UNSTATED)
		bank->up = bank->up == PHASE_UNSTATED || bank->up == phase ? phase : PHASE_ALL;
}

static void join_outlets(struct builder *b)
{
	struct graph *g = b->g;
	const struct model *m = g->m;
	struct grouping banks;

	group_open(b->arena, &banks, m->pdus.n, m->banks.n);
	for (size_t i = 0; i < m->banks.n; i++)
		banks.first[m->banks.at[i].pdu + 2]++;
	group_close(&banks, m->pdus.n);
	for (size_t i = 0; i < m->banks.n; i++)
		group_put(&banks, m->banks.at[i].pdu, (uint32_t)i);
	for (size_t i = 0; i < m->outlets.n; i++) {
		const struct outlet *o = &m->outlets.at[i];
		struct element *e = &g->at[graph_element(g, LEVEL_OUTLET, i)];

		e->parent = graph_element(g, LEVEL_PDU, o->pdu);
		e->phases = 1;
		e->up = (uint8_t)o->phase;
		for (uint32_t k = banks.first[o->pdu]; o->bank && k < banks.first[o->pdu + 1];
			k++) {
			const struct bank *bank = &m->banks.at[banks.rows[k]];

			if (bank->number != o->bank)
				continue;
			e->parent = graph_element(g, LEVEL_BANK, banks.rows[k]);
			if (e->up == PHASE_UNSTATED)
				e->up = (uint8_t)bank->phase;
			note_phase(&g->at[e->parent], e->up);
		}
	}
}

double graph_load_volts(const struct element *e, enum phase phase, bool ul)
{
	if (e->phases == 1)
		return e->volts;
	if (phase >= PHASE_L1L2)
		return e->volts;
	if (phase == PHASE_UNSTATED && (ul || e->volts < 250))
		return e->volts;
	return e->volts / FORMULA_SQRT3;
}

static void inherit_outlet(const struct builder *b, struct element *e)
{
	const struct element *up = &b->g->at[e->parent];
	const struct element *pdu = up->level == LEVEL_BANK ? &b->g->at[up->parent] : up;
	const enum phase phase = pdu->phases == 1 ? PHASE_L1 : (enum phase)e->up;

	e->volts = graph_load_volts(pdu, phase, b->p->ul);
	e->phases = 1;
	if (pdu->phases == 1) {
		e->up = PHASE_L1;
	} else if (phase == PHASE_ALL) { /* what hangs on it keeps its phases */
		e->phases = 3;
		e->up = PHASE_UNSTATED;
	} else if (phase == PHASE_UNSTATED) { /* as if spread evenly */
		e->up = PHASE_ALL;
	}
}

/* A bank's breaker has one pole unless its outlets are on several phases. */
static void inherit_bank(const struct builder *b, struct element *e)
{
	const struct element *pdu = &b->g->at[e->parent];
	enum phase phase = (enum phase)b->g->m->banks.at[e->row].phase;

	if (phase == PHASE_UNSTATED)
		phase = (enum phase)e->up;
	e->up = PHASE_UNSTATED;
	e->phases = pdu->phases == 3 && phase == PHASE_ALL ? 3 : 1;
	e->volts = e->phases == 3 ? pdu->volts : graph_load_volts(pdu, phase, b->p->ul);
}

/* What a PDU, bank or outlet has from what it hangs on, which is settled. */
static void inherit(const struct builder *b, uint32_t i)
{
	struct element *e = &b->g->at[i];

	if (e->parent == GRAPH_NONE)
		return;
	if (e->level == LEVEL_OUTLET)
		inherit_outlet(b, e);
	else if (e->level == LEVEL_BANK)
		inherit_bank(b, e);
	else if (e->level == LEVEL_PDU) {
		e->phases = b->g->at[e->parent].phases;
		e->volts = b->g->at[e->parent].volts;
	}
}

/* Goes up until what is known, then inherits downwards. False in a loop. */
static bool settle(const struct builder *b, uint32_t i, bool *settled)
{
	uint32_t chain[GRAPH_DEPTH_MAX];
	unsigned n = 0;

	for (uint32_t at = i; at != GRAPH_NONE && !settled[at]; at = b->g->at[at].parent) {
		if (n == GRAPH_DEPTH_MAX)
			return false;
		chain[n++] = at;
	}
	while (n > 0) {
		inherit(b, chain[--n]);
		settled[chain[n]] = true;
	}
	return true;
}

static const char *element_name(const struct graph *g, uint32_t i)
{
	const struct element *e = &g->at[i];

	switch (e->level) {
	case LEVEL_OUTLET:
		return g->m->outlets.at[e->row].name;
	case LEVEL_BANK:
		return g->m->banks.at[e->row].name;
	case LEVEL_PDU:
		return g->m->pdus.at[e->row].name;
	case LEVEL_FEED:
		return g->m->feeds.at[e->row].name;
	case LEVEL_PANEL:
		return g->m->panels.at[e->row].name;
	default:
		return g->m->upses.at[e->row].name;
	}
}

static int settle_all(struct builder *b, struct err *err)
{
	struct graph *g = b->g;
	bool *settled = arena_alloc(b->arena, g->base[LEVEL_N] + 1);

	for (uint32_t i = g->base[LEVEL_N]; i-- > 0;)
		if (!settle(b, i, settled))
			return err_set(err, E_CONFLICT,
				"'%s' is fed by itself, or through more than %d others",
				element_name(g, i), GRAPH_DEPTH_MAX);
	return 0;
}

/* A panel or UPS without volts of its own has those of its feeds. */
static void guess_volts(struct graph *g)
{
	for (uint32_t i = g->base[LEVEL_FEED]; i < g->base[LEVEL_N]; i++) {
		const struct element *e = &g->at[i];
		struct element *up = e->parent == GRAPH_NONE ? NULL : &g->at[e->parent];

		if (!up || up->level < LEVEL_PANEL || !isnan(up->volts) || isnan(e->volts))
			continue;
		up->volts = e->phases == up->phases || e->up >= PHASE_L1L2 || e->volts > 250
				    ? e->volts
				    : e->volts * FORMULA_SQRT3;
	}
}

static void list_devices(struct builder *b)
{
	struct graph *g = b->g;
	const struct model *m = g->m;
	struct grouping cords, racks;

	group_open(b->arena, &cords, m->devices.n, m->cords.n);
	group_open(b->arena, &racks, m->racks.n, m->devices.n);
	g->cord_device = numbers(b->arena, m->cords.n);
	for (size_t i = 0; i < m->cords.n; i++) {
		g->cord_device[i] = (uint32_t)m->ports.at[m->cords.at[i].port].device;
		cords.first[g->cord_device[i] + 2]++;
	}
	for (size_t i = 0; i < m->devices.n; i++)
		if (m->devices.at[i].rack != MODEL_NONE)
			racks.first[m->devices.at[i].rack + 2]++;
	group_close(&cords, m->devices.n);
	group_close(&racks, m->racks.n);
	for (size_t i = 0; i < m->cords.n; i++)
		group_put(&cords, g->cord_device[i], (uint32_t)i);
	for (size_t i = 0; i < m->devices.n; i++)
		if (m->devices.at[i].rack != MODEL_NONE)
			group_put(&racks, m->devices.at[i].rack, (uint32_t)i);
	g->device_first = cords.first;
	g->device_cords = cords.rows;
	g->rack_first = racks.first;
	g->rack_devices = racks.rows;
}

static void list_cords(struct builder *b)
{
	struct graph *g = b->g;
	const struct model *m = g->m;
	uint32_t total = 0;

	g->cord_phase = arena_alloc(b->arena, m->cords.n + 1);
	g->outlet_cord = numbers(b->arena, m->outlets.n);
	for (size_t i = 0; i < m->outlets.n; i++)
		g->outlet_cord[i] = GRAPH_NONE;
	for (uint32_t i = 0; i < m->cords.n; i++) {
		g->outlet_cord[m->cords.at[i].outlet] = i;
		for (uint32_t e = graph_outlet(g, i); e != GRAPH_NONE; e = g->at[e].parent)
			g->at[e].n++;
	}
	for (uint32_t e = 0; e < g->base[LEVEL_N]; e++) {
		g->at[e].first = total;
		total += g->at[e].n;
		g->at[e].n = 0;
	}
	g->below = numbers(b->arena, total);
	for (uint32_t i = 0; i < m->cords.n; i++) {
		g->cord_phase[i] = g->at[graph_outlet(g, i)].phases == 3 ? PHASE_ALL : PHASE_L1;
		for (uint32_t e = graph_outlet(g, i); e != GRAPH_NONE; e = g->at[e].parent)
			g->below[g->at[e].first + g->at[e].n++] = i;
	}
}

/* Which three-phase elements have all their loads on stated phases. */
static void mark_phases(struct graph *g)
{
	for (uint32_t e = 0; e < g->base[LEVEL_N]; e++)
		g->at[e].by_phase = g->at[e].phases == 3;
	for (uint32_t i = 0; i < g->m->cords.n; i++) {
		bool known = true;

		for (uint32_t e = graph_outlet(g, i); e != GRAPH_NONE; e = g->at[e].parent) {
			if (g->at[e].level > LEVEL_BANK)
				g->at[e].by_phase = g->at[e].by_phase && known;
			if (g->at[e].level == LEVEL_OUTLET && g->at[e].up == PHASE_ALL)
				known = false;
			if (g->at[e].level == LEVEL_FEED && g->at[e].up)
				known = g->m->feeds.at[g->at[e].row].phase != PHASE_UNSTATED;
		}
	}
}

int graph_make(struct arena *a, const struct model *m, const struct policy *p, struct graph *out,
	struct err *err)
{
	struct builder b = {.arena = a, .g = out, .p = p};

	*out = (struct graph){.m = m};
	make_elements(&b);
	join_upstream(&b);
	join_feeds(&b);
	join_pdus(&b);
	join_outlets(&b);
	if (settle_all(&b, err) < 0)
		return -E_CONFLICT;
	guess_volts(out);
	list_devices(&b);
	list_cords(&b);
	mark_phases(out);
	return 0;
}

uint32_t graph_feed(const struct graph *g, uint32_t cord)
{
	uint32_t e = graph_outlet(g, cord);

	while (e != GRAPH_NONE && g->at[e].level != LEVEL_FEED)
		e = g->at[e].parent;
	return e;
}
