/*
 * repeat - tells of steps that change something in two applies running.
 *
 * Same files, parameters, variables and node, and a step that was changed and
 * was as wanted when it was checked again, changes once more in the next apply:
 * then it undoes itself, or somebody undoes it. Its recipe is called defective
 * by a record; what was changed last stands in STATE/repeat/RECIPE.json, which
 * goes with the first apply that has nothing to do. A lost or torn file only
 * costs one such word, so it is not synced.
 */
#pragma once

#include "agent/base/json.h"

struct execution;

/* The recipe at hand has come to its end in an apply. */
void repeat_judge(struct execution *x, const json_t *params);
