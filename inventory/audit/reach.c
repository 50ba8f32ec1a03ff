/* reach - sums over the cords of each device; currents grow with every load added. */
#include "inventory/audit/reach.h"

#include "agent/base/err.h"
#include "inventory/audit/demand.h"
#include "inventory/audit/formula.h"
#include "inventory/audit/limit.h"

#include <math.h>
#include <string.h>

struct reacher {
	const struct graph *g;
	struct reach *at; /* from the first panel on */
	uint32_t first;
	double (*now)[PHASE_N]; /* of one device */
	uint32_t *touched, n_touched;
	bool *is_touched;
};

/* The most it may draw: fewer PSUs can be less efficient. */
static double worst_watts(const struct device_type *t, const struct demand *d, double watts)
{
	double worst = watts;

	for (unsigned alive = 1; alive <= d->cords; alive++)
		worst = fmax(worst, demand_after(t, d, watts, alive));
	return worst;
}

/* Its watts on all that is above a cord, from the panel on. */
static void walk(struct reacher *k, uint32_t cord, double watts)
{
	const struct graph *g = k->g;
	uint8_t phase = g->cord_phase[cord];

	for (uint32_t e = graph_outlet(g, cord); e != GRAPH_NONE; e = g->at[e].parent) {
		if (e >= k->first) {
			double *now = &k->now[e - k->first][phase];

			*now = fmax(*now, watts);
			if (!k->is_touched[e - k->first])
				k->touched[k->n_touched++] = e - k->first;
			k->is_touched[e - k->first] = true;
		}
		watts *= g->at[e].gain;
		if (g->at[e].up != PHASE_UNSTATED)
			phase = g->at[e].up;
	}
}

static void add_device(
	struct reacher *k, uint32_t device, const struct demand *d, enum power_basis basis)
{
	const struct graph *g = k->g;
	const double watts = worst_watts(graph_type(g->m, device), d, d->watts[PASS_PLAIN]);

	k->n_touched = 0;
	for (uint32_t i = g->device_first[device]; i < g->device_first[device + 1]; i++)
		walk(k, g->device_cords[i], watts);
	for (uint32_t i = 0; i < k->n_touched; i++) {
		const uint32_t e = k->touched[i];
		double most = 0;

		for (unsigned phase = 0; phase < PHASE_N; phase++) {
			k->at[e].watts[basis][phase] += k->now[e][phase];
			most = fmax(most, k->now[e][phase]);
		}
		k->at[e].total[basis] += most;
		k->is_touched[e] = false;
		memset(k->now[e], 0, sizeof k->now[e]);
	}
}

static void add_basis(struct arena *a, struct reacher *k, enum power_basis basis)
{
	bool capped;
	const struct demand *d = demand_make(a, k->g, basis, &capped);

	for (uint32_t i = 0; i < k->g->m->devices.n; i++)
		add_device(k, i, &d[i], basis);
}

static struct reacher begin(struct arena *a, const struct graph *g, size_t *n)
{
	const uint32_t first = g->base[LEVEL_PANEL];
	struct reacher k = {.g = g, .first = first};

	*n = g->base[LEVEL_N] - first;
	k.at = arena_alloc(a, (*n + 1) * sizeof *k.at);
	k.now = arena_alloc(a, (*n + 1) * sizeof *k.now);
	k.touched = arena_alloc(a, (*n + 1) * sizeof *k.touched);
	k.is_touched = arena_alloc(a, *n + 1);
	for (size_t i = 0; i < *n; i++) {
		const struct element *e = &g->at[first + i];

		k.at[i].noun = e->level == LEVEL_UPS ? NOUN_UPS : NOUN_PANEL;
		k.at[i].row = e->row;
		k.at[i].volts = e->volts;
		k.at[i].phases = e->phases;
	}
	return k;
}

struct reach *reach_on(struct arena *a, const struct graph *g, enum power_basis basis, size_t *n)
{
	struct reacher k = begin(a, g, n);

	if (*n)
		add_basis(a, &k, basis);
	return k.at;
}

int reach_make(
	struct arena *a, const struct model *m, struct reach **out, size_t *n, struct err *err)
{
	struct policy policy;
	struct graph g;
	struct reacher k;
	int rc = policy_make(m, NULL, &policy, err);

	if (rc == 0)
		rc = graph_make(a, m, &policy, &g, err);
	if (rc < 0)
		return rc;
	k = begin(a, &g, n);
	for (unsigned basis = 0; *n && basis < BASIS_N; basis++)
		add_basis(a, &k, (enum power_basis)basis);
	*out = k.at;
	return 0;
}

