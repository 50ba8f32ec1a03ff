/*
 * rack_load - per rack: units, mass, and its feeds with all alive and each one lost.
 *
 * Who draws from what is found once for the site; a loss touches only the devices that have a
 * cord on the lost feed.
 */
#include "inventory/audit/power.h"

#include <stdlib.h>

#define NESTED_MAX 8 /* PDUs behind PDUs; a loop ends here */

/* Rows of one table grouped by rows of another: those of i are row[first[i]] .. */
struct groups {
	size_t *first, *row;
};

struct site_load {
	const struct model *m;
	struct arena *arena;
	double factor;              /* VA per watt */
	double *watts;              /* of a device, 0 when unknown */
	size_t *pdu_feed;           /* through nested PDUs, MODEL_NONE when none */
	struct groups cords;        /* of a device */
	struct groups on_feed;      /* cords by feed; row is the cord's device */
	struct groups in_rack;      /* devices of a rack */
	double *feed_va, *pdu_va;   /* with all feeds alive */
	double *feed_now, *pdu_now; /* scratch of one loss */
	bool *feed_seen, *device_seen;
};

/* --- the site --- */

static struct groups group(struct arena *a, size_t n, const size_t *owner, size_t rows)
{
	struct groups g = {arena_alloc(a, (n + 2) * sizeof(size_t)),
		arena_alloc(a, (rows + 1) * sizeof(size_t))};

