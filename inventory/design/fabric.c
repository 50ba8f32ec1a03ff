/* fabric - tiers first, then pods, then the smallest even split of uplinks that fits. */
#include "inventory/design/fabric.h"

#include <math.h>
#include <string.h>

static unsigned ceil_div(uint64_t a, uint64_t b)
{
	return (unsigned)((a + b - 1) / b);
}

unsigned fabric_leaf_down(unsigned radix, double oversubscription)
{
	return (unsigned)floor(radix * oversubscription / (oversubscription + 1) + 1e-9);
}

uint64_t fabric_most(unsigned radix, unsigned tiers, double oversubscription)
{
	const uint64_t down = fabric_leaf_down(radix, oversubscription);

	if (tiers <= 1)
		return radix;
	return tiers == 2 ? radix * down : (uint64_t)radix * (radix / 2) * down;
}

static int check_ask(const struct fabric_ask *a, struct err *err)
{
	if (a->nodes == 0 || a->nics == 0)
		return err_set(err, E_SCHEMA, "a fabric needs nodes, and ports of each of them");
	if (a->radix < 2 || a->radix > FABRIC_RADIX_MAX || a->radix % 2)
		return err_set(err, E_SCHEMA,
			"a switch has an even number of ports from 2 to %u, not %u",
			FABRIC_RADIX_MAX, a->radix);
	if (a->tiers > 3)
		return err_set(err, E_SCHEMA, "a fabric has 1 to 3 tiers, not %u", a->tiers);
	if (a->planes > 8)
		return err_set(err, E_SCHEMA, "a fabric has 1 to 8 planes, not %u", a->planes);
	if (!(a->oversubscription >= 1 && a->oversubscription < a->radix))
		return err_set(err, E_SCHEMA, "an oversubscription is from 1 to below %u, not %g",
			a->radix, a->oversubscription);
	if ((uint64_t)a->nodes * a->nics + a->extra > FABRIC_ENDPOINTS_MAX)
		return err_set(
			err, E_LIMIT, "at most %u endpoints are planned", FABRIC_ENDPOINTS_MAX);
	if (a->nodes_per_unit > fabric_leaf_down(a->radix, a->oversubscription))
		return err_set(err, E_SCHEMA,
			"a unit of %u nodes is more than the %u ports of a leaf towards nodes",
			a->nodes_per_unit, fabric_leaf_down(a->radix, a->oversubscription));
	return 0;
}

/* Leaves, and how many of their ports are used down and up. */
static void plan_leaves(struct fabric *f)
{
	const struct fabric_ask *a = &f->ask;
	unsigned used;

	f->leaf_down = fabric_leaf_down(a->radix, a->oversubscription);
	if (a->rails) {
		const unsigned unit = a->nodes_per_unit ? a->nodes_per_unit : f->leaf_down;

		f->units = ceil_div(a->nodes, unit);
		while ((uint64_t)f->units * f->leaf_down * a->nics < f->endpoints)
			f->units++;
		f->ask.nodes_per_unit = unit;
		f->leaves = f->units * a->nics;
	} else {
		f->leaves = ceil_div(f->endpoints, f->leaf_down);
	}
	used = ceil_div(f->endpoints, f->leaves);
	if (a->fill == FABRIC_GROW || used > f->leaf_down)
		used = f->leaf_down;
	f->leaf_up = (unsigned)ceil(used / a->oversubscription - 1e-9);
}

/* The fewest spines that divide the uplinks of a leaf and have ports for all leaves, 0: none. */
static unsigned even_spines(unsigned leaves, unsigned uplinks, unsigned ports)
{
	for (unsigned s = 1; s <= uplinks; s++)
		if (uplinks % s == 0 && (uint64_t)leaves * (uplinks / s) <= ports)
			return s;
	return 0;
}

static int plan_two(struct fabric *f, struct err *err)
{
	f->pods = f->pods_per_rail = 1;
	f->leaves_per_pod = f->leaves;
	f->spines = f->spines_per_pod = even_spines(f->leaves, f->leaf_up, f->ask.radix);
	if (!f->spines)
		return err_set(err, E_LIMIT,
			"%u leaves with %u uplinks do not share spines of %u ports", f->leaves,
			f->leaf_up, f->ask.radix);
	f->leaf_links = f->leaf_up / f->spines;
	return 0;
}

/*
 * Cores: each spine has one cable or more to each core of its group, and a group has the same
 * number of spines of each pod. Of all such splits the one with the fewest cores.
 */
static int plan_cores(struct fabric *f, struct err *err)
{
	f->cores = 0;
	for (unsigned c = 1; c <= f->spine_up; c++) {
		const unsigned links = f->spine_up / c;
		unsigned q = (unsigned)(f->ask.radix / ((uint64_t)f->pods * links));

		if (f->spine_up % c || q == 0)
			continue;
		if (q > f->spines_per_pod)
			q = f->spines_per_pod;
		while (f->spines_per_pod % q)
			q--;
		if (f->cores && f->spines_per_pod / q * c >= f->cores)
			continue;
		f->spines_per_group = q;
		f->core_groups = f->spines_per_pod / q;
		f->cores_per_group = c;
		f->core_links = links;
		f->cores = f->core_groups * c;
	}
	if (f->cores)
		return 0;
	return err_set(err, E_LIMIT, "%u groups of leaves do not share cores of %u ports", f->pods,
		f->ask.radix);
}

