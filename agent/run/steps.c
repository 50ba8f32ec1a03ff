/* steps - the steps of one recipe in order: each instance decided, then left, foretold or done. */
#include "agent/base/buf.h"
#include "agent/run/run_priv.h"
#include "agent/step/reboot.h"

#include <stdio.h>
#include <string.h>

#define APPLY_DIFF_MAX 1024

json_t *steps_record(const struct execution *x, const struct task *t, const char *ev)
{
	json_t *record = events_new(x, ev);

	json_put_str(record, "of", x->of);
	if (t->is_handler)
		json_put_str(record, "handler", t->step->name);
	else
		json_put_int(record, "step", t->step->index + 1);
	if (t->item)
		json_put_int(record, "item", t->index + 1);
	json_put_str(record, "name", t->name);
	json_put_str(record, "kind", t->step->kind->name);
	return record;
}

static const char *task_event(const struct task *t)
{
	return t->is_handler ? "handler" : "step";
}

static void describe(const struct task *t, char *out, size_t n)
{
	if (t->is_handler)
		snprintf(out, n, "handler '%s'", t->step->name);
	else
		snprintf(out, n, "step %u (%s)", t->step->index + 1, t->name);
}

/* What was done is on the node; its record keeps the beginning, where a plan shows the whole. */
static void put_diff(const struct execution *x, json_t *record, const struct task *t)
{
	struct str diff = events_diff(x, t);
	AUTO_BUF text = {0};

	if (diff.n == 0)
		return;
	buf_init(&text, APPLY_DIFF_MAX + 64);
	if (!x->dry && diff.n > APPLY_DIFF_MAX) {
		size_t n = APPLY_DIFF_MAX;

		while (n > 0 && diff.p[n - 1] != '\n')
			n--;
		buf_add(&text, diff.p, n);
		buf_addf(&text, "... %zu bytes more\n", diff.n - n);
		diff = buf_str(&text);
	}
	json_put_text(record, "diff", diff);
}

static void put_took(json_t *record, const struct task *t)
{
	json_put_int(record, "took_us", (clock_mono() - t->started) / 1000);
}

static void remember(struct execution *x, const struct task *t, enum step_result result)
{
	*vec_push(&x->settled) =
		(struct settled){.step = t->step, .item = t->index, .result = result};
}

void steps_remember(struct execution *x, const struct task *t, enum step_result result)
{
	remember(x, t, result);
	events_count(x, result);
}

bool steps_is_settled(const struct execution *x, const struct step *s, unsigned item)
{
	for (size_t i = 0; i < x->settled.n; i++)
		if (x->settled.at[i].step == s && x->settled.at[i].item == item)
			return true;
	return false;
}

void steps_settle(struct execution *x, struct task *t, enum step_result result)
{
	steps_remember(x, t, result);
	if (!t->is_handler && !t->report.tell && (result == RESULT_OK || result == RESULT_SKIPPED))
		return;

	json_t *record = steps_record(x, t, task_event(t));

	json_put_str(record, "state", result_name(result));
	json_put_str(record, "why", t->why);
	if (t->report.always)
		json_put_bool(record, "always", true);
	put_diff(x, record, t);
	intent_put_after(x, record, t);
	put_took(record, t);
	events_add(x, record);
}

void steps_fail(struct execution *x, struct task *t, const struct err *err)
{
	json_t *record = steps_record(x, t, task_event(t));
	char what[160];
	struct err told = *err;

	if (t->report.denied)
		told.code = E_DENIED;
	remember(x, t, events_result(&told));
	events_put_error(record, &told);
	put_diff(x, record, t);
	intent_put_after(x, record, t);
	put_took(record, t);
	events_add(x, record);
	describe(t, what, sizeof what);
	events_stop(x, what, &told);
}

void steps_stop_unknown(struct execution *x, struct task *t)
{
	const char *secret = t->why ? strstr(t->why, NEEDS_SECRET) : NULL;
	struct err err;

	if (secret) {
		events_explain(x, "%s", secret);
		x->stop = STOP_WAITS;
		return;
	}
	err_set(&err, E_STATE, "it cannot be told whether this is to be done: %s", t->why);
	steps_fail(x, t, &err);
}

int steps_reboot(struct execution *x, struct task *t, struct err *err)
{
	json_t *record = steps_record(x, t, "rebooting");

	json_put_int(record, "within", json_get_int(t->args, "timeout", REBOOT_TIMEOUT_S));
	return steps_go_down(x, record, err);
}

