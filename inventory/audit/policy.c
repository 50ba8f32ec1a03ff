/* policy - a named set, then what the site's terms state. */
#include "inventory/audit/policy.h"

#include "agent/base/err.h"

#include <string.h>

const char *const POLICY_NAMES[] = {"strict80", "iec100", NULL};

static const struct policy BUILT_IN[] = {
	{.name = "strict80", .k_cont = 0.8, .failover_k = 0.8},
	{.name = "iec100", .k_cont = 1, .failover_k = 1, .near_limit = 0.95},
};

static void take(double *figure, double stated)
{
	if (model_stated(stated))
		*figure = stated;
}

static void take_site(struct policy *p, const struct site_terms *t)
{
	p->ups_share = 0.9;
	p->imbalance = 10;
	p->light_load = 0.2;
	p->power_factor = 0.95;
	p->floor_kpa = 12;
	p->tile_kn = MODEL_UNSET;
	p->assumed_power_factor = !model_stated(t->power_factor);
	p->assumed_floor = !model_stated(t->floor_kpa);
	p->assumed_region = !t->region;
	p->ul = t->region && strcmp(t->region, "ul") == 0;
	take(&p->ups_share, t->policy.ups_share);
	take(&p->power_factor, t->power_factor);
	take(&p->floor_kpa, t->floor_kpa);
	take(&p->tile_kn, t->tile_kn);
	take(&p->altitude_m, t->altitude_m);
}

static int judge(const struct policy *p, struct err *err)
{
	const struct {
		const char *name;
		double v;
	} shares[] = {
		{"k_cont", p->k_cont},
		{"failover_k", p->failover_k},
		{"ups_share", p->ups_share},
		{"power_factor", p->power_factor},
	};

	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (!(shares[i].v > 0 && shares[i].v <= 1))
			return err_set(err, E_SCHEMA,
				"policy '%s' has a %s of %g, expected more than 0 and at most 1",
				p->name, shares[i].name, shares[i].v);
	return 0;
}

int policy_make(const struct model *m, const char *name, struct policy *out, struct err *err)
{
	const struct policy_terms *own = &m->terms.policy;
	const char *wanted = name ? name : own->name ? own->name : "strict80";
	struct policy p = {.name = NULL};

	for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++)
		if (strcmp(BUILT_IN[i].name, wanted) == 0)
			p = BUILT_IN[i];
	if (!p.name && !(own->name && strcmp(own->name, wanted) == 0)) {
		err_set(err, E_NOTFOUND, "there is no policy '%s'", wanted);
		return err_hint(err, "strict80, iec100, or the name in the site's 'terms'");
	}
	take_site(&p, &m->terms);
	if (!p.name) {
		p.name = wanted;
		p.k_cont = 0.8;
		take(&p.k_cont, own->k_cont);
		p.failover_k = p.k_cont;
		take(&p.failover_k, own->failover_k);
		take(&p.near_limit, own->near_limit);
	}
	if (judge(&p, err) < 0)
		return -E_SCHEMA;
	*out = p;
	return 0;
}
