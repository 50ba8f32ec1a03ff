/* limit - one function per level. */
#include "inventory/audit/limit.h"

#include "inventory/audit/formula.h"

#include <math.h>
#include <string.h>

#define UL_CONTINUOUS 0.8 /* of a bank's breaker */

/* What connectors carry all day: by IEC 60320, and by UL 60320 after its 80 %. */
static const struct connector {
	const char *name;
	double iec, ul;
} CONNECTORS[] = {
	{"C13", 10, 12},
	{"C14", 10, 12},
	{"C15", 10, 12},
	{"C16", 10, 12},
	{"C19", 16, 16},
	{"C20", 16, 16},
	{"C21", 16, 16},
	{"C22", 16, 16},
	{"schuko", 16, 16},
};

double limit_connector(const struct policy *p, const char *type)
{
	for (size_t i = 0; type && i < sizeof CONNECTORS / sizeof *CONNECTORS; i++)
		if (strcasecmp(CONNECTORS[i].name, type) == 0)
			return p->ul ? CONNECTORS[i].ul : CONNECTORS[i].iec;
	return NAN;
}

static double factor(const struct policy *p, double own, bool failover)
{
	if (model_stated(own))
		return own;
	return failover ? p->failover_k : p->k_cont;
}

static double ups_watts(const struct policy *p, const struct ups *u)
{
	const double by_kva = model_stated(u->kva) ? u->kva * 1000 * p->power_factor : NAN;

	return model_stated(u->kw) ? fmin(u->kw * 1000, by_kva) : by_kva;
}

double limit_rating(const struct graph *g, const struct policy *p, uint32_t element)
{
	const struct element *e = &g->at[element];
	double rating = NAN;

	if (e->level == LEVEL_BANK) {
		rating = g->m->banks.at[e->row].amps;
	} else if (e->level == LEVEL_FEED) {
		const struct feed *f = &g->m->feeds.at[e->row];

		rating = formula_derated(f->amps, f->k_temp, f->k_group, 1);
	} else if (e->level == LEVEL_PANEL) {
		rating = g->m->panels.at[e->row].amps;
	} else if (e->level == LEVEL_UPS) {
		rating = ups_watts(p, &g->m->upses.at[e->row]);
	}
	return model_stated(rating) ? rating : NAN;
}

double limit_get(const struct graph *g, const struct policy *p, uint32_t element, bool failover)
{
	const struct element *e = &g->at[element];
	const double rating = limit_rating(g, p, element);
	double amps = rating;

	if (e->level == LEVEL_FEED) {
		const struct feed *f = &g->m->feeds.at[e->row];

		return formula_limit(rating, factor(p, f->max_utilization, failover), f->plug_amps);
	}
	if (e->level == LEVEL_PANEL)
		return rating * factor(p, g->m->panels.at[e->row].max_utilization, failover);
	if (e->level == LEVEL_BANK)
		return rating * (p->ul ? UL_CONTINUOUS : 1);
	if (e->level == LEVEL_PDU)
		amps = g->m->pdus.at[e->row].amps;
	if (e->level == LEVEL_OUTLET) {
		amps = g->m->outlets.at[e->row].amps;
		if (!model_stated(amps))
			amps = limit_connector(p, g->m->outlets.at[e->row].type);
	}
	return model_stated(amps) ? amps : NAN;
}

static const char *feed_text(
	struct arena *a, const struct feed *f, double limit, double by_breaker, double k)
{
	if (limit < by_breaker)
		return arena_printf(a, "the plug's %g A", f->plug_amps);
	if (model_stated(f->k_temp) || model_stated(f->k_group))
		return arena_printf(a, "%.2f x %g A x %g x %g = %.2f A", k, f->amps,
			model_stated(f->k_temp) ? f->k_temp : 1,
			model_stated(f->k_group) ? f->k_group : 1, limit);
	return arena_printf(a, "%.2f x %g A = %.2f A", k, f->amps, limit);
}

const char *limit_text(struct arena *a, const struct graph *g, const struct policy *p,
	uint32_t element, bool failover)
{
	const struct element *e = &g->at[element];
	const double limit = limit_get(g, p, element, failover);

	if (e->level == LEVEL_FEED) {
		const struct feed *f = &g->m->feeds.at[e->row];
		const double k = factor(p, f->max_utilization, failover);

		return feed_text(a, f, limit, limit_rating(g, p, element) * k, k);
	}
	if (e->level == LEVEL_PANEL || (e->level == LEVEL_BANK && p->ul)) {
		const double rating = limit_rating(g, p, element);

		return arena_printf(a, "%.2f x %g A = %.2f A", limit / rating, rating, limit);
	}
	if (e->level == LEVEL_OUTLET && !model_stated(g->m->outlets.at[e->row].amps))
		return arena_printf(a, "%g A of a %s", limit, g->m->outlets.at[e->row].type);
	if (e->level == LEVEL_UPS)
		return arena_printf(a, "%.1f kW", limit / 1000);
	return arena_printf(a, "%g A", limit);
}
