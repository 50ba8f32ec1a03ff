/*
 * due - handlers that were called for: in the journal before the change that
 * calls for them, run once at the end of their recipe, by this run or by the next.
 */
#include "agent/base/buf.h"
#include "agent/base/fs.h"
#include "agent/run/run_priv.h"
#include "agent/step/tool.h"

#include <stdio.h>
#include <string.h>

#define DUE_MAX 10000

static struct due *find(struct execution *x, const char *recipe, const char *handler)
{
	for (size_t i = 0; i < x->due.n; i++)
		if (strcmp(x->due.at[i].recipe, recipe) == 0 &&
			strcmp(x->due.at[i].handler, handler) == 0)
			return &x->due.at[i];
	return NULL;
}

static void drop(struct execution *x, const struct due *d)
{
	const size_t at = (size_t)(d - x->due.at);

	memmove(&x->due.at[at], &x->due.at[at + 1], (x->due.n - at - 1) * sizeof *d);
	x->due.n--;
}

int due_load(struct execution *x, struct err *err)
{
	struct journal_left left;
	const int rc = journal_unfinished(x->env->state, x->arena, &left, err);

	if (rc < 0)
		return rc;
	const bool own = left.run && x->env->resumed_by && strcmp(left.run, x->order->run) == 0;

	x->left_run = own ? NULL : left.run;
	for (unsigned i = 0; i < left.n_handlers; i++)
		*vec_push(&x->due) = (struct due){.recipe = left.handlers[i].recipe,
			.handler = left.handlers[i].handler,
			.journalled = own,
			.left = !own};
	return 0;
}

static int write_notify(struct execution *x, struct due *d, struct err *err)
{
	json_t *record;
	int rc;

	if (x->dry || d->journalled)
		return 0;
	record = events_new(x, "notify");
	json_put_str(record, "recipe", d->recipe);
	json_put_str(record, "handler", d->handler);
	rc = events_write(x, record, false, err);
	d->journalled = rc == 0;
	return rc;
}

