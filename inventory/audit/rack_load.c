/* rack_load - the audit's own currents, with the losses of feeds alone, in a line per rack. */
#include "inventory/audit/formula.h"
#include "inventory/audit/limit.h"
#include "inventory/audit/mass.h"
#include "inventory/audit/power.h"
#include "inventory/audit/scenario.h"
#include "inventory/audit/space.h"

#include <math.h>

struct loader {
	const struct model *m;
	struct graph g;
	struct policy p;
	const struct demand *d;
	const struct sim_result *r;
	uint32_t *seen; /* by element: the rack it was counted for, plus one */
	struct rows {
		uint32_t *first, *at;
	} feeds, pdus; /* that stand in a rack: at[first[rack]] .. */
};

static enum rack_verdict judge(double share)
{
	if (isnan(share))
		return VERDICT_UNKNOWN;
	if (share > 1 + 1e-9)
		return VERDICT_OVER;
	return share > POWER_HIGH ? VERDICT_HIGH : VERDICT_OK;
}

static const struct element_load *worst_of(const struct loader *k, uint32_t e)
{
	const struct element_load *worst = &k->r->by_line[e];

	return worst->amps > k->r->normal[e].amps * (1 + 1e-9) ? worst : &k->r->normal[e];
}

/* A feed, PDU or bank that carries something of the rack, or stands in it. */
static void add_element(const struct loader *k, struct rack_load *l, uint32_t e)
{
	const struct element *el = &k->g.at[e];
	const double limit = limit_get(&k->g, &k->p, e, true);
	const double share = isnan(el->volts) ? NAN : worst_of(k, e)->amps / limit;
	const enum rack_verdict verdict = judge(share);

	if (k->seen[e] == l->rack + 1)
		return;
	k->seen[e] = (uint32_t)l->rack + 1;
	if (el->level == LEVEL_FEED) {
		const struct feed *f = &k->m->feeds.at[el->row];
		const uint32_t loss = worst_of(k, e)->loss;

		*vec_push(&l->feeds) = (struct feed_load){.feed = el->row,
			.limit_va = isnan(el->volts) ? MODEL_UNSET : power_circuit_va(f, limit),
			.load_va = power_circuit_va(f, k->r->normal[e].amps),
			.worst_va = power_circuit_va(f, worst_of(k, e)->amps),
			.worst_loss = loss ? loss - 1 : MODEL_NONE,
			.verdict = verdict};
	}
	if (share > l->worst_share) {
		l->worst_share = share;
		l->worst_pdu = el->level == LEVEL_PDU    ? el->row
			       : el->level == LEVEL_BANK ? k->m->banks.at[el->row].pdu
							 : MODEL_NONE;
	}
	if (verdict > l->verdict)
		l->verdict = verdict;
}

static void add_above(const struct loader *k, struct rack_load *l, uint32_t e)
{
	for (; e != GRAPH_NONE && k->g.at[e].level <= LEVEL_FEED; e = k->g.at[e].parent)
		if (k->g.at[e].level != LEVEL_OUTLET)
			add_element(k, l, e);
}

static void add_fate(const struct loader *k, struct rack_load *l, uint32_t device)
{
	l->down += k->r->below[device].state == PSU_DOWN;
	l->degraded += k->r->below[device].state == PSU_DEGRADED;
}

static void add_device(const struct loader *k, struct rack_load *l, uint32_t device)
{
	bool fed = false;

	l->devices++;
	l->watts_unknown += !k->d[device].known;
	for (unsigned b = 0; b < BASIS_N; b++) {
		const double w = power_of(k->m, device, (enum power_basis)b).watts;

		l->watts[b] += isnan(w) ? 0 : w;
	}
	for (uint32_t i = k->g.device_first[device]; i < k->g.device_first[device + 1]; i++) {
		const uint32_t cord = k->g.device_cords[i];

		add_above(k, l, graph_outlet(&k->g, cord));
		fed = fed || graph_feed(&k->g, cord) != GRAPH_NONE;
	}
	l->no_cord += k->d[device].watts[PASS_PLAIN] > 0 && !fed;
	add_fate(k, l, device);
}

static int compare_feeds(const void *a, const void *b)
{
	const struct feed_load *x = a, *y = b;

	return x->feed < y->feed ? -1 : x->feed > y->feed;
}

/* Feeds and PDUs of the rack, also those that nothing hangs on. */
static void add_standing(const struct loader *k, struct rack_load *l)
{
	for (uint32_t i = k->feeds.first[l->rack]; i < k->feeds.first[l->rack + 1]; i++)
		add_above(k, l, graph_element(&k->g, LEVEL_FEED, k->feeds.at[i]));
	for (uint32_t i = k->pdus.first[l->rack]; i < k->pdus.first[l->rack + 1]; i++)
		add_above(k, l, graph_element(&k->g, LEVEL_PDU, k->pdus.at[i]));
}

