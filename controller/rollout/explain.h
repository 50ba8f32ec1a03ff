/*
 * explain - a rollout foretold: who goes when, and what the others wait for.
 *
 * The rollout's own code in virtual time: each node takes the same time, is then
 * watched as long as the policy says, and none fails. The breaker, foreign drains
 * and jobs that never end cannot be foretold.
 */
#pragma once

#include "agent/base/vec.h"
#include "controller/rollout/rollout.h"

struct explain_held {
	size_t n;        /* how many wait for this limit */
	size_t first;    /* the first of them */
	const char *why; /* with its figures, in the arena; of the first */
};

struct explain_turn {
	int64_t at;              /* ns from the start */
	unsigned stage;          /* of those who go, the latest */
	size_t first, n;         /* in who */
	size_t waiting;          /* behind them */
	enum rollout_limit held; /* what holds back the first who waits; LIMIT_NONE: nobody waits */
	const char *why;         /* in words, in the arena */
	struct explain_held by_limit[LIMIT_N];
};

struct explanation {
	struct vec(struct explain_turn) turns;
	struct vec(size_t) who; /* nodes in the order in which they go */
	int64_t took;           /* until the last one is back; it may be watched then */
	size_t never;           /* nodes that a limit holds for ever */
	const char *never_why;
};

/* r is played to its end. wall: when it begins, for the window. Free with explain_done. */
void explain_make(struct arena *a, struct rollout *r, size_t n, int64_t takes, int64_t wall,
	struct explanation *out);
void explain_done(struct explanation *e);
