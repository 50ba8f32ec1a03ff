/*
 * run - executes an order: recipes, steps, handlers, checks, journal.
 *
 * run_execute decides the whole order in check mode as it goes and calls
 * ops->before_change once before the first change, so that the caller can
 * leave the SSH session (fork, setsid) only when there is something to do.
 * Every intent is in the journal, fsync'd, before its step acts; events go to
 * the sink as well, which may fail without stopping the run.
 *
 * The first failure ends a run. Handlers that are due then stay in the journal
 * and are run by the next apply of their recipe.
 *
 * A run that did not come to its end (killed, rebooted, waiting for a secret) is
 * gone on with under the same id: resumed_by is set, and its journal says what is
 * done. An undo takes back what the order's recipes changed, last first.
 */
#pragma once

#include "agent/step/step.h"
#include "agent/wire/message.h"
#include "agent/wire/record.h"

struct redact;
struct run_memory; /* what an agent that stays keeps from one run to the next */

struct run_env {
	int root;
	const char *root_path;
	int state; /* STATE directory */
	const struct bundle *bundle;
	const char *self;    /* program path, for facts' GPU child */
	const char *boot_id; /* for the journal; may be NULL */
	json_t *facts;       /* groups already gathered, others are added; may be NULL */
	/* A trial's: URL to text, which http_ok finds there instead of asking; NULL: it asks */
	json_t *http;
	json_t *site; /* the inventory as recipes see it, site.*; may be NULL */
	void *ctx;
	void (*event)(void *ctx, const json_t *record); /* as journalled */
	/* 0: go on; 1: another process goes on from here, and this one returns at once. */
	int (*before_change)(void *ctx, struct err *err);
	bool (*cancelled)(void *ctx); /* asked between steps; may be NULL */
	/* Restarts the node, after the journal says so; NULL: reboot_start of agent/step. */
	int (*reboot)(void *ctx, const struct step_env *env, struct err *err);
	json_t *papers; /* kept beside the journal until the run has ended; may be NULL */
	const struct redact *redact; /* the values of the order's secrets; may be NULL */
	const char *resumed_by;      /* NULL: a new run */
	struct run_memory *memory;   /* may be NULL */
	bool unlisted;               /* a run that changes nothing leaves no journal */
	bool impatient;              /* no check waits longer than a second: a trial */
};

struct run_outcome {
	enum step_result state;
	bool rebooting; /* the node goes down; the run has not ended */
	bool waits;     /* for the secret that reason names; the run has not ended */
	struct result_counts counts;
	char plan_hash[65];
	char reason[400];  /* first failure, for people */
	char hint[240];    /* what helps against it, "" */
	int64_t took, cpu; /* nanoseconds */
};

#define RUN_JOURNALS_KEPT 200

/*
 * 0 and the outcome; negative when the run could not even begin; 1 when
 * before_change said that another process goes on: then out tells nothing.
 */
int run_execute(
	const struct run_env *env, const struct order *o, struct run_outcome *out, struct err *err);

/* Parsed recipes of one order, caches and facts that cannot change. */
struct run_memory *run_memory_new(void);
/* Before another order is executed with it. */
void run_memory_forget_order(struct run_memory *m);
void run_memory_free(struct run_memory *m);

/* CPU that this process has used so far, in nanoseconds. */
int64_t run_cpu(void);
