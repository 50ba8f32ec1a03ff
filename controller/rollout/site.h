/*
 * site - the nodes of a rollout with the domains that the inventory puts them into.
 *
 * rack, feed (each one that a cord of the device ends at), leaf (each switch that
 * a cable of it ends at, InfiniBand or Ethernet but for rj45, which is management), type, role, os,
 * location; and each variable of the node that is one word, number or truth value, by its name
 * (partition, nvlink_domain, mirror ...).
 */
#pragma once

#include "controller/fleet/range.h"
#include "controller/rollout/rollout.h"

/*
 * One rollout_node for each of nodes, in their order, in the arena. m may be NULL: then only what
 * the node's own row says is known. *devices gets each node's row in m->devices, MODEL_NONE for
 * none.
 */
int rollout_site(struct arena *a, const struct model *m, const struct node_refs *nodes,
	struct rollout_node **out, size_t **devices, struct err *err);
