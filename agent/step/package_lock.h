/*
 * package_lock - waits until nobody else changes packages.
 *
 * Only looks at the locks (fcntl) and never takes or removes one.
 */
#pragma once

#include "agent/step/step.h"

/*
 * paths: a NULL-terminated list of lock files. E_BUSY, naming the program and its pid, when one of
 * them is still held after wait seconds.
 */
int package_lock_wait(
	const struct step_env *env, const char *const *paths, int64_t wait, struct err *err);