static int plan_three(struct fabric *f, struct err *err)
{
	const unsigned down = f->ask.radix / 2;
	const unsigned rails = f->ask.rails ? f->ask.nics : 1;
	const unsigned of_rail = f->leaves / rails; /* without rails: all */

	f->pods_per_rail = ceil_div(of_rail, down);
	f->leaves_per_pod = ceil_div(of_rail, f->pods_per_rail);
	f->spines_per_pod = even_spines(f->leaves_per_pod, f->leaf_up, down);
	while (!f->spines_per_pod && f->leaves_per_pod > 1) {
		f->pods_per_rail++;
		f->leaves_per_pod = ceil_div(of_rail, f->pods_per_rail);
		f->spines_per_pod = even_spines(f->leaves_per_pod, f->leaf_up, down);
	}
	if (!f->spines_per_pod)
		return err_set(err, E_LIMIT, "no even split of %u uplinks over spines of %u ports",
			f->leaf_up, f->ask.radix);
	f->pods = f->pods_per_rail * rails;
	f->spines = f->pods * f->spines_per_pod;
	f->leaf_links = f->leaf_up / f->spines_per_pod;
	f->spine_up = f->leaves_per_pod * f->leaf_links;
	return plan_cores(f, err);
}

static int too_many(const struct fabric *f, unsigned tiers, struct err *err)
{
	const uint64_t most = fabric_most(f->ask.radix, tiers, f->ask.oversubscription);
	const int code = err_set(err, E_LIMIT,
		"%u endpoints do not hold in %u tier%s of %u ports: at most %llu", f->endpoints,
		tiers, tiers == 1 ? "" : "s", f->ask.radix, (unsigned long long)most);

	err_hint(err, tiers < 3 ? "plan another tier, or switches with more ports"
				: "switches with more ports, or more planes");
	return code;
}

/* The fewest tiers whose leaves, spines and cores fit; whole units may need one more. */
static int plan_tiers(struct fabric *f, struct err *err)
{
	const unsigned first = f->ask.tiers ? f->ask.tiers : 1;
	const unsigned last = f->ask.tiers ? f->ask.tiers : 3;
	struct fabric blank = *f;
	int rc = 0;

	for (unsigned t = first; t <= last; t++) {
		*f = blank;
		f->tiers = t;
		f->most = (unsigned)fabric_most(f->ask.radix, t, f->ask.oversubscription);
		if (f->endpoints > f->most) {
			rc = too_many(f, t, err);
			continue;
		}
		if (t == 1) {
			f->leaves = 1;
			f->leaf_down = f->endpoints;
			return 0;
		}
		plan_leaves(f);
		rc = t == 2 ? plan_two(f, err) : plan_three(f, err);
		if (rc == 0)
			return 0;
	}
	return rc;
}

int fabric_plan(const struct fabric_ask *ask, struct fabric *out, struct err *err)
{
	struct fabric f = {.ask = *ask};
	int rc;

	if (f.ask.planes == 0)
		f.ask.planes = 1;
	if (f.ask.oversubscription == 0)
		f.ask.oversubscription = 1;
	if (f.ask.nics == 1)
		f.ask.rails = false;
	if ((rc = check_ask(&f.ask, err)) < 0)
		return rc;
	f.endpoints = f.ask.nodes * f.ask.nics + f.ask.extra;
	if ((rc = plan_tiers(&f, err)) < 0)
		return rc;
	if (f.tiers == 1)
		f.ask.rails = false;
	f.node_leaf = f.endpoints;
	f.leaf_spine = f.leaves * f.leaf_up;
	f.spine_core = f.tiers == 3 ? f.spines * f.spine_up : 0;
	*out = f;
	return 0;
}

unsigned fabric_switches(const struct fabric *f)
{
	return f->ask.planes * (f->leaves + f->spines + f->cores);
}

unsigned fabric_switch_optics(const struct fabric *f)
{
	/* each cable between switches has two ends on switches, one of a node has one */
	return ceil_div((uint64_t)f->node_leaf + 2 * ((uint64_t)f->leaf_spine + f->spine_core), 2);
}

struct fabric_side fabric_side_of(unsigned nodes, unsigned oob_per_node, unsigned switches,
	unsigned pdus, unsigned controllers, unsigned inband_radix, unsigned oob_radix)
{
	struct fabric_side s = {
		.inband = 2 * nodes,
		.storage = 2 * nodes,
		.oob = nodes * oob_per_node + switches + pdus + controllers,
	};

	/* two of each in-band pair, so that a node has a port on both */
	s.inband_switches = inband_radix > 1 ? 2 * ceil_div(nodes, inband_radix / 2) : 0;
	s.oob_switches = oob_radix ? ceil_div(s.oob, oob_radix) : 0;
	return s;
}
