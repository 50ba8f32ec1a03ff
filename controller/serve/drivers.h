/*
 * drivers - children of the daemon that drive rollouts on whose own driver died: PROGRAM --db DB
 * run resume RUN, each with the rollout's own lock, so that none is driven twice.
 */
#pragma once

#include "agent/base/arena.h"

#include <sys/types.h>

struct err;
struct store;

#define DRIVERS_MAX 16

struct drivers {
	unsigned n;
	struct {
		pid_t pid; /* 0: it has ended */
		char run[64];
	} at[DRIVERS_MAX];
};

/* One for each rollout that is unfinished, not paused, and driven by nobody. */
int drivers_start(struct drivers *d, struct store *s, struct arena *a, struct err *err);
/* Logs those that have ended. */
void drivers_poll(struct drivers *d);
/* Ends them in order: their nodes go on, and another driver will. Waits for at most 20 s. */
void drivers_stop(struct drivers *d);
