/*
 * drive - a rollout from its first node to its last: each node through the states of stages.h, by
 * the leave of rollout.h.
 *
 * Pure but for its world: no clock, no store, no network. The core decides which state a node is
 * in; the world is told to make each move durable (moves of one turn are committed before anything
 * is begun that follows from them) and only then to begin what the new state asks for, and says
 * later what came of it. After a crash the same core is given the rows of the store and enters each
 * node's state again (again = true): actions are asked after, never assumed. The simulator and the
 * real controller are two worlds. See README.md of this room.
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
 *	soak       the drive waits policy.soak_node; then verify once more   OK, FAILED
 *	rollback   fence closed, undo, restart if the way there had one, facts as before, fence
 *	           opened                                     OK, FAILED, TIMEOUT
 *	released   fence opened if it was ours
 *	quarantined, unreachable, rejected ...: at rest; evidence is collected
 *
 * The drive times every action by policy.timeouts and tells TIMEOUT itself; wait-jobs and rebooting
 * are the world's to end (it knows of jobs and power cycles), with a net one minute behind. A
 * failed preflight or staging is tried again, policy.retry times. Nobody goes from staged to
 * cordoned while the window is closed: who was late stands ready, unfenced, until it opens. Those
 * of a unit wait for each other in staged, drained, verify and soak, and fall back together.
 */
#pragma once

#include "controller/rollout/rollout.h"
#include "controller/rollout/stages.h"

/* ns: before a try more; what an action has at least after a crash; for nodes of others that hold
 * all of ours; that the world is late with the ends that are its own. */
#define DRIVE_RETRY_WAIT (10 * INT64_C(1000000000))
#define DRIVE_AGAIN_WAIT (120 * INT64_C(1000000000))
#define DRIVE_STUCK_WAIT (600 * INT64_C(1000000000))
#define DRIVE_NET        (60 * INT64_C(1000000000))

struct drive;

/* What is known of a node's end or try, borrowed during the call. signature: those that failed in
 * the same way have the same; without names, times and numbers of the node. */
struct drive_word {
	const char *why, *hint, *signature; /* NULL: none */
};

/*
 * from == to is no transition, and no row of the history: a try more (on: how the one before
 * ended), or a word of why a node is left out when the rollout ends (eligible, EVENT_SKIP).
 */
struct drive_move {
	size_t node;
	enum node_state from, to;
	enum node_event on;
	unsigned tries;
	struct drive_word word; /* why is there always */
	int64_t wall;           /* ns */
};

struct drive_world {
	void *ctx;
	/* A negative answer ends drive_turn with it, and every turn after: nothing may happen that
	 * is not kept. */
	int (*move)(void *ctx, const struct drive_move *m, struct err *err);
	int (*commit)(void *ctx, struct err *err);
	/* Begins the state's action; ends by drive_tell, later or from within. Of states at rest
	 * too: what is to be so from then on (fence, evidence), nothing is told of it. */
	void (*enter)(void *ctx, size_t node, enum node_state state, unsigned tries, bool again);
	/* The action has not told its end, and its time is over or a person turned it back: what is
	 * under way is given up, and what it wanted of the fence: a late end changes nothing. */
	void (*leave)(void *ctx, size_t node, enum node_state state);
	/* Whether somebody else has the node now; asked once a turn of those who wait and of those
	 * who are back (which count as unavailable then). NULL: never. */
	bool (*is_away)(void *ctx, size_t node, char why[static 200]);
};

enum drive_asked {
	DRIVE_GO,
	DRIVE_PAUSE, /* nobody new, nobody from staged to cordoned; who is out comes home */
	DRIVE_ABORT  /* nobody new; who can turn back does, the others go on to an end. For good. */
};

/* policy and r are borrowed; r is played by the drive alone from now on. */
struct drive *drive_new(const struct rollout_policy *policy, struct rollout *r, size_t n,
	const struct drive_world *world);
void drive_free(struct drive *d);
/* Of a rollout that is gone on with, before drive_place: the stage that was open, and until when
 * failures are forgiven (ns of the clock that turns are given; INT64_MIN: none is). */
void drive_resume(struct drive *d, unsigned stage, int64_t forgiven);
/* Before the first turn, of a rollout that is gone on with: where the node stood (since: ns of the
 * clock that turns are given, before now or even negative). */
void drive_place(struct drive *d, size_t node, enum node_state state, unsigned tries, int64_t since,
	const struct drive_word *word);
/* What came of the state's action. Of a state that the node has left, or a second time, it is
 * passed over. False: there is no such way in stages.h; nothing is done: a bug of the world's. */
bool drive_tell(struct drive *d, size_t node, enum node_state state, enum node_event on,
	const struct drive_word *word);
/* What the state's action waits for at the moment ("job 4711 until 18:00"), for drive_waits; gone
 * when the state is left. NULL: nothing in particular. */
void drive_note(struct drive *d, size_t node, enum node_state state, const char *words);
void drive_ask(struct drive *d, enum drive_asked asked, const char *why);
/* A person has looked: the breaker is closed again. */
void drive_forgive(struct drive *d);
/* Moves, commits, enters and admits until nothing more is to be done at this time. */
int drive_turn(struct drive *d, int64_t now, int64_t wall, struct err *err);
/* The next time at which a turn may do something though nothing is told and nobody comes back from
 * being away; INT64_MAX: none. In the past when something was told or asked since the last turn. */
int64_t drive_next(const struct drive *d);
/*
 * As of the last turn: every node is at rest, or nobody may go any more: paused with nobody under
 * way, or the rest is away, or held for good by nodes that failed (those are told why in their
 * rows). While the breaker is open and drained nodes wait for a person, it is not over.
 */
bool drive_is_over(const struct drive *d);
/* Paused by the breaker or a person: why, NULL while it goes on. */
const char *drive_paused(const struct drive *d);
unsigned drive_stage(const struct drive *d); /* the latest that is open; 0: canaries */
enum node_state drive_state(const struct drive *d, size_t node);
int64_t drive_since(const struct drive *d, size_t node);
/* What the node waits for, in words: a limit with its figures, a job, a deadline. */
void drive_waits(const struct drive *d, size_t node, struct buf *words);
