/* fabric_domain - counts of switches and cables for the question 'fabric'; see domain.h. */
#pragma once

#include "inventory/design/domain.h"

/* Inputs: nodes, gpus_per_node, nics_per_node or endpoints; radix, tiers, planes, nodes_per_su,
 * ufm_ports, oversubscription, rail_optimized, fill (grow, minimal). */
int fabric_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
