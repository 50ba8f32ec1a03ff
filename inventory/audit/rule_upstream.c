/* rule_upstream - panels, UPSs, generators: what many racks share. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

#define RIDE_MINUTES   5.0  /* better than the generator's start alone */
#define START_ASSUMED  10.0 /* seconds; NFPA 110 type 10 */
#define RECHARGE_SHARE 0.1  /* of what the UPS takes in */

/* --- panels --- */

static void say_panel(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	static const char *const names[] = {"L1", "L2", "L3"};
	const bool failover = f->rule == RULE_PANEL_FAILOVER;
	const struct element_load *l = audit_load(r, r->pass, c->at, failover);

	f->value = l->amps;
	f->limit = audit_limit(r->out, c->at, failover);
	f->line = r->g->at[c->at].phases == 3 ? names[l->line] : NULL;
	f->loss = audit_loss(r, l->loss);
	f->assumes = r->g->at[c->at].by_phase ? NULL : "loads without a phase spread evenly";
	f->text = audit_text(r, "L1 %.1f A, L2 %.1f A, L3 %.1f A; limit %s; %.0f %%", l->lines[0],
		l->lines[1], l->lines[2], audit_limit_text(r, c->at, failover),
		100 * f->value / f->limit);
}

static void check_panels(struct audit_run *r, enum audit_rule rule)
{
	const bool failover = rule == RULE_PANEL_FAILOVER;

	for (uint32_t i = 0; i < r->m->panels.n; i++) {
		const uint32_t e = graph_element(r->g, LEVEL_PANEL, i);
		enum audit_verdict verdict[PASS_N];
		double near = 0;

		if (!model_stated(r->m->panels.at[i].amps) || isnan(r->g->at[e].volts))
			continue;
		for (unsigned pass = 0; pass < PASS_N; pass++) {
			near = audit_load(r, pass, e, failover)->amps /
			       audit_limit(r->out, e, failover);
			verdict[pass] = audit_judge(near, 1, r->p->near_limit);
		}
		audit_offer(r, e, audit_both(verdict[PASS_PLAIN], verdict[PASS_CAPPED]), near);
	}
	audit_list(r, rule, say_panel);
}

/* --- UPSs --- */

static double ups_share(const struct audit_run *r, const struct ups *u)
{
	return model_stated(u->max_share) ? u->max_share : r->p->ups_share;
}

static const struct element_load *ups_load(
	const struct audit_run *r, enum audit_pass pass, uint32_t e, bool failover)
{
	const struct element_load *normal = &r->sim[pass]->normal[e];
	const struct element_load *worst = &r->sim[pass]->by_watts[e];

	return failover && worst->watts > normal->watts ? worst : normal;
}

static void say_ups(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct ups *u = &r->m->upses.at[r->g->at[c->at].row];
	const bool failover = f->rule == RULE_UPS_FAILOVER;
	const struct element_load *l = ups_load(r, r->pass, c->at, failover);

	f->value = l->watts;
	f->limit = limit_rating(r->g, r->p, c->at);
	f->unit = "W";
	f->loss = audit_loss(r, l->loss);
	f->text = audit_text(r, "%.1f kW, %.1f kVA at %g; of %g kW, %g kVA: %.1f %%%s",
		l->watts / 1000, formula_load_va(l->watts, r->p->power_factor) / 1000,
		r->p->power_factor, model_stated(u->kw) ? u->kw : f->limit / 1000,
		model_stated(u->kva) ? u->kva : f->limit / 1000 / r->p->power_factor,
		100 * f->value / f->limit,
		c->verdict == AUDIT_WARN ? audit_text(r, ", above %.0f %%", 100 * ups_share(r, u))
					 : "");
}

static void check_upses(struct audit_run *r, enum audit_rule rule)
{
	const bool failover = rule == RULE_UPS_FAILOVER;

	for (uint32_t i = 0; i < r->m->upses.n; i++) {
		const uint32_t e = graph_element(r->g, LEVEL_UPS, i);
		const double rating = limit_rating(r->g, r->p, e);
		enum audit_verdict verdict[PASS_N];
		double near = 0;

		if (isnan(rating))
			continue;
		for (unsigned pass = 0; pass < PASS_N; pass++) {
			near = ups_load(r, pass, e, failover)->watts / rating;
			verdict[pass] = audit_judge(near, 1, ups_share(r, &r->m->upses.at[i]));
		}
		audit_offer(r, e, audit_both(verdict[PASS_PLAIN], verdict[PASS_CAPPED]), near);
	}
	audit_list(r, rule, say_ups);
}

/* --- the time until the generator --- */

static const struct generator *backup_of(const struct audit_run *r, uint32_t e)
{
	for (; e != GRAPH_NONE; e = r->g->at[e].parent) {
		const struct element *el = &r->g->at[e];
		struct supply s = {SUPPLY_NONE, 0};

		if (el->level == LEVEL_PANEL) {
			const struct panel *p = &r->m->panels.at[el->row];

			s = p->backup.kind == SUPPLY_GENERATOR ? p->backup : p->upstream;
		} else if (el->level == LEVEL_UPS) {
			s = r->m->upses.at[el->row].upstream;
		}
		if (s.kind == SUPPLY_GENERATOR)
			return &r->m->generators.at[s.row];
	}
	return NULL;
}

static bool warm_minutes(const struct audit_run *r)
{
	vec_each(&r->m->zones, const struct cooling_zone, z)
		if (z->on_generator && !z->on_ups)
			return true;
	return false;
}

static double start_of(const struct generator *g)
{
	return g && model_stated(g->start_s) ? g->start_s : START_ASSUMED;
}

