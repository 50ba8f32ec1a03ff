/*
 * package_undo - what was installed before, and the way back to it.
 *
 * before is the list of all packages, kept as bytes under its hash beside the
 * other kept files, and our holds. after (nothing is kept then) names what the
 * transaction changed. Undo takes back just that: other packages that came or
 * went meanwhile stay.
 */
#pragma once

#include "agent/step/packager.h"

/* transaction_run, remembering what it changed. */
int package_undo_watch(struct step_env *env, const struct packager *p, struct transaction *t,
	struct step_report *rep, struct err *err);
int package_before(struct step_env *env, const json_t *args, json_t **out, struct err *err);
int package_undo(struct step_env *env, const json_t *args, const json_t *before,
	const json_t *after, struct step_report *rep, struct err *err);
