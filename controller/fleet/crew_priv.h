/* crew_priv - what crew.c (nodes, calls, the loop) and crew_runs.c (the runs they belong to) share.
 */
#pragma once

#include "agent/base/vec.h"
#include "controller/fleet/crew.h"
#include "controller/fleet/fleet_priv.h"

/* Where a node stood in a run, as far as it is kept. */
struct crew_past {
	int64_t seen;   /* last sequence number */
	bool rebooting; /* it said so last */
	int64_t within; /* seconds, of that; 0 unknown */
	char boot_id[NONCE_MAX];
};

/* One run of the store: NAME-MODE or NAME-MODE-K. */
struct crew_run {
	struct fleet fleet;
	struct fleet_opts opts;
	struct fleet_outcome out;
	unsigned try;
	unsigned n_nodes;       /* that were called */
	bool counted;           /* the store knows of n_nodes */
	bool interrupted;       /* orders were under way at the end */
	bool *given;            /* by node: in this process */
	struct crew_past *past; /* by node; NULL: nothing is known */
};
struct crew_runs vec(struct crew_run *);

enum node_order {
	NODE_IDLE,
	NODE_CALLED, /* its link is not begun yet */
	NODE_BUSY,
	NODE_ENDED /* its result is to be told */
};

struct crew_end {
	struct node_result result; /* its words lie behind the struct */
	char plan_hash[HASH_HEX];
};

struct crew_node {
	enum node_order state;
	bool held;            /* its lease is ours */
	bool met;             /* it was reached once */
	struct crew_end *end; /* while ENDED */
	json_t *facts;        /* of an order that is under way or has ended */
};
struct crew_list vec(size_t);

struct crew {
	struct hub hub;
	struct crew_opts opts;
	struct fleet_opts common; /* of all runs */
	size_t n;
	struct task *tasks;
	struct crew_node *at;
	struct crew_list called, ended;
	struct crew_runs runs;
	int lock; /* of the rollout */
	int64_t committed;
};

/* --- crew_runs.c; the store's part needs the open group --- */
/* That run; it is made, or opened again, when it is called for first. */
int crew_run_of(
	struct crew *c, enum order_mode mode, unsigned try, struct crew_run **out, struct err *err);
/* The node is in it now. E_STATE when it was before, and is not asked about again. */
int crew_run_join(struct crew *c, struct crew_run *run, size_t node, bool again, struct err *err);
/* What is to be known if the same order is asked about again. */
void crew_run_remember(struct crew *c, struct crew_run *run, size_t node, const struct task *t);
/* How many nodes each has, into the store. */
void crew_runs_count(struct crew *c);
void crew_runs_end(struct crew *c);
void crew_runs_unlock(struct crew *c);
void crew_runs_free(struct crew *c);
