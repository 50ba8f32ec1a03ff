/*
 * ground - what a rollout stands on: nodes with their domains, circuits, and the planner over both.
 */
#pragma once

#include "controller/rollout/power.h"
#include "controller/rollout/site.h"

struct store;

struct ground {
	struct model *m;
	struct rollout_node *nodes;
	size_t *devices;
	struct audit audit;
	struct rollout_circuits *circuits;
	struct rollout *plan;
};

/*
 * site NULL: that of the nodes, which then must be of one. basis: what those draw who stay. nodes
 * and policy are borrowed; give it to ground_done in any case.
 */
int ground_make(struct arena *a, struct store *s, const char *site, enum power_basis basis,
	const struct node_refs *nodes, const struct rollout_policy *policy, struct ground *out,
	struct err *err);
void ground_done(struct ground *g);
