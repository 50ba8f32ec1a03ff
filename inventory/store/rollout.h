/*
 * rollout - what the store keeps of rollouts: what was ordered, where each node stands, how it
 * came there, and what was found on it.
 *
 * A rollout is a run of mode "rollout" (store_run_add), so run list, show and locks know it; its
 * own row is beside it. A node has one row, moved with each transition; each transition is a row
 * of the history as well. As in store.h, writing functions need a transaction of the caller, so
 * many moves are one commit.
 */
#pragma once

#include "inventory/store/store.h"

struct rollout_row {
	const char *run; /* the run's id */
	/* JSON text, frozen when it begins: {policy (YAML text), params, recipes [{name, sha256}]}
	 */
	const char *order;
	bool paused; /* the driver lets nobody go; who is out comes home */
	/* What a person wants and the driver has not done: "", pause, resume, abort. Read only. */
	const char *asked;
	const char *reason; /* why it is paused or was aborted, "" */
	int64_t forgiven;   /* wall ns until which failures do not count for the breaker, 0 */
	int64_t opened;     /* wall ns at which the stage at hand was opened, 0 */
	unsigned stage;
};
/* E_NOTFOUND: there is no such run yet. */
int store_rollout_add(struct store *s, const struct rollout_row *r, struct err *err);
/* run: an exact id (store_run_find gives it). E_NOTFOUND: that run is no rollout. */
int store_rollout_get(struct store *s, struct arena *a, const char *run, struct rollout_row *out,
	struct err *err);
/* Writes paused, reason, forgiven, opened, stage; never asked, lest a newer wish is lost. */
int store_rollout_put(struct store *s, const struct rollout_row *r, struct err *err);
/*
 * Only asked, by anyone beside the driver: pause, resume or abort; the newest wish holds, but an
 * abort is not taken back. E_STATE when the run has ended or is being aborted.
 */
int store_rollout_ask(
	struct store *s, const char *run, const char *asked, const char *by, struct err *err);
/* "" when nobody wants anything. Cheap to look at every 100 ms. */
int store_rollout_asked(struct store *s, struct arena *a, const char *run, const char **asked,
	const char **by, struct err *err);
/* The driver has done what was asked: forgets it, unless something else was asked meanwhile. */
int store_rollout_answered(struct store *s, const char *run, const char *asked, struct err *err);

struct rollout_node_row {
	int64_t node;
	const char *name;
	const char *state;     /* a word of NODE_STATES (controller/rollout/stages.h) */
	int64_t since;         /* wall ns of its last move */
	unsigned stage;        /* 0: canary */
	unsigned tries;        /* of this state, from 0 */
	const char *fence;     /* JSON text: what the scheduler said before we came; "" */
	const char *reason;    /* why it is where it is, for people; "" */
	const char *hint;      /* "" */
	const char *signature; /* of a failure: those alike have the same; "" */
};
struct rollout_node_rows vec(struct rollout_node_row);
/* How many of the run's nodes are in each state, without reading them all. */
struct rollout_count {
	const char *state;
	unsigned n;
};
struct rollout_counts vec(struct rollout_count);
int store_rollout_counts(struct store *s, struct arena *a, const char *run,
	struct rollout_counts *out, struct err *err);
/* All nodes of the run, by id, as they were put. */
int store_rollout_nodes(struct store *s, struct arena *a, const char *run,
	struct rollout_node_rows *out, struct err *err);

struct rollout_move {
	int64_t node;
	const char *from, *event, *to; /* words; event "" at the first row of a node */
	const char *why, *hint;        /* "" */
	int64_t at;                    /* wall ns */
	int64_t id;                    /* grows in the order of the moves; filled when read */
};
struct rollout_moves vec(struct rollout_move);
/* The node's row (inserted or replaced) and one row of history. */
int store_rollout_move(struct store *s, const char *run, const struct rollout_node_row *now,
	const struct rollout_move *m, struct err *err);
/* The node's row alone: a try more, what the fence was, a word of what is waited for. */
int store_rollout_node_put(
	struct store *s, const char *run, const struct rollout_node_row *now, struct err *err);
/* In the order in which they happened; node 0: of all. */
int store_rollout_moves(struct store *s, struct arena *a, const char *run, int64_t node,
	struct rollout_moves *out, struct err *err);
/* Of all nodes, id > after, at most ROLLOUT_MOVES_MAX; call again with the last id for more. */
#define ROLLOUT_MOVES_MAX 10000
int store_rollout_moves_after(struct store *s, struct arena *a, const char *run, int64_t after,
	struct rollout_moves *out, struct err *err);

/* The orders a node was given: its results in the parts of the rollout, in the order they began. */
struct rollout_given {
	const char *run, *mode; /* "R-apply-2", "apply" */
	int64_t started;        /* of the part, wall ns */
	struct node_result result;
};
struct rollout_orders vec(struct rollout_given);
int store_rollout_orders(struct store *s, struct arena *a, const char *run, int64_t node,
	struct rollout_orders *out, struct err *err);
/* Journal records of the node in all parts; at most STORE_EVENTS_MAX, the newest of them. */
struct rollout_event {
	const char *run; /* the part */
	json_t *record;  /* a new reference, the caller's */
};
struct rollout_events vec(struct rollout_event);
int store_rollout_events(struct store *s, struct arena *a, const char *run, int64_t node,
	struct rollout_events *out, struct err *err);

/* Files beside the database: DB-folder/evidence/RUN/NODE/NAME, all three names by str_is_name. */
#define EVIDENCE_BYTES_MAX ((size_t)4 << 20) /* of one file */
#define EVIDENCE_FILES_MAX 64                /* of a node in one run */
struct evidence_row {
	int64_t node, at; /* wall ns */
	const char *name, *path, *sha256;
	size_t bytes;
};
struct evidence_rows vec(struct evidence_row);
/* Writes the file (0600, atomic) and its row; the same name again replaces it. Takes its own
 * transaction when none is open. E_LIMIT past the caps; E_NOSPACE leaves the older file. */
int store_evidence_put(struct store *s, const char *run, int64_t node, const char *node_name,
	const char *name, struct str bytes, struct err *err);
int store_evidence(struct store *s, struct arena *a, const char *run, int64_t node,
	struct evidence_rows *out, struct err *err);
