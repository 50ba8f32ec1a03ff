/*
 * world - a rollout over real nodes: the drive's moves kept in the store, its actions done by
 * agents, a scheduler and clocks.
 *
 * What the rollout was told to do is frozen when it begins (frozen.h). Every move is committed
 * before anything is begun that follows from it; the scheduler's marks and the nodes' own journals
 * say the rest. So a driver may be killed at any moment, and another one goes on. One drives a
 * rollout at a time (a lock); other processes ask it through the store (pause, resume, abort).
 */
#pragma once

#include "controller/fleet/fleet.h"
#include "controller/rollout/drive.h"
#include "controller/rollout/frozen.h"

/* A rollout_row.reason that begins so is a person's pause; others are the breaker's. */
#define ROLLOUT_PAUSED_BY "paused by "

struct rollout_opts {
	const char *run; /* one that is gone on with; NULL: a new one */
	/* Of a new one; the other has them in the store. */
	const struct frozen *order;
	const struct node_refs *nodes;
	const char *nodes_text; /* as typed */

	const char *by;
	bool forgive; /* a person has looked at what broke: the breaker is closed again */
	/* Values for parameters of type secret; *out may stay NULL. The callee's to keep until
	 * rollout_drive returns. */
	int (*secrets)(void *ctx, const struct pack_recipe *recipes, unsigned n,
		const struct secrets **out, struct err *err);
	const char *kex;
	int64_t connect_timeout, patience;      /* ns, 0: the fleet's own */
	int64_t look_every;                     /* ns, 0: the fence's own */
	const struct link_transport *transport; /* NULL: SSH */
	void *ctx;                              /* all may be NULL */
	/* The run is in the store. */
	void (*began)(void *ctx, const char *run);
	/* After it was committed. */
	void (*moved)(void *ctx, const struct node_row *node, const struct drive_move *m);
	/* Twice a second. */
	void (*turn)(void *ctx, const struct drive *d);
};

struct rollout_outcome {
	char id[64];
	size_t n, states[STATE_N]; /* nodes by where they stand */
	size_t unreached;          /* of those rejected: they could not be reached */
	bool stopped;              /* by a signal */
	bool aborted;
	char paused[240]; /* why it stands still; "" */
	int64_t took;
};

/*
 * Negative only when it could not begin, or nothing more can be kept; else the outcome tells.
 * E_BUSY: another process drives it. E_STATE: it has come to its end.
 */
int rollout_drive(struct store *s, const struct keys *k, const struct rollout_opts *o,
	struct rollout_outcome *out, struct err *err);
/* Whether nodes are on their way that only a driver brings home: not those that have changed
 * nothing and stand at the gate. */
int rollout_is_under_way(
	struct store *s, struct arena *a, const char *run, bool *out, struct err *err);
/* Those that nobody drives and that may be gone on with unasked: not paused, or broken off while
 * nodes were under way, which then come home and no others go. Ids live in a. */
int rollout_unfinished(
	struct store *s, struct arena *a, const char ***runs, size_t *n, struct err *err);
