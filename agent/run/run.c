/* run - the order as a whole: all recipes are read and judged before the first one acts. */
#include "agent/run/run.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "agent/run/before.h"
#include "agent/run/repeat.h"
#include "agent/run/run_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIFFERS_MAX 220 /* of the sentence on what another plan would do */

int64_t run_cpu(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * CLOCK_SEC + t.tv_nsec;
}

/* What was built last is taken back first. */
static unsigned place(const struct execution *x, unsigned i)
{
	return x->order->mode == ORDER_UNDO ? x->order->n_recipes - 1 - i : i;
}

static void skip(struct execution *x, unsigned from, unsigned to)
{
	const char *why = x->stop == STOP_CANCELLED ? "not started: the run was cancelled"
						    : "not started: the run had failed before";

	for (unsigned i = from; i < to; i++)
		events_recipe(x, x->order->recipes[place(x, i)].name, RESULT_SKIPPED, why);
}

static void fail_recipe(struct execution *x, const struct err *err)
{
	json_t *record = events_new(x, "recipe");

	events_put_error(record, err);
	events_add(x, record);
	events_stop(x, "when", err);
}

/* True when the recipe's steps are to be looked at. */
static bool wanted(struct execution *x)
{
	const struct recipe *r = x->recipe;
	const char *unknown = NULL;
	bool yes = true;
	struct err err;

	if (!r->when)
		return true;
	if (expr_eval_bool(r->when, &x->scope, &yes, &unknown, &err) < 0) {
		fail_recipe(x, &err);
		return false;
	}
	if (unknown && x->dry) {
		events_recipe(x, r->name, RESULT_UNKNOWN, world_unknown_why(x, unknown));
		return false;
	}
	if (unknown) {
		err_set(&err, E_STATE, "it cannot be told whether this recipe is wanted: %s",
			unknown);
		fail_recipe(x, &err);
		return false;
	}
	if (!yes) {
		const struct yaml_node *at = yaml_get(r->doc->root, "when");

		events_recipe(x, r->name, RESULT_SKIPPED,
			arena_printf(x->arena, "not for this node: " STR_FMT,
				STR_ARG(at ? at->text : STR_LIT("when"))));
	}
	return yes;
}

static void run_recipe(struct execution *x, const struct ready *ready)
{
	const bool undo = x->order->mode == ORDER_UNDO;

	world_enter(x, ready->recipe, ready->params);
	if (undo) {
		undo_run(x);
	} else if (wanted(x)) {
		const bool stage = x->order->mode == ORDER_STAGE;

		steps_run(x);
		if (x->stop == STOP_NOT && !stage)
			due_run(x);
		if (x->stop == STOP_NOT && !stage && x->order->mode != ORDER_PLAN)
			checks_run(x);
		if (x->stop == STOP_NOT && !x->dry)
			repeat_judge(x, ready->params);
	}
	if (x->stop == STOP_NOT)
		world_leave(x);
}

static void run_recipes(struct execution *x)
{
	const unsigned n = x->order->n_recipes, good = recipes_read(x);
	unsigned i = 0;

	if (good < n) {
		skip(x, 0, good);
		i = good + 1;
	}
	while (i < n && !events_cancelled(x))
		run_recipe(x, &x->memory->ready[place(x, i++)]);
	if (x->stop == STOP_NOT || x->stop == STOP_FAILED || x->stop == STOP_CANCELLED)
		skip(x, i, n);
	undo_restart(x);
}

static void explain(struct execution *x)
{
	AUTO_BUF tail;

	buf_init(&tail, sizeof x->out->reason);
	due_explain(x, &tail);
	if (tail.n > 0)
		events_explain(x, "%s%s", x->out->reason[0] ? "; " : "", buf_text(&tail));
}

/* What the journal tells of changes, for a later undo. Only a run that wrote one can lose it. */
static int fold(struct execution *x)
{
	struct err err;

	if (before_fold(x->env->state, x->order->run, &err) == 0)
		return 0;
	events_note(x, "journal", &err);
	return -1;
}

static json_t *end_record(const struct execution *x)
{
	const struct run_outcome *out = x->out;
	json_t *end = events_new(x, "end");

	json_put_str(end, "state", result_name(out->state));
	json_object_set_new(end, "counts", result_counts_json(&out->counts));
	json_put_str(end, "plan_hash", out->plan_hash);
	if (out->reason[0])
		json_put_str(end, "reason", out->reason);
	if (out->hint[0])
		json_put_str(end, "hint", out->hint);
	json_put_int(end, "took_us", out->took / 1000);
	json_put_int(end, "cpu_us", out->cpu / 1000);
	return end;
}

