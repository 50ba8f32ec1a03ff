/*
 * stage - fetches what an apply would need: each step that differs is handed to its kind's stage.
 *
 * The steps are decided as in a plan and nothing is applied, so what hangs on an earlier step stays
 * unknown here too, and is told so. Nothing is journalled: there is no change to go on with.
 */
#include "agent/base/err.h"
#include "agent/run/run_priv.h"

#include <stdio.h>
#include <string.h>

static void tell(struct execution *x, const struct task *t, enum step_result result,
	const struct step_report *done, const struct err *err)
{
	json_t *record = steps_record(x, t, "stage");

	if (err)
		events_put_error(record, err);
	json_put_str(record, "state", result_name(result));
	if (!err && done->why[0])
		json_put_str(record, "why", done->why);
	json_put_int(record, "took_us", (clock_mono() - t->started) / 1000);
	events_add(x, record);
}

/* An earlier step would bring a source of packages: what is wanted may well be there then. */
static const char *excuse(struct execution *x, const struct err *err)
{
	static const char *const brings[] = {"repo", "file", "command", NULL};

	if (err->code != E_NOTFOUND && err->code != E_CONFLICT)
		return NULL;
	for (size_t i = x->touched.n; i-- > 0;)
		for (const char *const *k = brings; *k; k++)
			if (strcmp(x->touched.at[i].kind, *k) == 0)
				return world_depends_on(x, &x->touched.at[i],
					arena_printf(x->arena, ": %s", err->msg));
	return NULL;
}

/* What could not be fetched: unknown where an earlier step may bring it, else the run stops. */
static enum step_result fail(struct execution *x, const struct task *t,
	const struct step_report *done, const struct err *err)
{
	const char *why = excuse(x, err);
	struct step_report unknown = {.state = STEP_UNKNOWN};
	struct err told = *err;
	char what[160];

	if (why) {
		snprintf(unknown.why, sizeof unknown.why, "%s", why);
		tell(x, t, RESULT_UNKNOWN, &unknown, NULL);
		return RESULT_UNKNOWN;
	}
	if (done->denied)
		told.code = E_DENIED;
	tell(x, t, events_result(&told), done, &told);
	snprintf(what, sizeof what, "step %u (%.100s)", t->step->index + 1, t->name);
	events_stop(x, what, &told);
	return RESULT_FAILED;
}

static void stage_batch(struct execution *x, const struct batch *b)
{
	const json_t *args[BATCH_MAX];
	const unsigned n = batch_args(b, args);
	const struct task *first = b->tasks[0];
	enum step_result result = RESULT_OK;
	struct step_report done;
	struct err err;

	step_report_init(&done);
	x->step_env.step = first->step;
	if (first->ops->stage(&x->step_env, args, n, &done, &err) < 0)
		result = fail(x, first, &done, &err);
	else
		tell(x, first, RESULT_OK, &done, NULL);
	step_cache_forget(x->cache);
	step_report_done(&done);
	for (unsigned i = 0; i < n && result != RESULT_FAILED; i++) {
		world_touch(x, b->tasks[i]);
		steps_remember(x, b->tasks[i], result);
	}
}

void stage_run(struct execution *x, struct task *first)
{
	struct batch *b;
	struct err err;
	int rc;

	if (!first->ops->stage) {
		world_touch(x, first);
		steps_remember(x, first, RESULT_OK);
		return;
	}
	rc = intent_leave(x, &err); /* it may take long: the link is kept alive meanwhile */
	if (rc < 0)
		events_stop(x, "session", &err);
	if (rc != 0)
		return;
	b = batch_gather(x, first);
	stage_batch(x, b);
	batch_done(b);
}