/* What an earlier run left goes into this journal first: the link will name only this one. */
static int carry_over(struct execution *x, struct err *err)
{
	if (journal_is_durable(x->journal))
		return 0;
	for (size_t i = 0; i < x->due.n; i++) {
		const int rc = write_notify(x, &x->due.at[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int due_notify(struct execution *x, const struct step *s, struct err *err)
{
	int rc = carry_over(x, err);

	for (unsigned i = 0; rc == 0 && i < s->n_notify; i++) {
		struct due *d = find(x, x->recipe->name, s->notify[i]);

		if (!d && x->due.n >= DUE_MAX)
			return err_set(err, E_LIMIT, "more than %d handlers are due", DUE_MAX);
		if (!d) {
			d = vec_push(&x->due);
			d->recipe = arena_strdup(x->arena, x->recipe->name);
			d->handler = arena_strdup(x->arena, s->notify[i]);
		}
		rc = write_notify(x, d, err);
	}
	return rc;
}

/* Whether the service of a handler runs now. */
static bool service_runs(struct execution *x, const struct task *t)
{
	AUTO_JSON args = t->args ? json_deep_copy(t->args) : NULL;
	struct step_report report;
	bool runs;

	if (!args)
		return false;
	json_put_str(args, "state", "running");
	json_object_del(args, "enabled");
	step_report_init(&report);
	runs = t->ops->check(&x->step_env, args, &report, NULL) == 0 && report.state == STEP_SAME;
	step_report_done(&report);
	return runs;
}

/* A command whose program the undo has taken away with its package. */
static bool program_is_gone(struct execution *x, const struct task *t)
{
	const char *name = json_string_value(json_array_get(json_get(t->args, "run"), 0));
	struct stat st;

	if (strcmp(t->step->kind->name, "command") != 0 || !name)
		return false;
	return *name == '/' ? fs_stat(x->step_env.root, name, true, &st, NULL) < 0
			    : !strchr(name, '/') && !tool_is_there(&x->step_env, name);
}

/*
 * Why a handler does not run after an undo; NULL: it does. Only what acts anew each time (a
 * restart, a command) is of use then: one that makes a state would make what was just taken back.
 * And a service is restarted for its earlier configuration only when it runs: one that the undo
 * has stopped or removed must not be started by that.
 */
static const char *pointless(struct execution *x, const struct task *t)
{
	const bool service = strcmp(t->step->kind->name, "service") == 0;

	if (x->order->mode != ORDER_UNDO)
		return NULL;
	if (strcmp(t->step->kind->name, "reboot") == 0)
		return "an undo restarts the node at its end, if that had been restarted";
	if (service && !service_runs(x, t))
		return "its service is not running";
	if (program_is_gone(x, t))
		return "its program is not there any more";
	return !service && t->verdict == RESULT_CHANGED && !t->report.always
		       ? "it would make again what was taken back"
		       : NULL;
}

/* One instance; *result grows to "changed" when it acted. 1: the run goes on elsewhere, or later.
 */
static int run_instance(
	struct execution *x, struct task *t, enum step_result *result, struct err *err)
{
	struct task *const one[] = {t};
	int rc = task_decide(x, t, err);
	const char *why_not = pointless(x, t);

	if (why_not) {
		*result = *result == RESULT_OK ? RESULT_SKIPPED : *result;
		t->why = why_not;
		return 0;
	}
	if (rc < 0)
		return rc;
	if (t->verdict == RESULT_UNKNOWN) {
		steps_stop_unknown(x, t);
		return 1;
	}
	if (t->verdict != RESULT_CHANGED) {
		if (t->past && t->past->boot_id)
			*result = RESULT_CHANGED;
		return 0;
	}
	if ((rc = intent_begin(x, one, 1, err)) == 0)
		rc = task_apply(x, t, err);
	if (rc == 0 && t->reboot) {
		rc = steps_reboot(x, t, err);
		return rc < 0 ? rc : 1;
	}
	if (rc == 0)
		*result = RESULT_CHANGED;
	return rc;
}

/* All instances; one record tells of the whole, written by the last or by the one that failed. */
static void run_handler(struct execution *x, const struct step *s)
{
	AUTO_JSON items = NULL;
	const char *unknown = NULL;
	enum step_result result = RESULT_OK;
	struct task t;
	struct err err;
	int rc = steps_items(x, s, &items, &unknown, &err);
	const size_t n = items ? json_array_size(items) : 1;

	if (rc == 0 && unknown)
		rc = err_set(&err, E_STATE, "'each' cannot be told: %s", unknown);
	task_init(x, &t, s, NULL, 0);
	t.is_handler = true;
	for (unsigned i = 0; i < n && rc == 0; i++) {
		task_done(&t);
		task_init(x, &t, s, json_array_get(items, i), i);
		t.is_handler = true;
		rc = run_instance(x, &t, &result, &err);
	}
	if (rc < 0)
		steps_fail(x, &t, &err);
	else if (rc == 0)
		steps_settle(x, &t, result);
	task_done(&t);
	world_bind_item(x, NULL);
}

static void tell(struct execution *x, const char *handler, enum step_result result, const char *why)
{
	json_t *record = events_new(x, "handler");

	json_put_str(record, "handler", handler);
	json_put_str(record, "state", result_name(result));
	json_put_str(record, "why", why);
	events_count(x, result);
	events_add(x, record);
}

static void foretell(struct execution *x, const struct step *s, const struct due *d)
{
	tell(x, s->name, RESULT_CHANGED,
		d->left ? arena_printf(x->arena, "left by run '%s'", x->left_run) : "called for");
}

/* A recipe may have lost a handler since an earlier run called for it. */
static void drop_strangers(struct execution *x)
{
	for (size_t i = x->due.n; i-- > 0;) {
		const struct due *d = &x->due.at[i];

		if (strcmp(d->recipe, x->recipe->name) != 0)
			continue;
		if (!x->dry)
			tell(x, d->handler, RESULT_SKIPPED,
				"the recipe has no such handler any more");
		drop(x, d);
	}
}

void due_run(struct execution *x)
{
	for (unsigned i = 0; i < x->recipe->n_handlers; i++) {
		const struct step *s = &x->recipe->handlers[i];
		const struct due *d = find(x, x->recipe->name, s->name);

		if (!d)
			continue;
		if (events_cancelled(x))
			return;
		if (x->dry)
			foretell(x, s, d);
		else
			run_handler(x, s);
		if (x->stop != STOP_NOT)
			return;
		/* Looked for again: the list may have moved. */
		if ((d = find(x, x->recipe->name, s->name)))
			drop(x, d);
	}
	drop_strangers(x);
}

void due_explain(const struct execution *x, struct buf *out)
{
	for (size_t i = 0; !x->dry && i < x->due.n; i++) {
		const struct due *d = &x->due.at[i];

		if (i == 0)
			buf_add_text(out, "handler");
		buf_addf(out, "%s '%s'", i > 0 ? "," : "", d->handler);
		if (!x->recipe || strcmp(x->recipe->name, d->recipe) != 0)
			buf_addf(out, " of recipe '%s'", d->recipe);
	}
	if (!x->dry && x->due.n > 0)
		buf_add_text(out, x->due.n == 1 ? " is still due" : " are still due");
}
