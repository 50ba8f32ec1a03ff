/* fabric_domain - the question 'fabric' of the design book. */
#include "inventory/design/fabric_domain.h"

#include "inventory/design/fabric.h"
#include "inventory/design/input.h"

#include <math.h>

static int read_fabric(struct input *a, struct fabric_ask *f)
{
	static const char *const fills[] = {"grow", "minimal", NULL};
	const unsigned gpus = input_count(a, "gpus_per_node", 72, 1);
	const unsigned endpoints = input_count(a, "endpoints|gpus", FABRIC_ENDPOINTS_MAX, 0);

	f->nodes = input_count(a, "nodes", FABRIC_ENDPOINTS_MAX, 0);
	f->nics = input_count(a, "nics_per_node", 72, gpus);
	if (f->nodes == 0) {
		f->nodes = endpoints;
		f->nics = 1;
	}
	f->radix = input_count(a, "radix|radix_per_plane", FABRIC_RADIX_MAX, 0);
	f->tiers = input_count(a, "tiers", 3, 0);
	f->planes = input_count(a, "planes", 8, 1);
	f->nodes_per_unit = input_count(a, "nodes_per_su", FABRIC_RADIX_MAX, 0);
	f->extra = input_count(a, "ufm_ports|extra_ports", 4096, 0);
	f->oversubscription = input_num(a, "oversubscription", 1, FABRIC_RADIX_MAX, 1);
	f->rails = input_bool(a, "rail_optimized|rail_optimised", f->nics > 1);
	f->fill = (enum fabric_fill)input_word(a, "fill", fills, FABRIC_GROW);
	if (!a->fault && f->nodes == 0)
		input_fail(a, "nodes", "or 'endpoints' is needed, and above zero");
	if (!a->fault && f->radix == 0)
		input_fail(a, "radix", "is needed, and above zero");
	return a->fault;
}

static void put_fabric(json_t *out, const struct fabric *f, unsigned gpus)
{
	const unsigned planes = f->ask.planes;

	json_put_int(out, "gpus", gpus);
	json_put_int(out, "tiers", f->tiers);
	json_put_int(out, "su", f->units);
	json_put_int(out, "leaf", planes * f->leaves);
	json_put_int(out, "spine", planes * f->spines);
	json_put_int(out, "core", planes * f->cores);
	json_put_int(out, "switches", fabric_switches(f));
	json_put_int(out, "node_leaf", f->node_leaf);
	json_put_int(out, "node_leaf_incl_ufm", f->node_leaf);
	json_put_int(out, "leaf_spine", f->leaf_spine);
	json_put_int(out, "spine_core", f->spine_core);
	json_put_int(out, "cables", f->node_leaf + f->leaf_spine + f->spine_core);
	json_put_int(out, "uplinks_per_leaf", f->leaf_up);
	json_put_int(out, "leaf_down", f->leaf_down);
	json_put_int(out, "max_endpoints", f->most);
	json_put_str(out, "verdict", "accept");
}

int fabric_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct input a = input_of(d, in, err);
	struct fabric_ask f = {0};
	struct fabric plan;
	int rc;

	if (read_fabric(&a, &f) < 0)
		return a.fault;
	rc = fabric_plan(&f, &plan, err);
	if (rc == -E_LIMIT) { /* the question was a good one; the answer is no */
		json_put_str(out, "verdict", "reject");
		json_put_str(out, "reason", err ? err->msg : "");
		json_put_int(out, "max_endpoints",
			(json_int_t)fabric_most(
				f.radix, f.tiers ? f.tiers : 3, f.oversubscription));
		return 0;
	}
	if (rc < 0)
		return rc;
	put_fabric(out, &plan, f.nodes * input_count(&a, "gpus_per_node", 72, f.nics));
	return a.fault;
}
