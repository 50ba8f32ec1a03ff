/* tool - the node's own programs, run inside the root that is changed. */
#pragma once

#include "agent/base/proc.h"
#include "agent/step/step.h"

#define TOOL_TIMEOUT (120 * INT64_C(1000000000))

/* Runs argv with output merged; env NULL: the clean one. The caller frees res on success. */
int tool_run(const struct step_env *env, const char *const *argv, const char *const *vars,
	int64_t timeout, struct proc_result *res, struct err *err);
/* The same, and it must end with status 0; tool_must within TOOL_TIMEOUT. */
int tool_must_within(
	const struct step_env *env, const char *const *argv, int64_t timeout, struct err *err);
int tool_must(const struct step_env *env, const char *const *argv, struct err *err);
/* The last n lines of text, blank ones dropped, joined by "; ". */
void tool_tail(struct str text, unsigned n, struct buf *out);
/* Is the program in one of the usual folders of the root? */
bool tool_is_there(const struct step_env *env, const char *name);