	for (size_t i = 0; i < rows; i++)
		if (owner[i] != MODEL_NONE)
			g.first[owner[i] + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		g.first[i] += g.first[i - 1];
	/* first[owner + 1] runs from the begin of a group to its end while it is filled */
	for (size_t i = 0; i < rows; i++)
		if (owner[i] != MODEL_NONE)
			g.row[g.first[owner[i] + 1]++] = i;
	return g;
}

/* The PDU that feeds this one through an outlet, MODEL_NONE when a feed does. */
static size_t upstream_pdu(const struct model *m, size_t pdu)
{
	const struct supply *up = &m->pdus.at[pdu].upstream;

	return up->kind == SUPPLY_OUTLET ? m->outlets.at[up->row].pdu : MODEL_NONE;
}

static size_t feed_of_pdu(const struct model *m, size_t pdu)
{
	for (int i = 0; i < NESTED_MAX; i++) {
		const size_t up = upstream_pdu(m, pdu);

		if (up == MODEL_NONE)
			return m->pdus.at[pdu].feed;
		pdu = up;
	}
	return MODEL_NONE;
}

static size_t pdu_of_cord(const struct model *m, size_t cord)
{
	return m->outlets.at[m->cords.at[cord].outlet].pdu;
}

static size_t device_of_cord(const struct model *m, size_t cord)
{
	return m->ports.at[m->cords.at[cord].port].device;
}

static size_t feed_of_cord(const struct site_load *g, size_t cord)
{
	return g->pdu_feed[pdu_of_cord(g->m, cord)];
}

/* Adds va to the cord's PDU, to those it hangs on, and to the feed. */
static void add_load(
	const struct site_load *g, size_t cord, double va, double *pdu_va, double *feed_va)
{
	size_t pdu = pdu_of_cord(g->m, cord);
	const size_t feed = g->pdu_feed[pdu];

	for (int i = 0; i < NESTED_MAX && pdu != MODEL_NONE; i++) {
		pdu_va[pdu] += va;
		pdu = upstream_pdu(g->m, pdu);
	}
	if (feed != MODEL_NONE)
		feed_va[feed] += va;
}

/* Cords of a device on living feeds; lost MODEL_NONE: all live. */
static unsigned living_cords(const struct site_load *g, size_t device, size_t lost)
{
	unsigned n = 0;

	for (size_t i = g->cords.first[device]; i < g->cords.first[device + 1]; i++)
		if (lost == MODEL_NONE || feed_of_cord(g, g->cords.row[i]) != lost)
			n++;
	return n;
}

static bool reaches_feed(const struct site_load *g, size_t device)
{
	for (size_t i = g->cords.first[device]; i < g->cords.first[device + 1]; i++)
		if (feed_of_cord(g, g->cords.row[i]) != MODEL_NONE)
			return true;
	return false;
}

/* Adds the device's load, sign +1 or -1, as it is shared with a feed lost. */
static void share_load(const struct site_load *g, size_t device, size_t lost, double sign,
	double *pdu_va, double *feed_va)
{
	const unsigned n = living_cords(g, device, lost);

	for (size_t i = g->cords.first[device]; i < g->cords.first[device + 1]; i++) {
		const size_t cord = g->cords.row[i];

		if (lost == MODEL_NONE || feed_of_cord(g, cord) != lost)
			add_load(g, cord, sign * g->watts[device] * g->factor / n, pdu_va, feed_va);
	}
}

static void group_cords(struct site_load *g)
{
	const struct model *m = g->m;
	size_t *owner = arena_alloc(g->arena, (m->cords.n + 1) * sizeof *owner);

	for (size_t i = 0; i < m->cords.n; i++)
		owner[i] = device_of_cord(m, i);
	g->cords = group(g->arena, m->devices.n, owner, m->cords.n);
	for (size_t i = 0; i < m->cords.n; i++)
		owner[i] = feed_of_cord(g, i);
	g->on_feed = group(g->arena, m->feeds.n, owner, m->cords.n);
}

static void group_devices(struct site_load *g)
{
	const struct model *m = g->m;
	size_t *owner = arena_alloc(g->arena, (m->devices.n + 1) * sizeof *owner);

	for (size_t i = 0; i < m->devices.n; i++)
		owner[i] = m->devices.at[i].rack;
	g->in_rack = group(g->arena, m->racks.n, owner, m->devices.n);
}

static void *zeroed(struct arena *a, size_t n, size_t size)
{
	return arena_alloc(a, (n + 1) * size);
}

static void make_site(struct site_load *g, const struct model *m, enum power_basis basis)
{
	struct arena *a = arena_new();

	*g = (struct site_load){.m = m, .arena = a};
	g->factor =
		1 / (model_stated(m->terms.power_factor) ? m->terms.power_factor : POWER_FACTOR);
	g->watts = zeroed(a, m->devices.n, sizeof *g->watts);
	g->pdu_feed = zeroed(a, m->pdus.n, sizeof *g->pdu_feed);
	g->feed_va = zeroed(a, m->feeds.n, sizeof *g->feed_va);
	g->feed_now = zeroed(a, m->feeds.n, sizeof *g->feed_now);
	g->pdu_va = zeroed(a, m->pdus.n, sizeof *g->pdu_va);
	g->pdu_now = zeroed(a, m->pdus.n, sizeof *g->pdu_now);
	g->feed_seen = zeroed(a, m->feeds.n, sizeof *g->feed_seen);
	g->device_seen = zeroed(a, m->devices.n, sizeof *g->device_seen);
	for (size_t i = 0; i < m->pdus.n; i++)
		g->pdu_feed[i] = feed_of_pdu(m, i);
	group_cords(g);
	group_devices(g);
	for (size_t i = 0; i < m->devices.n; i++) {
		const double w = power_of(m, i, basis).watts;

		g->watts[i] = isnan(w) ? 0 : w;
		share_load(g, i, MODEL_NONE, 1, g->pdu_va, g->feed_va);
	}
}

/* --- units and mass --- */

/* Marks the units from low (in half units from the floor) over n half units. */
static void take_units(bool *taken, unsigned height_u, unsigned low, unsigned n)
{
	for (unsigned u = low / 2; n && u <= (low + n - 1) / 2 && u < height_u; u++)
		taken[u] = true;
}

static void count_units(const struct site_load *g, struct rack_load *l)
{
	const struct model *m = g->m;
	const unsigned height = m->racks.at[l->rack].height_u;
	bool *taken = zeroed(g->arena, height, sizeof *taken);
	unsigned run = 0;

	for (size_t i = g->in_rack.first[l->rack]; i < g->in_rack.first[l->rack + 1]; i++) {
		const struct device *d = &m->devices.at[g->in_rack.row[i]];
		const struct device_type *t = d->type == MODEL_NONE ? NULL : &m->types.at[d->type];

		if (t && d->position)
			take_units(taken, height, (d->position - 1) * 2 + d->half_up,
				t->height_u * 2 + t->half_u);
	}
	vec_each(&m->reservations, const struct reservation, r)
		if (r->rack == l->rack && r->position)
			take_units(taken, height, (r->position - 1) * 2, r->height_u * 2);
	for (unsigned u = 0; u < height; u++) {
		run = taken[u] ? 0 : run + 1;
		l->units_used += taken[u];
		if (run > l->units_gap)
			l->units_gap = run;
	}
	l->units_free = height - l->units_used;
}

static void add_mass(const struct site_load *g, struct rack_load *l)
{
	const struct model *m = g->m;
	const struct rack *r = &m->racks.at[l->rack];

	for (size_t i = g->in_rack.first[l->rack]; i < g->in_rack.first[l->rack + 1]; i++) {
		const size_t type = m->devices.at[g->in_rack.row[i]].type;
		const double kg = type == MODEL_NONE ? MODEL_UNSET : m->types.at[type].weight_kg;

		if (isnan(kg))
			l->kg_unknown++;
		else
			l->kg += kg;
	}
	for (size_t i = 0; model_stated(r->pdu_kg) && i < m->pdus.n; i++)
		if (m->pdus.at[i].rack == l->rack)
			l->kg += r->pdu_kg;
	if (model_stated(r->cables_kg))
		l->kg += r->cables_kg;
	l->too_heavy = model_stated(r->max_weight_kg) && l->kg > r->max_weight_kg;
}

static void add_watts(const struct site_load *g, struct rack_load *l)
{
	for (size_t i = g->in_rack.first[l->rack]; i < g->in_rack.first[l->rack + 1]; i++) {
		const size_t device = g->in_rack.row[i];
		bool known = true;

		l->devices++;
		for (unsigned b = 0; b < BASIS_N; b++) {
			const double w = power_of(g->m, device, (enum power_basis)b).watts;

			known = known && !isnan(w);
			l->watts[b] += isnan(w) ? 0 : w;
		}
		if (!known)
			l->watts_unknown++;
		if (g->watts[device] > 0 && !reaches_feed(g, device))
			l->no_cord++;
	}
}

/* --- feeds --- */

static void add_feed(const struct site_load *g, struct rack_load *l, size_t feed)
{
	if (feed == MODEL_NONE || g->feed_seen[feed])
		return;
	g->feed_seen[feed] = true;
	*vec_push(&l->feeds) = (struct feed_load){.feed = feed,
		.limit_va = power_feed_limit(&g->m->feeds.at[feed]),
		.load_va = g->feed_va[feed],
		.worst_va = g->feed_va[feed],
		.worst_loss = MODEL_NONE};
}

static int compare_feeds(const void *a, const void *b)
{
	const struct feed_load *x = a, *y = b;

	return x->feed < y->feed ? -1 : x->feed > y->feed;
}

/* Feeds that stand in the rack, that its PDUs hang on, or that its devices draw from. */
static void find_feeds(const struct site_load *g, struct rack_load *l)
{
	const struct model *m = g->m;

	for (size_t i = 0; i < m->feeds.n; i++)
		if (m->feeds.at[i].rack == l->rack)
			add_feed(g, l, i);
	for (size_t i = 0; i < m->pdus.n; i++)
		if (m->pdus.at[i].rack == l->rack)
			add_feed(g, l, g->pdu_feed[i]);
	for (size_t i = g->in_rack.first[l->rack]; i < g->in_rack.first[l->rack + 1]; i++) {
		const size_t device = g->in_rack.row[i];

		for (size_t k = g->cords.first[device]; k < g->cords.first[device + 1]; k++)
			add_feed(g, l, feed_of_cord(g, g->cords.row[k]));
	}
	vec_sort(&l->feeds, compare_feeds);
	vec_each(&l->feeds, struct feed_load, f)
		g->feed_seen[f->feed] = false;
}

static enum rack_verdict judge(double va, double limit)
{
	if (isnan(limit) || limit <= 0)
		return VERDICT_UNKNOWN;
	if (va > limit * (1 + 1e-9))
		return VERDICT_OVER;
	return va > limit * POWER_HIGH ? VERDICT_HIGH : VERDICT_OK;
}

/* The PDUs' own ratings, where they have one. */
static void judge_pdus(const struct site_load *g, struct rack_load *l, const double *va)
{
	const struct model *m = g->m;

	for (size_t i = 0; i < m->pdus.n; i++) {
		const size_t feed = g->pdu_feed[i];
		double limit, share;

		if (m->pdus.at[i].rack != l->rack || feed == MODEL_NONE ||
			!model_stated(m->pdus.at[i].amps))
			continue;
		limit = power_circuit_va(&m->feeds.at[feed], m->pdus.at[i].amps);
		share = limit > 0 ? va[i] / limit : 0;
		if (share > l->worst_share) {
			l->worst_share = share;
			l->worst_pdu = i;
		}
		if (judge(va[i], limit) > l->verdict)
			l->verdict = judge(va[i], limit);
	}
}

/* Moves the loads of the devices on a lost feed; counts those of this rack that suffer. */
static void lose_feed(const struct site_load *g, struct rack_load *l, size_t lost)
{
	const struct model *m = g->m;
	const size_t begin = g->on_feed.first[lost], end = g->on_feed.first[lost + 1];
	unsigned down = 0, degraded = 0;

	for (size_t i = begin; i < end; i++) {
		const size_t device = device_of_cord(m, g->on_feed.row[i]);
		const size_t type = m->devices.at[device].type;
		const unsigned left = living_cords(g, device, lost);

		if (g->device_seen[device])
			continue;
		g->device_seen[device] = true;
		share_load(g, device, MODEL_NONE, -1, g->pdu_now, g->feed_now);
		share_load(g, device, lost, 1, g->pdu_now, g->feed_now);
		if (m->devices.at[device].rack != l->rack)
			continue;
		down += left == 0;
		degraded += left > 0 && type != MODEL_NONE && left < m->types.at[type].psus_needed;
	}
	for (size_t i = begin; i < end; i++)
		g->device_seen[device_of_cord(m, g->on_feed.row[i])] = false;
	if (down > l->down)
		l->down = down;
	if (degraded > l->degraded)
		l->degraded = degraded;
}

static void try_loss(const struct site_load *g, struct rack_load *l, size_t lost)
{
	const struct model *m = g->m;

	for (size_t i = 0; i < m->feeds.n; i++)
		g->feed_now[i] = g->feed_va[i];
	for (size_t i = 0; i < m->pdus.n; i++)
		g->pdu_now[i] = g->pdu_va[i];
	lose_feed(g, l, lost);
	vec_each(&l->feeds, struct feed_load, f) {
		if (f->feed == lost || g->feed_now[f->feed] <= f->worst_va * (1 + 1e-9))
			continue;
		f->worst_va = g->feed_now[f->feed];
		f->worst_loss = lost;
	}
	judge_pdus(g, l, g->pdu_now);
}

static void judge_feeds(struct rack_load *l)
{
	vec_each(&l->feeds, struct feed_load, f) {
		f->verdict = judge(f->worst_va, f->limit_va);
		if (f->limit_va > 0 && f->worst_va / f->limit_va > l->worst_share) {
			l->worst_share = f->worst_va / f->limit_va;
			l->worst_pdu = MODEL_NONE;
		}
		if (f->verdict > l->verdict)
			l->verdict = f->verdict;
	}
	/* what is not known may be too much */
	if (l->verdict == VERDICT_OK && (l->watts_unknown || l->no_cord))
		l->verdict = VERDICT_UNKNOWN;
}

static void load_rack(const struct site_load *g, size_t rack, struct rack_load *l)
{
	*l = (struct rack_load){.rack = rack, .worst_pdu = MODEL_NONE};
	count_units(g, l);
	add_mass(g, l);
	add_watts(g, l);
	find_feeds(g, l);
	judge_pdus(g, l, g->pdu_va);
	for (size_t i = 0; i < l->feeds.n; i++)
		try_loss(g, l, l->feeds.at[i].feed);
	judge_feeds(l);
}

void rack_loads_make(const struct model *m, enum power_basis basis, struct rack_loads *out)
{
	struct site_load g;

	make_site(&g, m, basis);
	for (size_t i = 0; i < m->racks.n; i++)
		load_rack(&g, i, vec_push(out));
	arena_free(g.arena);
}

void rack_loads_done(struct rack_loads *l)
{
	vec_each(l, struct rack_load, it)
		vec_done(&it->feeds);
	vec_done(l);
}
