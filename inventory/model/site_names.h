/*
 * site_names - the whole inventory as recipes see it, under site.* of expressions and templates.
 *
 *	name
 *	nodes     [{name, address, role, rack, location, type, status, gpus, gpu, leaf: switch,
 *	           leaves: [switch]}]
 *	racks     [{name, location}]
 *	switches  [{name, kind: infiniband | ethernet, level: leaf | spine | core,
 *	           nodes: [node], switches: [switch]}]
 *
 * Sorted by name. What is not stated is "" or 0. A leaf is a switch with nodes on it; a spine has
 * leaves, a core has spines only. 'leaf' is the first of a node's leaves, InfiniBand before
 * Ethernet: by it the nodes make a tree also where each rail has a leaf of its own. Ports for
 * management (rj45, BMC) do not count.
 */
#pragma once

#include "agent/base/json.h"
#include "inventory/model/model.h"

/* A new reference. */
json_t *site_names(const struct model *m);
