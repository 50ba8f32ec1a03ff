/* rule_feed - currents of feeds and their lines, in normal operation and after a loss. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

static const struct feed *feed_of(const struct audit_run *r, uint32_t e)
{
	return &r->m->feeds.at[r->g->at[e].row];
}

static bool is_feed(const struct audit_run *r, uint32_t e)
{
	return r->g->at[e].level == LEVEL_FEED;
}

static bool computable(const struct audit_run *r, uint32_t e)
{
	return !isnan(r->g->at[e].volts) && model_stated(feed_of(r, e)->amps);
}

static bool balanced(const double lines[3])
{
	return fabs(lines[0] - lines[1]) < 1e-6 && fabs(lines[1] - lines[2]) < 1e-6;
}

/* Whether the lines of a feed are worth a word of their own. */
static bool has_lines(const struct audit_run *r, uint32_t e)
{
	return r->g->at[e].phases == 3 &&
	       (r->g->at[e].by_phase || !balanced(audit_load(r, r->pass, e, false)->lines));
}

static double total_amps(const struct audit_run *r, uint32_t e, const struct element_load *l)
{
	return formula_amps(l->watts, r->g->at[e].volts, r->g->at[e].phases, r->p->power_factor);
}

/* The load by watts, for totals. */
static const struct element_load *total_of(
	const struct audit_run *r, enum audit_pass pass, uint32_t e, bool failover)
{
	const struct element_load *normal = &r->sim[pass]->normal[e];
	const struct element_load *worst = &r->sim[pass]->by_watts[e];

	return failover && worst->watts > normal->watts ? worst : normal;
}

static const char *voltage_text(struct audit_run *r, uint32_t e)
{
	const struct element *el = &r->g->at[e];

	return audit_text(r, el->phases == 3 ? "1.732 x %g V x %g" : "%g V x %g", el->volts,
		r->p->power_factor);
}

/* What the caps change, "" when nothing. */
static const char *uncapped_text(struct audit_run *r, double plain, double capped)
{
	if (r->pass == PASS_PLAIN || !(plain > capped))
		return "";
	return audit_text(r, "; without the caps %.2f A", plain);
}

static void say_total(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const bool failover = f->rule == RULE_FEED_FAILOVER;
	const struct element_load *l = total_of(r, r->pass, c->at, failover);
	const double plain = total_amps(r, c->at, total_of(r, PASS_PLAIN, c->at, failover));

	f->value = total_amps(r, c->at, l);
	f->limit = audit_limit(r->out, c->at, failover);
	f->loss = audit_loss(r, l->loss);
	f->assumes = r->g->at[c->at].phases == 3 && !has_lines(r, c->at) ? "balanced phases" : NULL;
	f->text = audit_text(r, "%.0f W / (%s) = %.2f A; limit %s; %.1f %%%s%s", l->watts,
		voltage_text(r, c->at), f->value, audit_limit_text(r, c->at, failover),
		100 * f->value / f->limit, l->hot_spare ? "; hot spare on one side" : "",
		uncapped_text(r, plain, f->value));
}

static void check_total(struct audit_run *r, enum audit_rule rule)
{
	const bool failover = rule == RULE_FEED_FAILOVER;

	vec_each(&r->above, uint32_t, e) {
		enum audit_verdict verdict[PASS_N];
		double near = 0;

		if (!is_feed(r, *e) || !computable(r, *e))
			continue;
		for (unsigned pass = 0; pass < PASS_N; pass++) {
			near = total_amps(r, *e, total_of(r, pass, *e, failover)) /
			       audit_limit(r->out, *e, failover);
			verdict[pass] = audit_judge(near, 1, r->p->near_limit);
		}
		audit_offer(r, *e, audit_both(verdict[PASS_PLAIN], verdict[PASS_CAPPED]), near);
	}
	audit_list(r, rule, say_total);
}

static void say_lines(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	static const char *const names[] = {"L1", "L2", "L3"};
	const bool failover = f->rule == RULE_PHASE_FAILOVER;
	const struct element_load *l = audit_load(r, r->pass, c->at, failover);

	f->value = l->amps;
	f->limit = audit_limit(r->out, c->at, failover);
	f->line = names[l->line];
	f->loss = audit_loss(r, l->loss);
	f->assumes = r->g->at[c->at].by_phase ? NULL : "loads without a phase spread evenly";
	f->text = audit_text(r, "L1 %.2f A, L2 %.2f A, L3 %.2f A; limit %s; %s %.1f %%%s",
		l->lines[0], l->lines[1], l->lines[2], audit_limit_text(r, c->at, failover),
		f->line, 100 * f->value / f->limit,
		uncapped_text(r, audit_load(r, PASS_PLAIN, c->at, failover)->amps, f->value));
}

static void check_lines(struct audit_run *r, enum audit_rule rule)
{
	const bool failover = rule == RULE_PHASE_FAILOVER;

	vec_each(&r->above, uint32_t, e) {
		enum audit_verdict verdict[PASS_N];
		double near = 0;

		if (!is_feed(r, *e) || !computable(r, *e) || !has_lines(r, *e))
			continue;
		for (unsigned pass = 0; pass < PASS_N; pass++) {
			near = audit_load(r, pass, *e, failover)->amps /
			       audit_limit(r->out, *e, failover);
			verdict[pass] = audit_judge(near, 1, r->p->near_limit);
		}
		audit_offer(r, *e, audit_both(verdict[PASS_PLAIN], verdict[PASS_CAPPED]), near);
	}
	audit_list(r, rule, say_lines);
}

/* --- efficiency --- */

