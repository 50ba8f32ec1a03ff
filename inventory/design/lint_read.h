/* lint_read - facts for lint.h from a map of YAML, and the question 'lint'; see domain.h. */
#pragma once

#include "inventory/design/domain.h"
#include "inventory/design/lint.h"

/* Keys are the fields of struct lint_facts, and those of people: node ("8x L40S"),
 * claimed_interconnect, gpus_per_node, total_vram_gb, measured_write ("not published"). */
int lint_read(const struct yaml_doc *d, const struct yaml_node *in, struct arena *a,
	struct lint_facts *out, struct err *err);
/* Every key that lint_read reads, NULL-terminated, in a. */
const char *const *lint_keys(struct arena *a);
/* verdict, reason of the worst finding, states_gb, findings. */
int lint_answer(const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
