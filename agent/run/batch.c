/*
 * batch - kinds that are applied together: the first step that differs takes
 * along all later ones of its kind that can be decided now and differ too.
 *
 * A later step that cannot be decided yet, or is wanted no more than it is
 * there, is looked at again at its own turn.
 */
#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "agent/run/run_priv.h"

#include <stdlib.h>

/* Keeps the task when it differs for certain. */
static void try_task(
	struct execution *x, struct batch *b, const struct step *s, json_t *items, unsigned i)
{
	struct task *t;
	struct err err;

	if (b->n == BATCH_MAX || steps_is_settled(x, s, i))
		return;
	t = xcalloc(1, sizeof *t);
	task_init(x, t, s, json_array_get(items, i), i);
	/* What an interrupted run had to do with is looked at in its own turn. */
	if (task_decide(x, t, &err) == 0 && t->verdict == RESULT_CHANGED && !t->past) {
		b->lists[b->n] = json_incref(items);
		b->tasks[b->n++] = t;
		return;
	}
	task_done(t);
	free(t);
}

static void gather_step(struct execution *x, struct batch *b, const struct step *s)
{
	AUTO_JSON items = NULL;
	const char *unknown;
	struct err err;

	if (steps_items(x, s, &items, &unknown, &err) < 0 || unknown)
		return;

	const size_t n = items ? json_array_size(items) : 1;

	for (unsigned i = 0; i < n; i++)
		if (s != b->tasks[0]->step || i > b->tasks[0]->index)
			try_task(x, b, s, items, i);
}

static void gather(struct execution *x, struct batch *b)
{
	const struct step *first = b->tasks[0]->step;

	for (unsigned i = first->index; i < x->n_list; i++)
		if (x->list[i].kind == first->kind)
			gather_step(x, b, &x->list[i]);
	for (unsigned i = 1; i < b->n; i++)
		events_hash(x, b->tasks[i]);
}

struct batch *batch_gather(struct execution *x, struct task *first)
{
	struct batch *b = xcalloc(1, sizeof *b);

	b->tasks[b->n++] = first;
	if (first->step->kind->batched)
		gather(x, b);
	return b;
}

unsigned batch_args(const struct batch *b, const json_t *args[static BATCH_MAX])
{
	for (unsigned i = 0; i < b->n; i++)
		args[i] = b->tasks[i]->args;
	return b->n;
}

static int apply(struct execution *x, const struct batch *b, struct err *err)
{
	const json_t *args[BATCH_MAX];
	struct step_report report;
	int rc;

	batch_args(b, args);
	x->step_env.step = b->tasks[0]->step;
	step_report_init(&report);
	rc = b->tasks[0]->ops->apply_all(&x->step_env, args, b->n, &report, err);
	if (rc < 0 && report.denied)
		b->tasks[0]->report.denied = true;
	step_report_done(&report);
	step_cache_forget(x->cache);
	return rc;
}

/* After a transaction, each is checked; after a failed one the first stands for all. */
static void settle(struct execution *x, struct batch *b, int rc, const struct err *why)
{
	struct err err;

	if (rc < 0) {
		steps_fail(x, b->tasks[0], why);
		return;
	}
	for (unsigned i = 0; i < b->n; i++) {
		if (task_check_again(x, b->tasks[i], &err) < 0)
			steps_fail(x, b->tasks[i], &err);
		else
			steps_settle(x, b->tasks[i], RESULT_CHANGED);
	}
}

void batch_done(struct batch *b)
{
	for (unsigned i = 1; i < b->n; i++) {
		task_done(b->tasks[i]);
		free(b->tasks[i]);
		json_decref(b->lists[i]);
	}
	free(b);
}

void batch_run(struct execution *x, struct task *first)
{
	struct batch *b = batch_gather(x, first);
	struct err err;
	int rc;

	rc = intent_begin(x, b->tasks, b->n, &err);
	if (rc == 0)
		rc = apply(x, b, &err);
	if (rc <= 0)
		settle(x, b, rc, &err);
	batch_done(b);
}