int steps_go_down(struct execution *x, json_t *record, struct err *err)
{
	const bool asked = x->order->reboot_asked;
	int rc;

	json_put_str(record, "boot_id", x->env->boot_id);
	if (asked)
		json_put_bool(record, "asked", true);
	rc = events_write(x, record, true, err);
	if (rc == 0 && !asked)
		rc = x->env->reboot ? x->env->reboot(x->env->ctx, &x->step_env, err)
				    : reboot_start(&x->step_env, err);
	if (rc == 0)
		x->stop = STOP_REBOOTING;
	return rc;
}

static void act(struct execution *x, struct task *t)
{
	struct task *const one[] = {t};
	struct err err;
	int rc;

	if (t->step->kind->batched) {
		batch_run(x, t);
		return;
	}
	rc = intent_begin(x, one, 1, &err);
	if (rc == 0)
		rc = task_apply(x, t, &err);
	if (rc == 0 && t->reboot)
		rc = steps_reboot(x, t, &err);
	if (rc < 0)
		steps_fail(x, t, &err);
	else if (rc == 0 && !t->reboot)
		steps_settle(x, t, RESULT_CHANGED);
}

static void foretell(struct execution *x, struct task *t)
{
	struct err err;

	if (t->verdict == RESULT_CHANGED) {
		world_touch(x, t);
		if (due_notify(x, t->step, &err) < 0) {
			steps_fail(x, t, &err);
			return;
		}
	}
	steps_settle(x, t, t->verdict);
}

static void run_task(struct execution *x, struct task *t)
{
	struct err err;

	if (task_decide(x, t, &err) < 0) {
		steps_fail(x, t, &err);
		return;
	}
	if (t->verdict == RESULT_CHANGED || t->verdict == RESULT_UNKNOWN)
		events_hash(x, t);
	if (past_settle(x, t))
		return;
	if (x->order->mode == ORDER_STAGE && t->verdict == RESULT_CHANGED)
		stage_run(x, t);
	else if (x->dry || t->verdict == RESULT_OK || t->verdict == RESULT_SKIPPED)
		foretell(x, t);
	else if (t->verdict == RESULT_UNKNOWN)
		steps_stop_unknown(x, t);
	else
		act(x, t);
}

int steps_items(struct execution *x, const struct step *s, json_t **items, const char **unknown,
	struct err *err)
{
	struct value v;
	int rc;

	*items = NULL;
	*unknown = NULL;
	if (!s->each)
		return 0;
	world_bind_item(x, NULL);
	rc = expr_eval(s->each, &x->scope, &v, err);
	if (rc < 0)
		return rc;
	if (!value_is_known(&v)) {
		*unknown = world_unknown_why(x, v.unknown);
	} else if (json_is_array(v.json)) {
		*items = json_incref(v.json);
	} else {
		rc = err_set(
			err, E_SCHEMA, "'each' gives %s, expected a list", value_type_name(v.json));
	}
	value_done(&v);
	return rc;
}

/* What the step as a whole came to, under the name that later expressions use. */
static void publish(struct execution *x, const struct step *s, const char *unknown)
{
	struct result_counts c = {0};

	for (size_t i = 0; i < x->settled.n; i++)
		if (x->settled.at[i].step == s)
			c.n[x->settled.at[i].result]++;
	world_set_step(x, s->as, result_counts_sum(&c),
		unknown ? unknown
			: arena_printf(x->arena, "depends on step %u (%s)", s->index + 1,
				  s->kind->name));
}

/* The step cannot even be taken apart: one task stands for it. */
static void run_undecided(
	struct execution *x, const struct step *s, const char *unknown, const struct err *err)
{
	struct task t;

	task_init(x, &t, s, NULL, 0);
	t.verdict = RESULT_UNKNOWN;
	t.why = unknown;
	if (!unknown)
		steps_fail(x, &t, err);
	else if (x->dry)
		steps_settle(x, &t, RESULT_UNKNOWN);
	else
		steps_stop_unknown(x, &t);
	task_done(&t);
}

static void run_step(struct execution *x, const struct step *s)
{
	AUTO_JSON items = NULL;
	const char *unknown;
	struct err err;

	if (steps_items(x, s, &items, &unknown, &err) < 0 || unknown) {
		run_undecided(x, s, unknown, &err);
	} else {
		const size_t n = items ? json_array_size(items) : 1;

		for (unsigned i = 0; i < n && !events_cancelled(x); i++) {
			struct task t;

			if (steps_is_settled(x, s, i))
				continue;
			task_init(x, &t, s, json_array_get(items, i), i);
			run_task(x, &t);
			task_done(&t);
		}
	}
	if (s->as)
		publish(x, s, unknown);
	world_bind_item(x, NULL);
}

void steps_run(struct execution *x)
{
	for (unsigned i = 0; i < x->n_list && x->stop == STOP_NOT; i++)
		run_step(x, &x->list[i]);
}
