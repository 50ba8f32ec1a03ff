/*
 * run_priv - one execution of an order, as its parts share it.
 *
 * run.c drives recipes, recipes.c reads them, steps.c runs their steps (each
 * instance is a task), intent.c writes what is about to be done, batch.c applies
 * kinds together, stage.c only fetches what they need, due.c runs the handlers, undo.c takes back,
 * past.c knows what an interrupted run had done, checks.c is the validator, world.c what
 * expressions see, events.c what is recorded.
 */
#pragma once

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "agent/base/vec.h"
#include "agent/run/journal.h"
#include "agent/run/run.h"
#include "agent/wire/redact.h"

enum run_stop {
	STOP_NOT,
	STOP_FAILED,
	STOP_CANCELLED,
	STOP_ELSEWHERE, /* another process goes on */
	STOP_REBOOTING, /* goes on after the boot */
	STOP_WAITS      /* for a secret; goes on when it is resumed with it */
};

#define NEEDS_SECRET "needs secret '"

/* A recipe that was read, and its parameters. */
struct ready {
	struct recipe *recipe;
	json_t *params;
};

struct run_memory {
	struct arena *arena; /* of the recipes */
	struct step_cache *cache;
	json_t *facts; /* groups that do not change while a node is up */
	unsigned n;    /* recipes of the order that were read; all or none */
	struct ready *ready;
};

/* What a run had done with an instance of a step before it was interrupted. */
struct past {
	const char *recipe, *handler, *of;
	unsigned step, item; /* 1-based; 0: none */
	bool done;
	enum step_result result;
	const char *boot_id; /* it asked for a reboot: of the boot before */
	int64_t at, within;  /* then: when it asked (wall), and how long it may take (seconds) */
};

/* A handler that was called for and has not run yet. */
struct due {
	const char *recipe, *handler;
	bool journalled; /* in this run's journal */
	bool left;       /* by an earlier run */
};

/* In a plan: a step that would change, and what it may touch. */
struct touch {
	const char *recipe, *kind, *path;
	unsigned step; /* 1-based */
};

/* What became of an instance of a step in this recipe. */
struct settled {
	const struct step *step;
	unsigned item;
	enum step_result result;
};

struct execution {
	const struct run_env *env;
	const struct order *order;
	struct run_outcome *out;
	struct arena *arena;
	struct journal *journal;
	struct hash *plan;
	struct run_memory *memory;
	struct step_cache *cache;
	json_t *facts;
	json_t *site; /* site.*, read from the bundle when a recipe is first entered; NULL: none */
	bool dry;     /* plan or check: nothing is changed */
	bool begun;   /* before_change was called */
	enum run_stop stop;
	int64_t wall_start, cpu_start;
	const char *left_run; /* earlier run that the unfinished link names */
	struct vec(struct due) due;
	struct vec(struct touch) touched;
	struct vec(struct past) past; /* of a run that is resumed */
	struct past undo_restart; /* the restart of an undo that is resumed; boot_id NULL: none */
	json_t *restarts;         /* records of what an undo takes back by a restart at its end */
	int blobs;                /* folder of what is kept for undo; -1 until needed */

	/* the recipe at hand */
	const struct recipe *recipe;
	const struct step *list; /* its steps, or those of its undo */
	unsigned n_list;
	const char *of;  /* "undo" for those, NULL for the steps */
	json_t *changed; /* what it changed until now (before.h); NULL until needed */
	json_t *names;
	struct scope scope;
	struct step_env step_env;
	struct vec(struct settled) settled;
};

/* One instance of a step or handler. */
struct task {
	const struct step *step;
	bool is_handler;
	unsigned index; /* in the list of each */
	json_t *item;   /* borrowed; NULL without each */
	const char *name;
	const struct step_ops *ops;
	json_t *args;
	struct step_report report;
	enum step_result verdict; /* ok: same; changed: differs; skipped; unknown */
	const char *why;
	int64_t started;
	const struct past *past; /* NULL: this run had nothing to do with it before */
	bool begun;              /* its intent is written */
	bool reboot;             /* it asks for one */
};

/* --- recipes.c --- */
/* All recipes of the order into x->memory, before the first one acts; how many until one was
 * refused (which is told). */
unsigned recipes_read(struct execution *x);

/* --- past.c --- */
int past_load(struct execution *x, struct err *err);
const struct past *past_find(const struct execution *x, const struct task *t);
/* What the boot that the task asked for came to: waits for it while it may still come. */
int past_await_reboot(struct execution *x, const struct past *p, struct err *err);
/* The task was decided; true when what was done before settles it. */
bool past_settle(struct execution *x, struct task *t);

/* --- intent.c --- */
/* before_change and the durable intents of tasks that will act; 1: another process goes on. */
int intent_begin(struct execution *x, struct task *const *tasks, unsigned n, struct err *err);
/* before_change alone, once. */
int intent_leave(struct execution *x, struct err *err);
/* What there is now into the record of a step that acted. */
void intent_put_after(struct execution *x, json_t *record, struct task *t);
/* The folder for bytes, opened when first asked for. */
int intent_open_blobs(struct execution *x, struct err *err);
/* What the recipe at hand changed until now, borrowed. */
int intent_load_changed(struct execution *x, json_t **doc, struct err *err);
/* v, or BEFORE_HIDDEN when it holds a secret, also in the bytes it names. Steals v. */
json_t *intent_hide(struct execution *x, json_t *v);

/* --- undo.c --- */
/* All recipes are taken back: the node is restarted when one of them had restarted it. */
void undo_restart(struct execution *x);
/* E_NOTFOUND when the run that is to be taken back is not known here. */
int undo_find_run(struct execution *x, struct err *err);
/* Takes back what the recipe at hand changed. */
void undo_run(struct execution *x);