static bool has_curves(const struct audit_run *r, uint32_t e)
{
	const struct element *el = &r->g->at[e];

	for (uint32_t k = 0; k < el->n; k++)
		if (!demand_has_curve(audit_type(r, r->g->cord_device[r->g->below[el->first + k]])))
			return false;
	return true;
}

static void say_efficiency(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct element_load *l = audit_load(r, r->pass, c->at, true);

	f->value = l->amps * (1 + FORMULA_MARGIN);
	f->limit = audit_limit(r->out, c->at, true);
	f->loss = audit_loss(r, l->loss);
	f->assumes = "5 % more watts on fewer PSUs";
	f->text = audit_text(r, "1.05 x %.2f A = %.2f A; limit %s; margin %.1f %%", l->amps,
		f->value, audit_limit_text(r, c->at, true), 100 * (1 - l->amps / f->limit));
}

static void check_efficiency(struct audit_run *r)
{
	vec_each(&r->above, uint32_t, e) {
		const struct element_load *l = audit_load(r, r->pass, *e, true);
		double near;

		if (!is_feed(r, *e) || !computable(r, *e) || l->loss == 0)
			continue;
		near = l->amps / audit_limit(r->out, *e, true);
		if (audit_judge(near, 1, 0) == AUDIT_FAIL || has_curves(r, *e))
			continue;
		near *= 1 + FORMULA_MARGIN;
		audit_offer(r, *e, near > 1 ? AUDIT_WARN : AUDIT_PASS, near);
	}
	audit_list(r, RULE_EFFICIENCY, say_efficiency);
}

/* --- balance --- */

/* The load with the worse imbalance, NULL while the feed is hardly loaded. */
static const struct element_load *crooked(const struct audit_run *r, uint32_t e)
{
	const struct element_load *worst = NULL;

	for (int failover = 0; failover < 2; failover++) {
		const struct element_load *l = audit_load(r, r->pass, e, failover);

		if (l->amps <= r->p->light_load * audit_limit(r->out, e, failover))
			continue;
		if (!worst || formula_imbalance(l->lines) > formula_imbalance(worst->lines) + 0.05)
			worst = l;
	}
	return worst;
}

static void say_imbalance(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct element_load *l = crooked(r, c->at);
	const double avg = (l->lines[0] + l->lines[1] + l->lines[2]) / 3;

	f->value = formula_imbalance(l->lines);
	f->limit = r->p->imbalance;
	f->unit = "%";
	f->loss = audit_loss(r, l->loss);
	f->text = audit_text(r, "L1 %.2f A, L2 %.2f A, L3 %.2f A, average %.2f A: %.1f %% off",
		l->lines[0], l->lines[1], l->lines[2], avg, f->value);
}

static void check_imbalance(struct audit_run *r)
{
	vec_each(&r->above, uint32_t, e) {
		const struct element_load *l;
		double percent;

		if (!is_feed(r, *e) || !computable(r, *e) || !has_lines(r, *e))
			continue;
		l = crooked(r, *e);
		if (!l)
			continue;
		percent = formula_imbalance(l->lines);
		audit_offer(r, *e, percent > r->p->imbalance ? AUDIT_WARN : AUDIT_PASS,
			percent / r->p->imbalance);
	}
	audit_list(r, RULE_IMBALANCE, say_imbalance);
}

static void say_neutral(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct element_load *l = audit_load(r, r->pass, c->at, true);

	f->value = formula_neutral(l->lines);
	f->limit = limit_rating(r->g, r->p, c->at);
	f->line = "N";
	f->loss = audit_loss(r, l->loss);
	f->assumes = "no harmonics";
	f->text = audit_text(r, "L1 %.2f A, L2 %.2f A, L3 %.2f A make %.2f A in N; limit %g A",
		l->lines[0], l->lines[1], l->lines[2], f->value, f->limit);
}

/* Loads between lines use no neutral, and below 250 V that is what loads are between. */
static void check_neutral(struct audit_run *r)
{
	vec_each(&r->above, uint32_t, e) {
		double near;

		if (!is_feed(r, *e) || !computable(r, *e) || !has_lines(r, *e) ||
			r->g->at[*e].volts < 250)
			continue;
		near = formula_neutral(audit_load(r, r->pass, *e, true)->lines) /
		       limit_rating(r->g, r->p, *e);
		audit_offer(r, *e, audit_judge(near, 1, 0), near);
	}
	audit_list(r, RULE_NEUTRAL, say_neutral);
}

/* --- data --- */

static void say_data(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct feed *feed = feed_of(r, c->at);

	f->unit = "";
	if (!model_stated(feed->amps))
		f->text = "its breaker's amps are not stated";
	else if (isnan(feed->volts))
		f->text = "its volts are not stated";
	else
		f->text = audit_text(r,
			"%g V is the voltage of one phase, and it has three: say LL or LN",
			feed->volts);
}

static void check_data(struct audit_run *r)
{
	vec_each(&r->above, uint32_t, e)
		if (is_feed(r, *e) && !computable(r, *e))
			audit_offer(r, *e, AUDIT_FAIL, 0);
	audit_list(r, RULE_FEED_DATA, say_data);
}

void rule_feed(struct audit_run *r)
{
	check_data(r);
	check_total(r, RULE_FEED_NORMAL);
	check_total(r, RULE_FEED_FAILOVER);
	check_lines(r, RULE_PHASE_NORMAL);
	check_lines(r, RULE_PHASE_FAILOVER);
	check_efficiency(r);
	check_imbalance(r);
	check_neutral(r);
}
