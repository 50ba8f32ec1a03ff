/*
 * world_priv - a rollout in memory, shared by world.c (its life), world_enter.c (what a state
 * begins), world_tell.c and world_back.c (what came of it), world_call.c (orders), world_store.c
 * (rows), world_facts.c (what is read from facts).
 */
#pragma once

#include "agent/base/err.h"
#include "controller/fence/fence.h"
#include "controller/fence/program.h"
#include "controller/fleet/crew.h"
#include "controller/rollout/ground.h"
#include "controller/rollout/world.h"
#include "inventory/store/rollout.h"

/* Evidence that a node's power was cycled, and what the program said. */
#define CYCLE_FILE "power-cycle.txt"
/* What it was before, what a rollback is judged by, and what it was after that. */
#define FACTS_BEFORE "facts-before.json"
#define FACTS_AFTER  "facts-after.json"

/* Orders by what they are for: each has tries of its own, so that none is mistaken for another. */
enum call {
	CALL_PLAN,
	CALL_BEFORE, /* facts, for the way back */
	CALL_STAGE,
	CALL_HOLDERS, /* facts: who holds a GPU */
	CALL_APPLY,
	CALL_VERIFY,
	CALL_WATCHED, /* the same after the soak */
	CALL_FAILURE, /* evidence, before anything is taken back */
	CALL_UNDO,
	CALL_AFTER, /* facts after it */
	CALL_EVIDENCE,
	CALL_N
};

struct answer {
	bool there;
	enum call call;
	bool heard; /* in the agent's own words, not of a link that failed */
	enum step_result state;
	char *reason, *hint;
	json_t *facts;
};

/* The first step that failed, or is not as it is meant to be. */
struct fault {
	char what[200], why[240], hint[240];
	char signature[160]; /* "" : there is none */
};

struct world_node {
	enum node_state state, row_state; /* where its action is; as kept */
	int64_t since;                    /* wall ns of its last move */
	unsigned tries, phase;
	bool at_work;    /* its state was begun, and has not told its end */
	bool again;      /* ... and had been begun by a driver that died */
	int64_t entered; /* mono ns */
	/* the order under way, and the one that waits for its end */
	bool calling, ignored, waiting;
	enum call call, next;
	unsigned given[CALL_N]; /* by this driver */
	struct answer answer;
	struct fault fault;
	bool down, back; /* of the apply: it went for its restart, another boot id answers */
	bool met;        /* it has answered once */
	bool moved_jobs, asked_restart;
	bool listed;   /* in busy */
	bool settled;  /* at rest, and nothing more is done for it */
	bool cycled;   /* its power was cycled, or is */
	int64_t up_at; /* it answered, and had not restarted yet; 0: it did not */
	char *memory, *reason, *hint, *signature; /* of its row; NULL: "" */
	char *waits;                              /* as last written */
};

struct told_move {
	struct drive_move move;
	char *why, *hint;
};

struct world {
	struct store *store;
	const struct keys *keys;
	const struct rollout_opts *opts;
	struct rollout_outcome *out;
	struct arena *arena;
	struct frozen own; /* of a rollout that is gone on with */
	const struct frozen *order;
	struct node_rows rows;
	struct node_refs refs;
	struct ground ground;
	struct fence *fence; /* NULL: nobody is to be kept off */
	struct crew *crew;
	struct drive *drive;
	const char *run, *order_text;
	struct world_node *at;
	size_t n;
	struct vec(size_t) busy; /* nodes with something under way; may hold a node no more so */
	struct vec(struct told_move) moved; /* of this turn; told when committed */
	struct program cycle;               /* power cycles, one at a time */
	size_t cycled;                      /* whose it is */
	int64_t now, wall, began, turned, looked, written;
	bool heard; /* the scheduler, once */
	size_t write_next;
	bool row_paused;
	char row_reason[240], ask_reason[240];
	unsigned row_stage;
	int64_t forgiven, row_forgiven, opened; /* wall ns */
	bool aborted, ended, stopped;
	struct err broken;
};

