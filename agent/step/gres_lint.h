/*
 * gres_lint - slurm.conf and gres.conf against each other and against a node, before Slurm is
 * restarted with them.
 *
 * gres_lint is pure: texts in, findings out. Include files of slurm.conf are not followed. What
 * Slurm would say is quoted, so that it can be looked for in its log.
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/json.h"
#include "agent/base/str.h"
#include "agent/step/step.h"

#include <stdbool.h>

struct gres_node {
	const char *name;
	const char *gpu; /* as NVML calls it; "" where it is not known */
	unsigned gpus;   /* on the PCI bus; 0 where it is not known */
};

/* Adds {level: error | warning, node, text} for each; none when all is well. */
void gres_lint(struct str slurm_conf, struct str gres_conf, const struct gres_node *node,
	json_t *findings);

/* How many a list stands for: 8 for "/dev/nvidia[0-7]"; at most 100000. */
unsigned gres_list_count(struct str list);

/* gres_lint(slurm.conf, gres.conf, node, GPU by NVML, GPUs on the bus): the findings. */
int probe_gres_lint(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err);
