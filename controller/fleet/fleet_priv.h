/*
 * fleet_priv - runs in memory, shared by fleet.c and crew.c (their lives), fleet_hub.c (what they
 * share), fleet_open.c (how one begins), fleet_task.c (one node's way through it), fleet_message.c
 * (what the node says), fleet_order.c (what is sent), fleet_params.c (with which parameters) and
 * fleet_record.c (what is stored).
 */
#pragma once

#include "agent/base/err.h"
#include "agent/wire/frame.h"
#include "agent/wire/message.h"
#include "agent/wire/redact.h"
#include "controller/fleet/fleet.h"
#include "controller/fleet/run_lock.h"
#include "controller/ssh/link.h"

#include <signal.h>

#define AGENT_COMMAND "/opt/stoika/agent/bin/stoika-agent serve"
#define DIGEST_LEN    64

enum task_state {
	TASK_WAITING, /* for a link, maybe until retry_at */
	TASK_GREETING,
	TASK_ORDERED,
	TASK_ANSWERED, /* final or refused came; the channel closes next */
	TASK_DONE,
	TASK_IDLE,  /* done, and its link stays for another turn */
	TASK_PARKED /* task_start comes later */
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
	bool known;      /* it was reached before, by another order: that it is not may pass */
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
	int64_t reboot_wait;           /* ns, 0: as the step says */
	int64_t reboot_since, reboot_until;
	int64_t lost_until; /* a node at work is looked for, see fleet_task.c */
	bool existed;       /* its node had the run already, and was asked what came of it */
	bool dropped;       /* given up by the caller */
	unsigned files;     /* of evidence, and their bytes; of this session */
	size_t file_bytes;
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

/* Who looks after tasks one by one, in place of what fleet_opts says. */
struct task_hooks {
	void (*event)(struct task *t, const json_t *record);
	void (*facts)(struct task *t, json_t *facts);
	void (*evidence)(struct task *t, const char *name, struct str bytes);
	void (*done)(struct task *t, const struct node_result *result);
};

/* What all runs of one controller share: nodes, links, what they are sent, the store's writer. */
struct hub {
	struct store *store;
	const struct keys *keys;
	const struct fleet_opts *opts; /* recipes, params and secrets of all orders */
	const struct node_refs *nodes;
	struct arena *arena;
	const char *owner, *recipes; /* those asked for, with a comma between */
	struct link_set *links;
	struct pack pack;
	struct bundle_stream stream;
	struct param_set *sets;
	unsigned n_sets;
	struct redact *redact;          /* NULL: no secrets */
	const char *lease;              /* whose leases are, beyond a result; NULL: each run's */
	const struct task_hooks *hooks; /* NULL: the opts' */
	bool reboot_asked;              /* of applies, see message.h */
	bool stopping;                  /* a signal came */
	unsigned retrying;              /* tasks that wait for their next try */
	int64_t swept;
	/* the writer */
	bool writing;
	unsigned rows;
	int64_t opened, commit_took; /* of the group at hand; of the last one. Monotonic ns */
	int64_t renewed;
	struct err broken; /* the store failed: nothing more can be recorded */
};

/* One run. */
struct fleet {
	struct hub *hub;
	const struct fleet_opts *opts;
	struct fleet_outcome *out;
	int lock;  /* held while the process lives: tells fleet_recover that the run has an owner */
	bool stay; /* links are kept for another turn */
	struct task *tasks;
	unsigned n, unfinished;
	bool reopened; /* the run is one that ended before */
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
/* The node goes down on purpose, for so many seconds at most; 0: a while. */
void message_note_reboot(struct task *t, int64_t within);
/* The first line of a node that does not speak our language, to be shown. */
void message_keep_complaint(struct task *t, struct str bytes);
void message_say_no_agent(const struct task *t, struct err *err);

/* --- fleet_params.c --- */
int params_prepare(struct hub *h, const struct node_refs *nodes, struct err *err);
const struct param_set *params_of(const struct hub *h, const struct node_row *node);
void params_cleanup(struct hub *h);
/* What is kept of the orders, so that the run can be resumed; a new reference. */
json_t *params_record(const struct hub *h);

/* --- fleet_plan.c --- */
/* Gives each task the hash that the stored plan has of its node; those without one are denied. */
int plan_expect(struct fleet *f, const char *recipes, struct err *err);
/* The last numbers of events that the store has of a run that is gone on with. */
int plan_seen(struct fleet *f, struct err *err);

/* --- fleet_hub.c --- */
/* What h->opts asks for: parameters, the bundle, links; max_open sessions at once. */
int hub_open(struct hub *h, const struct node_refs *nodes, unsigned max_open, struct err *err);
void hub_close(struct hub *h);
/* Links that are due, greetings that never came: of the n tasks, now and then. */
void hub_sweep(struct hub *h, struct task *tasks, unsigned n, int64_t now);
/* SIGINT, SIGTERM and SIGHUP are noted from take to give back. */
struct signals {
	struct sigaction sigint, sigterm, sighup, sigpipe;
};
void signals_take(struct signals *old);
void signals_give_back(const struct signals *old);
bool signals_came(void);

/* --- fleet_open.c --- */
/* The run's row in the store, its parameters, its line of the audit log. */
int fleet_open_row(struct fleet *f, struct err *err);
/* A fresh task of the run; what a link that stays needs is kept. */
void task_reset(struct task *t, struct fleet *f, const struct node_row *node);
/* Why the node cannot be begun with, 0 when it can; its lease is taken unless lease is NULL. */
int task_judge(struct task *t, const char *lease, struct err *why);
/* Its result then. */
void task_refuse(struct task *t, const struct err *why);

/* --- fleet.c, for warm.c --- */
int fleet_begin(struct fleet *f, const struct node_refs *nodes, struct err *err);
/* One run over all tasks, from its row in the store to its end. */
int fleet_turn(struct fleet *f, struct err *err);
void fleet_end(struct fleet *f);

/* --- fleet_order.c --- */
int order_prepare(struct hub *h, const struct node_refs *nodes, struct err *err);
/* The last order once more, on a link that stayed. */
int order_again(struct task *t, struct err *err);
/* Signs and sends the order that fits the task's state, and the bundle if it is not in held. */
int order_send(struct task *t, const char *nonce, const json_t *held, struct err *err);
void order_send_bundle(struct task *t);
void order_cleanup(struct hub *h);

/* --- fleet_record.c; each notes a failure of the store in hub.broken --- */
void record_hello(struct task *t, const json_t *hello);
void record_missed(struct task *t, const char *why);
void record_event(struct task *t, const char *run, const json_t *record);
void record_facts(struct task *t, json_t *facts);
void record_result(struct task *t, const char *run, const struct node_result *r);
void record_commit(struct hub *h);
/* A lease for node; E_BUSY when another run holds it. */
int record_take_lease(struct hub *h, const struct node_row *node, const char *run, struct err *err);
/* Whether leases are to be renewed now. */
bool record_renewal_due(struct hub *h, int64_t now);
void record_renew_lease(struct hub *h, const struct node_row *node, const char *run);
/* An operation inside the open group; begins one when there is none. */
bool record_begin(struct hub *h);
