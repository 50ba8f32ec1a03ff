/* collective_domain - bus bandwidths and times for the question 'collectives'; see domain.h. */
#pragma once

#include "inventory/design/domain.h"

/* Inputs: gpu, gpus or ranks, nodes, nics ("8xNDR400" or a count with nic_gbps), op, size or bytes,
 * algbw_gbs, busbw_gbs, link; or variants with step_ms_sxm and params. */
int collective_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
