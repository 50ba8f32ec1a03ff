/* tco_domain - costs for the question 'tco'; see domain.h. */
#pragma once

#include "inventory/design/domain.h"

/* it_kw, pue, usd_per_kwh, load; capex_usd, years, utilisation, target, claimed_usd_per_year;
 * support_pct, staff_usd_per_year ...; annual_tco_usd, gpus; usd_per_gpu_hour,
 * output_tokens_per_s. Each answer needs its own. */
int tco_answer(const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