/* --- world_call.c --- */
/* Gives the order as soon as no other is under way. */
void world_call(struct world *w, size_t i, enum call call);
/* What is under way is given up, and its end passed over. */
void world_drop(struct world *w, size_t i);
/* Orders that wait for the end of others. */
void world_pump(struct world *w, size_t i);
bool world_is_good(const struct answer *a);
void world_answer_clear(struct answer *a);
void world_crew_event(void *ctx, size_t i, enum order_mode mode, const json_t *record);
void world_crew_done(void *ctx, size_t i, enum order_mode mode, const struct node_result *result,
	const json_t *facts);
void world_crew_evidence(void *ctx, size_t i, const char *name, struct str bytes);

/* --- world_enter.c: for drive_world --- */
void world_enter(void *ctx, size_t i, enum node_state state, unsigned tries, bool again);
void world_leave(void *ctx, size_t i, enum node_state state);
bool world_is_away(void *ctx, size_t i, char why[static 200]);
/* Whether there is a scheduler, and it knows the node. */
bool world_has_fence(const struct world *w, size_t i);

/* --- world_tell.c --- */
/* Looks at what came of the node's action, tells the drive, or begins the next part of it. */
void world_look(struct world *w, size_t i);
/* The node's action has ended so; a way that stages.h has not is our bug and ends the rollout. */
void world_tell(struct world *w, size_t i, enum node_event on, const char *why);
void world_tell_word(struct world *w, size_t i, enum node_event on, const char *why,
	const char *hint, const char *signature);
/* An order that failed: the agent's reason, or the first step that it told of. */
void world_tell_failure(struct world *w, size_t i, enum node_event on);
void world_note(struct world *w, size_t i, const char *words); /* what is waited for */
const struct fence_view *world_view(const struct world *w, size_t i);
void world_keep_facts(struct world *w, size_t i, const char *name);
void world_move_jobs(struct world *w, size_t i); /* once, by the policy */
/* Whether the node is no longer kept off by us: it is open, or somebody else keeps it now (why). */
bool world_is_given_back(struct world *w, size_t i, char why[static 200]);

/* --- world_back.c --- */
void world_look_rollback(struct world *w, size_t i);
void world_look_at_rest(struct world *w, size_t i);

/* --- world_store.c --- */
int world_move(void *ctx, const struct drive_move *m, struct err *err);
int world_commit(void *ctx, struct err *err);
/* Whether it has been in this state in this run, whoever drove. */
bool world_was_in(struct world *w, size_t i, enum node_state state);
/* The rollout's own row, when it is another one now. */
int world_put_row(struct world *w, struct err *err);
/* The run and all its nodes, of a new rollout. */
int world_add(struct world *w, struct err *err);
/* By node, for bsearch: as the store gives them. */
int world_compare_rows(const void *a, const void *b);
/* Where all nodes stood. */
int world_restore(struct world *w, struct err *err);
/* What a person asked for by another process. */
int world_hear(struct world *w, struct err *err);
int world_write_waits(struct world *w, struct err *err);
/* Of a node at rest that its scheduler was not brought to take back: told in its row. */
void world_say_kept_off(struct world *w, size_t i, const char *trouble);
int world_end(struct world *w, struct err *err);
void world_keep_evidence(struct world *w, size_t i, const char *name, struct str bytes);
/* A file of the node's evidence; E_NOTFOUND. */
int world_read_evidence(
	struct world *w, size_t i, const char *name, struct buf *out, struct err *err);

/* --- world_facts.c --- */
/* The first process on a GPU that is none of those that belong there. */
bool facts_find_holder(const json_t *facts, char out[static 200]);
/* What of the GPUs is not as it was; false: all is. */
bool facts_differ(const json_t *before, const json_t *after, char out[static 200]);