/* Nothing was done, and nobody will ask what. */
static bool is_unlisted(const struct execution *x)
{
	return x->env->unlisted && !journal_is_durable(x->journal) &&
	       result_counts_sum(&x->out->counts) == RESULT_OK;
}

/* Durable changes are folded before the journal says that the run has ended, so that this is
 * repeated when it is cut off. */
static void write_end(struct execution *x, bool left)
{
	json_t *end;
	struct err err;

	if (is_unlisted(x))
		return;
	end = end_record(x);
	if (journal_end(x->journal, end, left, &err) < 0 && !x->out->reason[0])
		events_explain(x, "%s", err.msg);
	if (x->env->event)
		x->env->event(x->env->ctx, end);
	json_decref(end);
}

static void summarize(struct execution *x)
{
	struct run_outcome *out = x->out;

	out->state = result_counts_sum(&out->counts);
	out->took = clock_mono() - x->wall_start;
	out->cpu = run_cpu() - x->cpu_start;
	redact_line(x->env->redact, out->reason, sizeof out->reason);
	redact_line(x->env->redact, out->hint, sizeof out->hint);
}

static void finish(struct execution *x)
{
	bool left = x->due.n > 0, durable;

	explain(x);
	hash_final(x->plan, x->out->plan_hash);
	x->plan = NULL;
	world_leave(x);
	durable = journal_is_durable(x->journal);
	if (durable && fold(x) < 0)
		left = true;
	summarize(x);
	write_end(x, left);
	if (x->dry)
		return;
	if (!durable && x->order->mode == ORDER_UNDO)
		(void)fold(x);
	/* An unfinished earlier run has been superseded, unless it left handlers. */
	if (x->left_run && x->due.n == 0 && !durable)
		(void)journal_forget_unfinished(x->env->state, x->left_run, NULL);
	if (!is_unlisted(x))
		(void)journal_trim(x->env->state, RUN_JOURNALS_KEPT, NULL);
}

/* The run has not ended: it goes on after the boot, or when somebody brings the secret. */
static void leave_open(struct execution *x)
{
	x->out->rebooting = x->stop == STOP_REBOOTING;
	x->out->waits = x->stop == STOP_WAITS;
	if (x->out->waits) {
		json_t *record = events_new(x, "waits");

		json_put_str(record, "why", x->out->reason);
		events_add(x, record);
	}
	summarize(x);
	x->out->state = RESULT_INTERRUPTED;
}

static json_t *start_record(const struct execution *x)
{
	const struct order *o = x->order;
	json_t *start = json_object(), *names = json_array();

	json_put_str(start, "ev", "start");
	json_put_str(start, "run", o->run);
	json_put_str(start, "mode", order_mode_name(o->mode));
	json_put_str(start, "bundle", o->bundle);
	json_put_str(start, "by", o->by);
	json_put_str(start, "boot_id", x->env->boot_id);
	for (unsigned i = 0; i < o->n_recipes; i++)
		json_array_append_new(names, json_string(o->recipes[i].name));
	json_object_set_new(start, "recipes", names);
	return start;
}

static int begin_new(struct execution *x, struct err *err)
{
	AUTO_JSON start = start_record(x);
	const int rc =
		journal_open(x->dry ? -1 : x->env->state, x->order->run, start, &x->journal, err);

	if (rc == 0)
		journal_keep_order(x->journal, x->env->papers);
	return rc;
}

static int begin_again(struct execution *x, struct err *err)
{
	json_t *record = events_new(x, "resume");
	int rc = journal_reopen(x->env->state, x->order->run, &x->journal, err);

	json_put_str(record, "boot_id", x->env->boot_id);
	json_put_str(record, "by", x->env->resumed_by);
	if (rc == 0)
		rc = past_load(x, err);
	if (rc == 0)
		return events_write(x, record, true, err);
	json_decref(record);
	return rc;
}

/* What an unfinished run changed is noted before another journal takes its place. */
static int begin(struct execution *x, struct err *err)
{
	int rc = x->env->resumed_by ? begin_again(x, err) : begin_new(x, err);
	const char *earlier;

	if (rc == 0)
		rc = due_load(x, err);
	if (rc == 0 && x->order->undo_of)
		rc = undo_find_run(x, err);
	earlier = x->env->resumed_by ? x->order->run : x->left_run;
	if (rc == 0 && earlier && !(x->dry && x->order->mode != ORDER_UNDO))
		rc = before_fold(x->env->state, earlier, err);
	return rc;
}

/* Facts that cannot change while the node is up stay; all else is asked again. */
static void keep_facts(struct execution *x)
{
	static const char *const lasting[] = {"cpu", "pci", NULL};

	for (const char *const *k = lasting; *k; k++)
		if (json_get(x->facts, *k))
			json_object_set(x->memory->facts, *k, json_get(x->facts, *k));
}

