#include "controller/rollout/ground.h"

#include "agent/base/err.h"
#include "inventory/store/store.h"

#include <string.h>

/* The site that all of them are of. */
static int find_site(const struct node_refs *nodes, const char **out, struct err *err)
{
	*out = nodes->n > 0 && *nodes->at[0]->site ? nodes->at[0]->site : NULL;
	for (size_t i = 1; i < nodes->n; i++) {
		if (strcmp(nodes->at[i]->site, nodes->at[0]->site) == 0)
			continue;
		err_set(err, E_CONFLICT, "'%s' is of site '%s', '%s' of '%s'", nodes->at[0]->name,
			nodes->at[0]->site, nodes->at[i]->name, nodes->at[i]->site);
		return err_hint(err, "a rollout goes over one site: its racks and circuits");
	}
	return 0;
}

int ground_make(struct arena *a, struct store *s, const char *site, enum power_basis basis,
	const struct node_refs *nodes, const struct rollout_policy *policy, struct ground *out,
	struct err *err)
{
	const struct audit_opts opts = {.basis = basis};
	struct rollout_power power;
	int rc = site ? 0 : find_site(nodes, &site, err);

	*out = (struct ground){0};
	if (rc == 0)
		rc = store_load_model(s, site, &out->m, err);
	if (rc == 0)
		rc = audit_run(out->m, &opts, &out->audit, err);
	if (rc == 0)
		rc = rollout_site(a, out->m, nodes, &out->nodes, &out->devices, err);
	if (rc < 0)
		return rc;
	out->circuits = rollout_circuits_new(&out->audit, out->devices, nodes->n);
	power = rollout_circuits_limit(out->circuits);
	return rollout_new(policy, out->nodes, nodes->n, &power, &out->plan, err);
}

void ground_done(struct ground *g)
{
	rollout_free(g->plan);
	rollout_circuits_free(g->circuits);
	audit_done(&g->audit);
	model_free(g->m);
	*g = (struct ground){0};
}