/* Its rating, or with limit what the policy makes of it; NaN: none. */
static double rating_of(
	const struct model *m, const struct policy *p, const struct reach *r, bool limit)
{
	struct element e = {
		.level = r->noun == NOUN_UPS ? LEVEL_UPS : LEVEL_PANEL, .row = (uint32_t)r->row};
	const struct graph g = {.m = m, .at = &e};

	if (!limit)
		return limit_rating(&g, p, 0);
	if (e.level == LEVEL_UPS)
		return limit_rating(&g, p, 0) * fmin(1, p->ups_share);
	return fmin(limit_get(&g, p, 0, false), limit_get(&g, p, 0, true));
}

static double worst_amps(const struct policy *p, const struct reach *r, enum power_basis basis)
{
	double lines[3];

	if (r->phases == 1)
		return formula_amps(r->total[basis], r->volts, 1, p->power_factor);
	formula_lines(r->watts[basis], r->volts, p->power_factor, lines);
	return fmax(lines[0], fmax(lines[1], lines[2]));
}

static bool exceeds(
	const struct policy *p, const struct reach *r, enum power_basis basis, double limit)
{
	if (isnan(limit))
		return false;
	if (r->noun == NOUN_UPS)
		return !(r->total[basis] <= limit);
	return !isnan(r->volts) && !(worst_amps(p, r, basis) <= limit);
}

bool reach_trips(const struct model *m, const struct policy *p, const struct reach *r,
	enum power_basis basis)
{
	return exceeds(p, r, basis, rating_of(m, p, r, false));
}

bool reach_fits(const struct model *m, const struct policy *p, const struct reach *r,
	enum power_basis basis)
{
	return !exceeds(p, r, basis, rating_of(m, p, r, true));
}

/* --- what matters for a rack --- */

struct nearer {
	const struct graph *g;
	struct model_parts parts;
	bool *part;  /* is in */
	bool *trips; /* from the first panel on: it may */
	uint32_t first;
};

/* Whether something above the feed that may trip is hot; heat: make it so. */
static bool is_joined(const struct nearer *k, size_t feed, bool *hot, bool heat)
{
	const struct graph *g = k->g;
	bool joined = false;

	for (uint32_t e = graph_element(g, LEVEL_FEED, feed); e != GRAPH_NONE;
		e = g->at[e].parent) {
		if (e < k->first || !k->trips[e - k->first])
			continue;
		if (heat)
			hot[e - k->first] = true;
		joined = joined || hot[e - k->first];
	}
	return joined;
}

/* Parts below something that may trip belong together. */
static void spread(struct arena *a, struct nearer *k)
{
	bool *hot = arena_alloc(a, k->g->base[LEVEL_N] - k->first + 1);
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < k->g->m->feeds.n; i++)
			if (k->part[k->parts.feeds[i]])
				is_joined(k, i, hot, true);
		for (size_t i = 0; i < k->g->m->feeds.n; i++) {
			bool *in = &k->part[k->parts.feeds[i]];

			if (!*in && is_joined(k, i, hot, false))
				*in = more = true;
		}
	}
}

static size_t pdu_of(const struct graph *g, uint32_t e)
{
	const struct element *el = &g->at[e];

	if (el->level == LEVEL_OUTLET)
		return g->m->outlets.at[el->row].pdu;
	return el->level == LEVEL_BANK ? g->m->banks.at[el->row].pdu : el->row;
}

static bool *mark(struct arena *a, const struct nearer *k)
{
	const struct graph *g = k->g;
	bool *in = arena_alloc(a, g->base[LEVEL_N] + 1);

	for (uint32_t e = 0; e < g->base[LEVEL_FEED]; e++)
		in[e] = k->part[k->parts.pdus[pdu_of(g, e)]];
	for (uint32_t e = g->base[LEVEL_FEED]; e < g->base[LEVEL_PANEL]; e++)
		if (k->part[k->parts.feeds[g->at[e].row]])
			for (uint32_t up = e; up != GRAPH_NONE && !in[up]; up = g->at[up].parent)
				in[up] = true;
	return in;
}

bool *reach_elements(struct arena *a, const struct graph *g, const struct policy *p,
	enum power_basis basis, const size_t *racks, size_t n)
{
	struct nearer k = {.g = g, .first = g->base[LEVEL_PANEL]};
	size_t n_reach;
	const struct reach *reach = reach_on(a, g, basis, &n_reach);

	model_parts(a, g->m, &k.parts);
	k.part = arena_alloc(a, k.parts.n + 1);
	k.trips = arena_alloc(a, n_reach + 1);
	for (size_t i = 0; i < n_reach; i++)
		k.trips[i] = reach_trips(g->m, p, &reach[i], basis);
	for (size_t i = 0; i < n; i++)
		k.part[k.parts.racks[racks[i]]] = true;
	spread(a, &k);
	return mark(a, &k);
}
