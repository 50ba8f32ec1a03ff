/* rule_pdu - what is inside the rack: PDUs, their banks, outlets, and the inlets of devices. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

static bool is_failover(enum audit_rule rule)
{
	return rule != RULE_PDU_NORMAL && rule != RULE_BANK_NORMAL;
}

static void say_element(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	static const char *const names[] = {"L1", "L2", "L3"};
	const struct element *e = &r->g->at[c->at];
	const struct element_load *l = audit_load(r, r->pass, c->at, is_failover(f->rule));

	f->value = l->amps;
	f->limit = audit_limit(r->out, c->at, true);
	f->line = e->phases == 3 ? names[l->line] : NULL;
	f->loss = audit_loss(r, l->loss);
	if (e->phases == 3)
		f->text = audit_text(r, "L1 %.2f A, L2 %.2f A, L3 %.2f A; limit %s; %.1f %%",
			l->lines[0], l->lines[1], l->lines[2], audit_limit_text(r, c->at, true),
			100 * f->value / f->limit);
	else
		f->text = audit_text(r, "%.0f W / (%.4g V x %g) = %.2f A; limit %s; %.1f %%",
			l->watts, e->volts, r->p->power_factor, f->value,
			audit_limit_text(r, c->at, true), 100 * f->value / f->limit);
}

static void check_level(struct audit_run *r, enum level level, enum audit_rule rule)
{
	const bool failover = is_failover(rule);

	vec_each(&r->above, uint32_t, e) {
		enum audit_verdict verdict[PASS_N];
		const double limit =
			r->g->at[*e].level == level ? audit_limit(r->out, *e, failover) : NAN;
		double near = 0;

		if (isnan(limit) || isnan(r->g->at[*e].volts))
			continue;
		for (unsigned pass = 0; pass < PASS_N; pass++) {
			near = audit_load(r, pass, *e, failover)->amps / limit;
			verdict[pass] = audit_judge(near, 1, 0);
		}
		audit_offer(r, *e, audit_both(verdict[PASS_PLAIN], verdict[PASS_CAPPED]), near);
	}
	audit_list(r, rule, say_element);
}

/* --- inlets --- */

static double inlet_limit(const struct audit_run *r, uint32_t cord)
{
	const struct device_type *t = audit_type(r, r->g->cord_device[cord]);

	if (model_stated(t->inlet_amps))
		return t->inlet_amps;
	return limit_connector(r->p, r->m->ports.at[r->m->cords.at[cord].port].type);
}

static void say_inlet(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const uint32_t e = graph_outlet(r->g, c->at);
	const struct element_load *normal = audit_load(r, r->pass, e, false);
	const struct element_load *l = audit_load(r, r->pass, e, c->verdict != AUDIT_FAIL);

	f->subject = (struct audit_subject){NOUN_PORT, r->m->cords.at[c->at].port};
	f->value = l->amps;
	f->limit = inlet_limit(r, c->at);
	f->loss = audit_loss(r, l->loss);
	f->text = audit_text(r, "%.0f W / (%.4g V x %g) = %.2f A; limit %g A%s", l->watts,
		r->g->at[e].volts, r->p->power_factor, f->value, f->limit,
		l != normal && f->value > f->limit ? "; the device must throttle" : "");
}

static void check_inlets(struct audit_run *r)
{
	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);

		for (uint32_t k = r->g->device_first[device]; k < r->g->device_first[device + 1];
			k++) {
			const uint32_t cord = r->g->device_cords[k], e = graph_outlet(r->g, cord);
			const double limit = inlet_limit(r, cord);
			const double near = audit_load(r, r->pass, e, true)->amps / limit;

			if (isnan(limit) || isnan(r->g->at[e].volts))
				continue;
			if (audit_judge(audit_load(r, r->pass, e, false)->amps / limit, 1, 0) ==
				AUDIT_FAIL)
				audit_offer(r, cord, AUDIT_FAIL, near);
			else
				audit_offer(r, cord,
					audit_judge(near, 1, 0) == AUDIT_FAIL ? AUDIT_WARN
									      : AUDIT_PASS,
					near);
		}
	}
	audit_list(r, RULE_INLET, say_inlet);
}

void rule_pdu(struct audit_run *r)
{
	check_level(r, LEVEL_PDU, RULE_PDU_NORMAL);
	check_level(r, LEVEL_PDU, RULE_PDU_FAILOVER);
	check_level(r, LEVEL_BANK, RULE_BANK_NORMAL);
	check_level(r, LEVEL_BANK, RULE_BANK_FAILOVER);
	check_level(r, LEVEL_OUTLET, RULE_OUTLET);
	check_inlets(r);
}
