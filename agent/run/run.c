/* run - the order as a whole: all recipes are read and judged before the first one acts. */
#include "agent/run/run.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "agent/run/bundle.h"
#include "agent/run/run_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECIPE_BYTES_MAX (1u << 20)
#define RECIPE_WHAT_MAX  128

/* A recipe that was read, and its parameters. */
struct ready {
	struct recipe *recipe;
	json_t *params;
};

int64_t run_cpu(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * CLOCK_SEC + t.tv_nsec;
}

static int read_recipe(
	struct execution *x, const struct order_recipe *asked, struct ready *r, struct err *err)
{
	AUTO_BUF text;
	const char *path = arena_printf(x->arena, "%s/recipe.yaml", asked->name);
	int rc;

	buf_init(&text, RECIPE_BYTES_MAX);
	rc = bundle_read(x->env->bundle, path, &text, err);
	if (rc == 0)
		rc = recipe_parse(x->arena, path, buf_str(&text), NULL, &r->recipe, err);
	if (rc == 0 && strcmp(r->recipe->name, asked->name) != 0)
		rc = err_set(
			err, E_CONFLICT, "'%s' says that it is recipe '%s'", path, r->recipe->name);
	if (rc == 0)
		rc = recipe_params(r->recipe, asked->params, &r->params, err);
	return rc;
}

static void refuse_recipe(struct execution *x, const char *name, const struct err *err)
{
	json_t *record = events_new(x, "recipe");
	char what[RECIPE_WHAT_MAX];

	json_put_str(record, "recipe", name);
	events_put_error(record, err);
	snprintf(what, sizeof what, "recipe '%s'", name);
	events_add(x, record);
	events_stop(x, what, err);
}

/* All, before the first one acts; how many were read until one was refused. */
static unsigned read_recipes(struct execution *x, struct ready *ready)
{
	for (unsigned i = 0; i < x->order->n_recipes; i++) {
		struct err err;

		if (read_recipe(x, &x->order->recipes[i], &ready[i], &err) < 0) {
			refuse_recipe(x, x->order->recipes[i].name, &err);
			return i;
		}
	}
	return x->order->n_recipes;
}

static void skip(struct execution *x, unsigned from, unsigned to)
{
	const char *why = x->stop == STOP_CANCELLED ? "not started: the run was cancelled"
						    : "not started: the run had failed before";

	for (unsigned i = from; i < to; i++)
		events_recipe(x, x->order->recipes[i].name, RESULT_SKIPPED, why);
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
	world_enter(x, ready->recipe, ready->params);
	if (wanted(x)) {
		steps_run(x);
		if (x->stop == STOP_NOT)
			due_run(x);
		if (x->stop == STOP_NOT && x->order->mode != ORDER_PLAN)
			checks_run(x);
	}
	if (x->stop == STOP_NOT)
		world_leave(x);
}

static void run_recipes(struct execution *x)
{
	const unsigned n = x->order->n_recipes;
	struct ready *ready = xcalloc(n + 1, sizeof *ready);
	const unsigned good = read_recipes(x, ready);
	unsigned i = 0;

	if (good < n) {
		skip(x, 0, good);
		i = good + 1;
	}
	while (i < n && !events_cancelled(x))
		run_recipe(x, &ready[i++]);
	if (x->stop != STOP_ELSEWHERE)
		skip(x, i, n);
	for (i = 0; i < n; i++) {
		recipe_done(ready[i].recipe);
		json_decref(ready[i].params);
	}
	free(ready);
}

static void explain(struct execution *x)
{
	AUTO_BUF tail;

	buf_init(&tail, sizeof x->out->reason);
	due_explain(x, &tail);
	if (tail.n > 0)
		events_explain(x, "%s%s", x->out->reason[0] ? "; " : "", buf_text(&tail));
}

static void finish(struct execution *x)
{
	struct run_outcome *out = x->out;
	json_t *end;
	struct err err;

	explain(x);
	hash_final(x->plan, out->plan_hash);
	x->plan = NULL;
	out->state = result_counts_sum(&out->counts);
	out->took = clock_mono() - x->wall_start;
	out->cpu = run_cpu() - x->cpu_start;
	world_leave(x);

	end = events_new(x, "end");
	json_put_str(end, "state", result_name(out->state));
	json_object_set_new(end, "counts", result_counts_json(&out->counts));
	json_put_str(end, "plan_hash", out->plan_hash);
	if (out->reason[0])
		json_put_str(end, "reason", out->reason);
	if (out->hint[0])
		json_put_str(end, "hint", out->hint);
	json_put_int(end, "took_us", out->took / 1000);
	json_put_int(end, "cpu_us", out->cpu / 1000);
	if (journal_end(x->journal, end, x->due.n > 0, &err) < 0 && !out->reason[0])
		events_explain(x, "%s", err.msg);
	if (x->env->event)
		x->env->event(x->env->ctx, end);
	json_decref(end);
	if (x->dry)
		return;
	/* An unfinished earlier run has been superseded, unless it left handlers. */
	if (x->left_run && x->due.n == 0 && !journal_is_durable(x->journal))
		(void)journal_forget_unfinished(x->env->state, x->left_run, NULL);
	(void)journal_trim(x->env->state, RUN_JOURNALS_KEPT, NULL);
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

static int begin(struct execution *x, struct err *err)
{
	AUTO_JSON start = start_record(x);
	const int rc =
		journal_open(x->dry ? -1 : x->env->state, x->order->run, start, &x->journal, err);

	return rc < 0 ? rc : due_load(x, err);
}

static void release(struct execution *x)
{
	world_leave(x);
	journal_close(x->journal);
	step_cache_free(x->cache);
	hash_free(x->plan);
	json_decref(x->facts);
	vec_done(&x->due);
	vec_done(&x->touched);
	vec_done(&x->settled);
	arena_free(x->arena);
}

int run_execute(
	const struct run_env *env, const struct order *o, struct run_outcome *out, struct err *err)
{
	struct execution x = {.env = env,
		.order = o,
		.out = out,
		.dry = o->mode != ORDER_APPLY,
		.wall_start = clock_mono(),
		.cpu_start = run_cpu()};
	int rc;

	*out = (struct run_outcome){0};
	x.arena = arena_new();
	x.plan = hash_new();
	x.cache = step_cache_new();
	x.facts = env->facts ? json_incref(env->facts) : json_object();
	rc = begin(&x, err);
	if (rc == 0) {
		run_recipes(&x);
		if (x.stop == STOP_ELSEWHERE)
			rc = 1;
		else
			finish(&x);
	}
	release(&x);
	return rc;
}