static void load_rack(const struct loader *k, size_t rack, struct rack_load *l)
{
	const double rating = k->m->racks.at[rack].max_weight_kg;
	const struct mass mass = mass_of_rack(&k->g, rack);
	struct space space;

	*l = (struct rack_load){.rack = rack, .worst_pdu = MODEL_NONE};
	space_make(&k->g, rack, true, &space);
	space_count(&space, &l->units_used, &l->units_free, &l->units_gap);
	l->kg = mass.devices + mass.rest;
	l->kg_unknown = mass.unknown;
	l->too_heavy = model_stated(rating) && l->kg > rating;
	add_standing(k, l);
	for (uint32_t i = k->g.rack_first[rack]; i < k->g.rack_first[rack + 1]; i++)
		add_device(k, l, k->g.rack_devices[i]);
	vec_sort(&l->feeds, compare_feeds);
	/* what is not known may be too much */
	if (l->verdict == VERDICT_OK && (l->watts_unknown || l->no_cord))
		l->verdict = VERDICT_UNKNOWN;
}

/* racks: the rack of each row, MODEL_NONE: in none. */
static struct rows group(struct arena *a, size_t n_racks, const size_t *racks, size_t n)
{
	struct rows r = {arena_alloc(a, (n_racks + 3) * sizeof(uint32_t)),
		arena_alloc(a, (n + 1) * sizeof(uint32_t))};

	for (size_t i = 0; i < n; i++)
		if (racks[i] != MODEL_NONE)
			r.first[racks[i] + 2]++;
	for (size_t i = 2; i < n_racks + 2; i++)
		r.first[i] += r.first[i - 1];
	for (size_t i = 0; i < n; i++)
		if (racks[i] != MODEL_NONE)
			r.at[r.first[racks[i] + 1]++] = (uint32_t)i;
	return r;
}

static void group_standing(struct arena *a, struct loader *k)
{
	const struct model *m = k->m;
	size_t *racks = arena_alloc(a, (m->feeds.n + m->pdus.n + 1) * sizeof *racks);

	for (size_t i = 0; i < m->feeds.n; i++)
		racks[i] = m->feeds.at[i].rack;
	k->feeds = group(a, m->racks.n, racks, m->feeds.n);
	for (size_t i = 0; i < m->pdus.n; i++)
		racks[i] = m->pdus.at[i].rack;
	k->pdus = group(a, m->racks.n, racks, m->pdus.n);
}

/* The site's policy, or strict80 when its terms cannot stand. */
static void choose_policy(const struct model *m, struct policy *out)
{
	if (policy_make(m, NULL, out, NULL) < 0 && policy_make(m, "strict80", out, NULL) < 0)
		*out = (struct policy){.name = "strict80",
			.k_cont = POWER_UTILIZATION,
			.failover_k = POWER_UTILIZATION,
			.power_factor = POWER_FACTOR};
}

void rack_loads_make(const struct model *m, enum power_basis basis, struct rack_loads *out)
{
	struct arena *a = arena_new();
	struct loader k = {.m = m};
	struct sim *sim = NULL;
	bool capped;

	choose_policy(m, &k.p);
	if (graph_make(a, m, &k.p, &k.g, NULL) == 0) {
		k.d = demand_make(a, &k.g, basis, &capped);
		k.seen = arena_alloc(a, (k.g.base[LEVEL_N] + 1) * sizeof *k.seen);
		group_standing(a, &k);
		sim = sim_new(a, &k.g, &k.p, k.d, basis == BASIS_CAPPED ? PASS_CAPPED : PASS_PLAIN);
		for (size_t i = 0; i < m->feeds.n; i++) {
			const struct audit_subject feed = {NOUN_FEED, i};

			sim_play(sim, &feed, 1, (uint32_t)i + 1);
		}
		k.r = sim_results(sim);
	}
	for (size_t i = 0; i < m->racks.n; i++) {
		struct rack_load *l = vec_push(out);

		if (sim)
			load_rack(&k, i, l);
		else
			*l = (struct rack_load){.rack = i, .worst_pdu = MODEL_NONE};
	}
	sim_free(sim);
	arena_free(a);
}

void rack_loads_done(struct rack_loads *l)
{
	vec_each(l, struct rack_load, r)
		vec_done(&r->feeds);
	vec_done(l);
}