static void release(struct execution *x)
{
	world_leave(x);
	journal_close(x->journal);
	hash_free(x->plan);
	keep_facts(x);
	json_decref(x->facts);
	json_decref(x->site);
	json_decref(x->restarts);
	mem_close_fd(&x->blobs);
	vec_done(&x->due);
	vec_done(&x->touched);
	vec_done(&x->settled);
	vec_done(&x->past);
	arena_free(x->arena);
}

static bool is_dry(const struct order *o)
{
	if (o->mode == ORDER_UNDO)
		return o->expect && strcmp(o->expect, ORDER_PREVIEW) == 0;
	return o->mode != ORDER_APPLY;
}

static int execute(const struct run_env *env, const struct order *o, bool dry,
	struct run_outcome *out, struct err *err)
{
	struct execution x = {.env = env,
		.order = o,
		.out = out,
		.dry = dry,
		.memory = env->memory,
		.cache = env->memory->cache,
		.blobs = -1,
		.wall_start = clock_mono(),
		.cpu_start = run_cpu()};
	int rc;

	*out = (struct run_outcome){0};
	x.arena = arena_new();
	x.plan = hash_new();
	x.facts = env->facts ? json_incref(env->facts) : json_copy(env->memory->facts);
	step_cache_forget(x.cache);
	rc = begin(&x, err);
	if (rc == 0) {
		run_recipes(&x);
		if (x.stop == STOP_ELSEWHERE)
			rc = 1;
		else if (x.stop == STOP_REBOOTING || x.stop == STOP_WAITS)
			leave_open(&x);
		else
			finish(&x);
	}
	release(&x);
	return rc;
}

/* --- apply just what was shown --- */

/* What would be changed now, in a few words. */
struct foreseen {
	struct buf text;
	unsigned n;
	const struct run_env *env; /* of the apply that follows */
};

static bool foresee_cancelled(void *ctx)
{
	const struct foreseen *f = ctx;

	return f->env->cancelled && f->env->cancelled(f->env->ctx);
}

static void foresee(void *ctx, const json_t *record)
{
	struct foreseen *f = ctx;
	const char *ev = json_get_str(record, "ev", ""), *state = json_get_str(record, "state", "");

	if ((strcmp(ev, "step") != 0 && strcmp(ev, "undo") != 0) ||
		(strcmp(state, "changed") != 0 && strcmp(state, "unknown") != 0))
		return;
	if (f->n++ < 3)
		buf_addf(&f->text, "%s%.60s", f->n > 1 ? ", " : "",
			json_get_str(record, "name", ""));
}

static int refuse_other_plan(const struct order *o, const struct run_outcome *now,
	const struct foreseen *f, struct err *err)
{
	if (now->reason[0])
		err_set(err, E_STATE, "the plan is another one now: it ends as %s: %.200s",
			result_name(now->state), now->reason);
	else if (f->n == 0)
		err_set(err, E_STATE, "the plan is another one now: there is nothing to change");
	else
		err_set(err, E_STATE, "the plan is another one now: it changes %u: %.200s%s", f->n,
			buf_text(&f->text), f->n > 3 ? " ..." : "");
	return err_hint(err, "look at it again (stoika plan); its hash is now %.12s, not %.12s",
		now->plan_hash, o->expect);
}

/* The same code decides, in the same process and under the same lock. */
static int check_expected(const struct run_env *env, const struct order *o, struct err *err)
{
	struct foreseen f = {.env = env};
	struct run_env look = *env;
	struct order plan = *o;
	struct run_outcome out;
	int rc;

	buf_init(&f.text, DIFFERS_MAX);
	look.ctx = &f;
	look.event = foresee;
	look.before_change = NULL;
	look.cancelled = foresee_cancelled;
	plan.mode = o->mode == ORDER_APPLY ? ORDER_PLAN : o->mode;
	rc = execute(&look, &plan, true, &out, err);
	/* Cancelled meanwhile: the run itself will say so. */
	if (rc == 0 && !foresee_cancelled(&f) && strcmp(out.plan_hash, o->expect) != 0)
		rc = refuse_other_plan(o, &out, &f, err);
	buf_done(&f.text);
	return rc;
}

int run_execute(
	const struct run_env *env, const struct order *o, struct run_outcome *out, struct err *err)
{
	struct run_memory *own = env->memory ? NULL : run_memory_new();
	struct run_env with = *env;
	const bool dry = is_dry(o);
	int rc = 0;

	if (own)
		with.memory = own;
	if (o->expect && !dry && !env->resumed_by)
		rc = check_expected(&with, o, err);
	if (rc == 0)
		rc = execute(&with, o, dry, out, err);
	run_memory_free(own);
	return rc;
}
