/*
 * drive - a rollout from its first node to its last: each node through the states of stages.h, by
 * the leave of rollout.h.
 *
 * Pure but for its world: no clock, no store, no network. The core decides which state a node is
 * in; the world is told to make each move durable (moves of one turn are one commit) and only then
 * to begin what the new state asks for, and says later what came of it. After a crash the same
 * core is given the rows of the store and enters each node's state again (again = true): actions
 * are asked after, never assumed. The simulator and the real controller are two worlds.
 *
 *	state      its action, the world's to do              ends by
 *	preflight  plan of all recipes, facts before          OK changes, SKIP none, FAILED, TIMEOUT
 *	staged     packages fetched, nothing installed        OK, SKIP (nobody to fence), FAILED
 *	cordoned   fence closed by our mark                   OK, FAILED (somebody else has it)
 *	wait-jobs  until no job runs; at the deadline by policy   OK, TIMEOUT
 *	drained    evicted; who still holds a GPU             OK, FAILED
 *	quiesced   apply                                      OK (ended, or goes down now), FAILED
 *	installed  none: OK when it goes down, SKIP when the apply ended without
 *	rebooting  until another boot id answers              OK, TIMEOUT, FAILED
 *	services   until the apply has ended                  OK, FAILED
 *	verify     check of all recipes: validators           OK, FAILED
 *	returned   fence opened if it was ours                OK, TIMEOUT
 *	soak       waits policy.soak_node, then verify once more   OK, FAILED
 *	rollback   fence closed, undo, restart if the way there had one, facts as before, fence
 *	           opened                                     OK, FAILED, TIMEOUT; SKIP by policy
 *	quarantined, unreachable, rejected ...: at rest; evidence is collected
 */
#pragma once

#include "controller/rollout/rollout.h"
#include "controller/rollout/stages.h"

struct drive;

/* What is known of a node's end or try, borrowed during the call. */
struct drive_word {
	const char *why, *hint, *signature; /* NULL: none */
};

struct drive_move {
	size_t node;
	enum node_state from, to;
	enum node_event on;
	unsigned tries;
	struct drive_word word;
	int64_t wall; /* ns */
};

struct drive_world {
	void *ctx;
	/* A negative answer ends drive_turn with it: nothing may happen that is not kept. */
	int (*move)(void *ctx, const struct drive_move *m, struct err *err);
	int (*commit)(void *ctx, struct err *err);
	/* Begins the state's action; ends by drive_tell, later or from within. */
	void (*enter)(void *ctx, size_t node, enum node_state state, unsigned tries, bool again);
	/* The state was left or its time is over: what is under way is given up. */
	void (*leave)(void *ctx, size_t node, enum node_state state);
	/* Whether somebody else has the node now; asked of those who wait, before each admission.
	 */
	bool (*is_away)(void *ctx, size_t node, char why[static 200]);
};

enum drive_asked {
	DRIVE_GO,
	DRIVE_PAUSE, /* nobody new; who is out comes home */
	DRIVE_ABORT  /* the same, and who can turn back does */
};

/* policy and r are borrowed; r is played by the drive alone from now on. */
struct drive *drive_new(const struct rollout_policy *policy, struct rollout *r, size_t n,
	const struct drive_world *world);
void drive_free(struct drive *d);
/* Before the first turn, of a rollout that is gone on with: where the node stood (since: ns of the
 * clock that turns are given). */
void drive_place(struct drive *d, size_t node, enum node_state state, unsigned tries, int64_t since,
	const struct drive_word *word);
/* What came of the state's action; of a state that the node has left it is passed over. */
void drive_tell(struct drive *d, size_t node, enum node_state state, enum node_event on,
	const struct drive_word *word);
void drive_ask(struct drive *d, enum drive_asked asked, const char *why);
/* A person has looked: the breaker is closed again. */
void drive_forgive(struct drive *d);
/* Moves, commits, enters and admits until nothing more is to be done at this time. */
int drive_turn(struct drive *d, int64_t now, int64_t wall, struct err *err);
/* The next time at which a turn may do something though nothing is told; INT64_MAX: none. */
int64_t drive_next(const struct drive *d);
bool drive_is_over(const struct drive *d); /* every node is at rest, or nobody may go any more */
/* Paused by the breaker or a person: why, NULL while it goes on. */
const char *drive_paused(const struct drive *d);
enum node_state drive_state(const struct drive *d, size_t node);
int64_t drive_since(const struct drive *d, size_t node);
/* What the node waits for, in words: a limit with its figures, a job, a deadline. */
void drive_waits(const struct drive *d, size_t node, struct buf *words);
