/*
 * run_lock - a run's id, and a file lock that lives as long as the process that drives it.
 */
#pragma once

#include "agent/base/arena.h"

struct err;
struct store;

/* "20261130-223107-a1b2c3". */
int run_make_id(char out[static 64], struct err *err);
/* E_BUSY when another process has it. */
int run_lock_take(struct store *s, struct arena *a, const char *id, int *fd, struct err *err);
/* Whether a process has it; true when that cannot be told. */
bool run_lock_is_held(struct store *s, struct arena *a, const char *id);
/* fd -1 is fine. */
void run_lock_drop(struct store *s, struct arena *a, const char *id, int fd);
