/*
 * fleet_priv - one run in memory, shared by fleet.c (its life), fleet_task.c (one node's way
 * through it), fleet_message.c (what the node says), fleet_order.c (what is sent),
 * fleet_params.c (with which parameters) and fleet_record.c (what is stored).
 */
#pragma once

#include "agent/base/err.h"
#include "agent/wire/frame.h"
#include "agent/wire/message.h"
#include "agent/wire/redact.h"
#include "controller/fleet/fleet.h"
#include "controller/fleet/run_lock.h"
#include "controller/ssh/link.h"

#define AGENT_COMMAND "/opt/stoika/agent/bin/stoika-agent serve"
#define DIGEST_LEN    64

enum task_state {
	TASK_WAITING, /* for a link, maybe until retry_at */
	TASK_GREETING,
	TASK_ORDERED,
	TASK_ANSWERED, /* final or refused came; the channel closes next */
	TASK_DONE,
	TASK_IDLE /* done, and its link stays for another turn */
};

/* What an agent said at the end. */
struct answer {
	enum step_result state;
	struct result_counts counts;
	char plan_hash[HASH_HEX];
	char *reason, *hint;
	int64_t pass, process;
	bool refused;
	enum ec code; /* of the refusal */
};

#define NONCE_MAX 65

/* What recipes are given on all nodes that have the same variables. */
struct param_set {
	const char *text; /* of the variables: node_row.vars */
	json_t *nodes;    /* of a resumed run instead: {node id: 1} */
	json_t *vars, **params;
	json_t *secrets; /* {name: value}; NULL: none is wanted */
	struct err err;  /* code != 0: these nodes cannot be given an order */
};

struct task {
	struct fleet *fleet;
	const struct node_row *node;
	struct link *link;
	enum task_state state;
	unsigned tries;    /* links lost after the order was given */
	unsigned followed; /* runs of others that were waited for */
	int64_t began, retry_at, greeting_since;
	int64_t heard;   /* last frame of this session, or the order's time */
	unsigned events; /* of all sessions, as is what they took */
	size_t event_bytes;
	struct frame_reader reader;
	char *advice;    /* the hint of the first step that failed */
	char *complaint; /* first line of stderr, or of what came before the greeting */
	bool met;        /* a hello was seen once: the node is reachable */
	bool modern;     /* its agent says 'alive' */
	bool attach;     /* next order: follow our own run */
	bool given;      /* our order was given at least once */
	bool bundle_sent, facts_came;
	char *follow; /* a run left over by an earlier controller, followed first */
	int64_t seen; /* last sequence number of our run */
	const struct param_set *set;
	const struct sign_key *signer; /* the key that it obeys */
	const char *expect;            /* hash of its plan; NULL */
	char boot_id[NONCE_MAX];       /* of the last greeting */
	bool rebooting;                /* it went down on purpose, and is waited for */
	int64_t reboot_since, reboot_until;
	/* of a link that stays */
	char nonce[NONCE_MAX], body_hash[HASH_HEX];
	struct result_counts last_counts;
	char last_hash[HASH_HEX];
	struct answer answer;
	enum step_result result; /* when done */
	char plan_hash[HASH_HEX];
};

/* The bundle as shared bytes: its message, then pairs of frame head and slice. */
struct bundle_stream {
	struct buf head[2]; /* message, and the first frame's head; signed by sign, by next */
	struct str payload;
	char frame_head[5], last_head[5];
};

struct fleet {
	struct store *store;
	const struct keys *keys;
	const struct fleet_opts *opts;
	struct fleet_outcome *out;
	struct arena *arena;
	const struct node_refs *nodes;
	struct link_set *links;
	const char *owner;
	int lock; /* held while the process lives: tells fleet_recover that the run has an owner */
	struct pack pack;
	struct bundle_stream stream;
	struct param_set *sets;
	unsigned n_sets;
	struct redact *redact; /* NULL: no secrets */
	bool stay;             /* links are kept for another turn */
	struct task *tasks;
	unsigned n, unfinished, retrying;
	bool stopping; /* a signal came */
	bool reopened; /* the run is one that ended before */
	/* the writer */
	bool writing;
	unsigned rows;
	int64_t renewed, swept;
	struct err broken; /* the store failed: nothing more can be recorded */
};

/* --- fleet_task.c --- */
/* The run changes nodes, and goes on there without us. */
bool fleet_acts(const struct fleet *f);
enum step_result task_result_of(enum ec code);
/* The run that the messages of this session belong to. */
const char *task_current_run(const struct task *t);
void task_drop_answer(struct task *t);
/* A final or refused frame is there. */
void task_answered(struct task *t);
void task_start(struct task *t);
/* Called now and then: links that are due, greetings that never came. */
void task_tick(struct task *t, int64_t now);
/* The end of the node in this run, with what is known. */
void task_finish(struct task *t, enum step_result result, const struct err *why);
/* The same for a controller that was told to stop. */
void task_stop(struct task *t);
void task_done(struct task *t);

/* --- fleet_message.c --- */
/* Bytes of the agent; negative: the link is no use any more. */
int message_feed(struct task *t, struct str bytes, struct err *err);
/* The first line of a node that does not speak our language, to be shown. */
void message_keep_complaint(struct task *t, struct str bytes);
void message_say_no_agent(const struct task *t, struct err *err);

/* --- fleet_params.c --- */
int params_prepare(struct fleet *f, const struct node_refs *nodes, struct err *err);
const struct param_set *params_of(const struct fleet *f, const struct node_row *node);
void params_cleanup(struct fleet *f);
/* What is kept of the orders, so that the run can be resumed; a new reference. */
json_t *params_record(const struct fleet *f);

/* --- fleet_plan.c --- */
/* Gives each task the hash that the stored plan has of its node; those without one are denied. */
int plan_expect(struct fleet *f, const char *recipes, struct err *err);
/* The last numbers of events that the store has of a run that is gone on with. */
int plan_seen(struct fleet *f, struct err *err);

/* --- fleet.c, for warm.c --- */
int fleet_begin(struct fleet *f, const struct node_refs *nodes, struct err *err);
/* One run over all tasks, from its row in the store to its end. */
int fleet_turn(struct fleet *f, struct err *err);
void fleet_end(struct fleet *f);

/* --- fleet_order.c --- */
int order_prepare(struct fleet *f, const struct node_refs *nodes, struct err *err);
/* The last order once more, on a link that stayed. */
int order_again(struct task *t, struct err *err);
/* Signs and sends the order that fits the task's state, and the bundle if it is not in held. */
int order_send(struct task *t, const char *nonce, const json_t *held, struct err *err);
void order_send_bundle(struct task *t);
void order_cleanup(struct fleet *f);

/* --- fleet_record.c; each notes a failure of the store in f->broken --- */
void record_hello(struct task *t, const json_t *hello);
void record_missed(struct task *t, const char *why);
void record_event(struct task *t, const char *run, const json_t *record);
void record_facts(struct task *t, json_t *facts);
void record_result(struct task *t, const char *run, const struct node_result *r);
void record_commit(struct fleet *f);
/* A lease for node; E_BUSY when another run holds it. */
int record_take_lease(struct fleet *f, const struct node_row *node, struct err *err);
void record_renew_leases(struct fleet *f, int64_t now);
/* An operation inside the open group; begins one when there is none. */
bool record_begin(struct fleet *f);