/* --- world.c: names, facts, probes --- */
void world_enter(struct execution *x, const struct recipe *r, json_t *params);
void world_leave(struct execution *x);
/* A group of facts, borrowed; NULL when there is no such group. */
int world_facts(struct execution *x, const char *group, json_t **out, struct err *err);
void world_bind_item(struct execution *x, json_t *item); /* NULL unbinds */
/* steps.NAME for later expressions; why is for unknown. */
void world_set_step(struct execution *x, const char *as, enum step_result result, const char *why);
/* A step that would change, for what later expressions may still believe. */
void world_touch(struct execution *x, const struct task *t);
/* "depends on step k (kind)", and rest. */
const char *world_depends_on(struct execution *x, const struct touch *t, const char *rest);
/* The reason with "depends on step k: " before it, when an earlier step would change. */
const char *world_unknown_why(struct execution *x, const char *why);

/* --- task.c: one instance --- */
void task_init(
	struct execution *x, struct task *t, const struct step *s, json_t *item, unsigned index);
void task_done(struct task *t);
/* when, arguments, check: fills verdict, why and past. Negative: it failed. */
int task_decide(struct execution *x, struct task *t, struct err *err);
/* Applies and checks again. before_change and journal are behind us. */
int task_apply(struct execution *x, struct task *t, struct err *err);
/* The second check alone, for what a batch applied. */
int task_check_again(struct execution *x, struct task *t, struct err *err);
/* What its kind calls the state before; keep: a folder for bytes, or -1. *out may be NULL. */
int task_describe(
	struct execution *x, const struct task *t, int keep, json_t **out, struct err *err);

/* --- steps.c --- */
/* All steps of the recipe at hand, until the run stops. */
void steps_run(struct execution *x);
/* A new reference: the list of each, or NULL without each. *unknown is set when it hangs on
 * something. */
int steps_items(struct execution *x, const struct step *s, json_t **items, const char **unknown,
	struct err *err);
bool steps_is_settled(const struct execution *x, const struct step *s, unsigned item);
/* Counts and records what became of a task. */
void steps_settle(struct execution *x, struct task *t, enum step_result result);
/* The same for a failure: the run stops. */
void steps_fail(struct execution *x, struct task *t, const struct err *err);
/* The record of a task. */
json_t *steps_record(const struct execution *x, const struct task *t, const char *ev);
/* Counts a task without a record. */
void steps_remember(struct execution *x, const struct task *t, enum step_result result);
/* A task's verdict cannot be told, and this is no plan: it fails, or waits for a secret. */
void steps_stop_unknown(struct execution *x, struct task *t);
/* The task asks for a reboot: the run goes on after it. */
int steps_reboot(struct execution *x, struct task *t, struct err *err);
/* Writes the record ("rebooting", stolen) and restarts the node, or leaves that to who announced
 * it. */
int steps_go_down(struct execution *x, json_t *record, struct err *err);

/* --- batch.c --- */
#define BATCH_MAX 512

/* Instances whose kind takes them together. */
struct batch {
	struct task *tasks[BATCH_MAX]; /* the first is the caller's, the others of the batch */
	json_t *lists[BATCH_MAX];      /* of each, which the items point into */
	unsigned n;
};
/* first, and what goes along with it; batch_done frees. */
struct batch *batch_gather(struct execution *x, struct task *first);
/* Their arguments, borrowed; how many. */
unsigned batch_args(const struct batch *b, const json_t *args[static BATCH_MAX]);
void batch_done(struct batch *b);
/* first differs and its kind is batched: gathers, applies and settles. */
void batch_run(struct execution *x, struct task *first);

/* --- stage.c --- */
/* first differs: what an apply of it would need is fetched. */
void stage_run(struct execution *x, struct task *first);

/* --- due.c --- */
int due_load(struct execution *x, struct err *err);
/* Adds what the step notifies and is not due yet; in the journal (not yet durable). */
int due_notify(struct execution *x, const struct step *s, struct err *err);
/* The recipe's handlers that are due, in their order. */
void due_run(struct execution *x);
/* The reason's end: "; handler 'x' is still due". */
void due_explain(const struct execution *x, struct buf *out);

/* --- checks.c --- */
void checks_run(struct execution *x);

/* --- events.c --- */
json_t *events_new(const struct execution *x, const char *ev);
/* To the journal (not durable) and the sink; steals the record. A journal that cannot be written
 * stops the run. */
void events_add(struct execution *x, json_t *record);
/* The same for what must stand before a change: not durable, it goes with the next that is. */
int events_write(struct execution *x, json_t *record, bool durable, struct err *err);
void events_count(struct execution *x, enum step_result result);
/* state, why and hint of an error. */
void events_put_error(json_t *record, const struct err *err);
/* The result that an error stands for. */
enum step_result events_result(const struct err *err);
/* Counts a failure and keeps the first reason; the run goes on. */
void events_note(struct execution *x, const char *what, const struct err *err);
/* The task's diff as it may be shown. */
struct str events_diff(const struct execution *x, const struct task *t);
/* Stops the run for a failure; the first reason is kept. what: "step 3 (file /etc/motd)". */
void events_stop(struct execution *x, const char *what, const struct err *err);
/* Appends to the run's reason, cut to fit. */
void events_explain(struct execution *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Asks whether the run is cancelled; then it has stopped. */
bool events_cancelled(struct execution *x);
/* The record of a recipe as a whole. */
void events_recipe(struct execution *x, const char *name, enum step_result result, const char *why);
/* Into the plan's hash: what a task would change. */
void events_hash(struct execution *x, const struct task *t);