static double runtime_of(const struct audit_run *r, uint32_t e)
{
	return formula_curve(&r->m->upses.at[r->g->at[e].row].runtime,
		ups_load(r, r->pass, e, true)->watts / 1000);
}

static void say_ride(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct generator *g = backup_of(r, c->at);
	const double kw = ups_load(r, r->pass, c->at, true)->watts / 1000;

	f->value = runtime_of(r, c->at);
	f->unit = "min";
	if (c->verdict != AUDIT_WARN)
		f->limit = start_of(g) / 60;
	else if (g && f->value < RIDE_MINUTES)
		f->limit = RIDE_MINUTES;
	f->assumes = g && !model_stated(g->start_s) ? "a start within 10 s" : NULL;
	if (g)
		f->text = audit_text(r, "%s%.1f min at %.1f kW; generator '%s' starts in %g s",
			warm_minutes(r) ? "until the generator runs there is no cooling; " : "",
			f->value, kw, g->name, start_of(g));
	else
		f->text =
			audit_text(r, "no generator takes over; %.1f min at %.1f kW", f->value, kw);
}

static void check_ride(struct audit_run *r)
{
	for (uint32_t i = 0; i < r->m->upses.n; i++) {
		const uint32_t e = graph_element(r->g, LEVEL_UPS, i);
		const double minutes = runtime_of(r, e), start = start_of(backup_of(r, e)) / 60;
		enum audit_verdict verdict = AUDIT_PASS;

		if (isnan(minutes))
			continue;
		if (minutes < RIDE_MINUTES || !backup_of(r, e) || warm_minutes(r))
			verdict = AUDIT_WARN;
		if (minutes < start)
			verdict = AUDIT_FAIL;
		audit_offer(r, e, verdict, start / minutes);
	}
	audit_list(r, RULE_RIDE_THROUGH, say_ride);
}

/* --- generators --- */

struct genset {
	double it, cooling, recharge; /* W; it: at the inputs of its UPSs */
};

/* Adds what a panel or UPS that hangs straight on the generator brings. */
static void add_branch(const struct audit_run *r, uint32_t e, struct genset *sum)
{
	const struct element *el = &r->g->at[e];
	const double watts = r->sim[r->pass]->normal[e].watts;

	sum->it += watts * el->gain;
	for (uint32_t i = 0; i < r->m->upses.n; i++) {
		const uint32_t u = graph_element(r->g, LEVEL_UPS, i);
		const struct ups *ups = &r->m->upses.at[i];
		uint32_t at = u;

		while (at != GRAPH_NONE && at != e)
			at = r->g->at[at].parent;
		if (at == e)
			sum->recharge += model_stated(ups->recharge_w)
						 ? ups->recharge_w
						 : RECHARGE_SHARE * r->g->at[u].gain *
							   r->sim[r->pass]->normal[u].watts;
	}
}

static bool hangs_on(const struct audit_run *r, uint32_t e, size_t generator)
{
	const struct element *el = &r->g->at[e];
	const struct supply *s = el->level == LEVEL_PANEL ? &r->m->panels.at[el->row].backup
							  : &r->m->upses.at[el->row].upstream;

	if (s->kind == SUPPLY_GENERATOR && s->row == generator)
		return true;
	s = el->level == LEVEL_PANEL ? &r->m->panels.at[el->row].upstream : s;
	return s->kind == SUPPLY_GENERATOR && s->row == generator;
}

static struct genset genset_of(const struct audit_run *r, size_t generator)
{
	struct genset sum = {0};

	for (uint32_t e = r->g->base[LEVEL_PANEL]; e < r->g->base[LEVEL_N]; e++)
		if (hangs_on(r, e, generator))
			add_branch(r, e, &sum);
	vec_each(&r->m->zones, const struct cooling_zone, z)
		if (z->on_generator && model_stated(z->draw_w))
			sum.cooling += z->draw_w / (double)r->m->generators.n;
	return sum;
}

static double misc_of(const struct audit_run *r)
{
	return model_stated(r->m->terms.misc_w) ? r->m->terms.misc_w : 0;
}

static double needed_of(const struct audit_run *r, size_t generator)
{
	const struct genset sum = genset_of(r, generator);

	return formula_generator(sum.it, 1, sum.cooling, sum.recharge, misc_of(r));
}

static void say_generator(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct genset sum = genset_of(r, c->at);

	f->subject = (struct audit_subject){NOUN_GENERATOR, c->at};
	f->unit = "W";
	f->value = needed_of(r, c->at);
	f->limit = r->m->generators.at[c->at].kw * 1000;
	f->assumes = "10 % of a UPS's input to recharge, where not stated";
	f->text = audit_text(r,
		"(%.1f kW IT with UPS losses + %.1f cooling + %.1f recharge + %.1f other) / 0.8 = %.1f kW; "
		"rated %g kW",
		sum.it / 1000, sum.cooling / 1000, sum.recharge / 1000, misc_of(r) / 1000,
		f->value / 1000, f->limit / 1000);
}

static void check_generators(struct audit_run *r)
{
	for (size_t i = 0; i < r->m->generators.n; i++) {
		const double near = needed_of(r, i) / (r->m->generators.at[i].kw * 1000);

		if (model_stated(r->m->generators.at[i].kw))
			audit_offer(r, i, audit_judge(near, 1, 0), near);
	}
	audit_list(r, RULE_GENERATOR, say_generator);
}

void rule_upstream(struct audit_run *r)
{
	check_panels(r, RULE_PANEL_NORMAL);
	check_panels(r, RULE_PANEL_FAILOVER);
	check_upses(r, RULE_UPS_NORMAL);
	check_upses(r, RULE_UPS_FAILOVER);
	check_ride(r);
	check_generators(r);
}
