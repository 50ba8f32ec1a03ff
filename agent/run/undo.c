/*
 * undo - takes back what a recipe changed: by the steps of its 'undo', when it has any, else the
 * remembered changes (before.h), last first.
 *
 * A change that cannot be taken back is skipped with its reason, one that somebody else has
 * changed since is a failure; neither stops the rest, since each is about a thing of its own.
 * An order may name one run: then only its share is taken back (before_run.c).
 * What was taken back is forgotten, so a second undo finds nothing to do; what failed stays.
 * Handlers of the changes run at the end, as after an apply, but a service only when it runs. Last
 * of all the node is restarted, once, when one of the changes had done so.
 */
#include "agent/base/buf.h"
#include "agent/base/fs_dir.h"
#include "agent/run/before.h"
#include "agent/run/run_priv.h"
#include "agent/step/reboot.h"

#include <stdio.h>
#include <string.h>

#define WHAT_MAX 300

/* One remembered change. */
struct change {
	json_t *entry;
	const char *name;
	const struct step_ops *ops;
	json_t *args, *before, *after;
	const char *since; /* of one run: another one that changed it again since */
};

static json_t *change_record(const struct execution *x, const struct change *c, const char *ev)
{
	static const char *const keys[] = {"step", "item", "handler", "name", "kind", NULL};
	json_t *record = events_new(x, ev);

	for (const char *const *k = keys; *k; k++)
		if (json_get(c->entry, *k))
			json_object_set(record, *k, json_get(c->entry, *k));
	return record;
}

static json_t *result_record(const struct execution *x, const struct change *c)
{
	json_t *record = change_record(x, c, "undo");

	json_put_str(record, "entry", json_get_str(c->entry, "id", ""));
	json_put_str(record, "undo_of", x->order->undo_of);
	return record;
}

static void tell(struct execution *x, const struct change *c, enum step_result result,
	const char *why, const struct step_report *report)
{
	json_t *record = result_record(x, c);

	events_count(x, result);
	json_put_str(record, "state", result_name(result));
	json_put_str(record, "why", why);
	if (report && report->diff.n > 0 && !redact_holds(x->env->redact, buf_str(&report->diff)))
		json_put_text(record, "diff", buf_str(&report->diff));
	if (!x->dry)
		json_put_bool(record, "done", true);
	events_add(x, record);
}

static void tell_failure(struct execution *x, const struct change *c, const struct err *err)
{
	json_t *record = result_record(x, c);
	char what[WHAT_MAX];

	events_put_error(record, err);
	events_add(x, record);
	snprintf(what, sizeof what, "undo of %.200s", c->name);
	events_note(x, what, err);
}

static bool is_hidden(const json_t *v)
{
	return json_get_bool(v, BEFORE_HIDDEN, false);
}

/* Why a change cannot be taken back; NULL: it can. */
static const char *why_not(struct execution *x, const struct change *c)
{
	const char *kind = json_get_str(c->entry, "kind", "");
	const struct kind *k = kind_find(kind);

	if (!c->ops)
		return arena_printf(x->arena, "this agent does not know steps of kind '%s'", kind);
	if (!c->ops->undo)
		return arena_printf(x->arena, "a '%s' cannot be taken back: %s", kind,
			k && k->undo && *k->undo ? k->undo : "what was there before is not known");
	if (is_hidden(c->before))
		return "what was there before holds a secret, which is not kept";
	return NULL;
}

static bool is_back(struct execution *x, const struct change *c)
{
	AUTO_JSON now = NULL;
	struct err why;

	return c->before && c->ops->before &&
	       c->ops->before(&x->step_env, c->args, &now, &why) == 0 && now &&
	       json_equal(now, c->before);
}

static int notify(struct execution *x, const struct change *c, struct err *err)
{
	json_t *names = json_get(c->entry, "notify"), *one;
	size_t i;
	int rc = 0;

	json_array_foreach(names, i, one)
	{
		const char *name = json_string_value(one);

		/* The recipe may have lost a handler since. */
		for (unsigned k = 0; rc == 0 && name && k < x->recipe->n_handlers; k++)
			if (strcmp(x->recipe->handlers[k].name, name) == 0)
				rc = due_notify(
					x, &(struct step){.n_notify = 1, .notify = &name}, err);
	}
	return rc;
}

static int write_intent(struct execution *x, const struct change *c, struct err *err)
{
	json_t *record = change_record(x, c, "intent");

	json_put_str(record, "undo", json_get_str(c->entry, "id", ""));
	return events_write(x, record, true, err);
}

/* By a restart at the end of the undo; or that has been, and the undo was gone on with. */
static void put_off(struct execution *x, const struct change *c)
{
	json_t *record = result_record(x, c);
	struct err err;

	if (x->undo_restart.boot_id) {
		json_decref(record);
		if (past_await_reboot(x, &x->undo_restart, &err) < 0)
			tell_failure(x, c, &err);
		else
			tell(x, c, RESULT_CHANGED, "the node has restarted", NULL);
		return;
	}
	json_put_int(record, "within", json_get_int(c->args, "timeout", REBOOT_TIMEOUT_S));
	if (!x->restarts)
		x->restarts = json_array();
	json_array_append_new(x->restarts, record);
}

static void take_back(struct execution *x, const struct change *c)
{
	struct step_report report;
	struct err err;
	int rc = intent_leave(x, &err);

	if (rc > 0)
		return;
	step_report_init(&report);
	if (rc == 0)
		rc = notify(x, c, &err);
	if (rc == 0)
		rc = write_intent(x, c, &err);
	if (rc < 0) { /* without a journal nothing may be done */
		events_stop(x, "journal", &err);
	} else {
		if (intent_open_blobs(x, NULL) == 0)
			x->step_env.keep = x->blobs;
		rc = c->ops->undo(&x->step_env, c->args, c->before, c->after, &report, &err);
		x->step_env.keep = -1;
		step_cache_forget(x->cache);
		if (rc < 0)
			tell_failure(x, c, &err);
		else if (report.reboot)
			put_off(x, c);
		else
			tell(x, c, RESULT_CHANGED, report.why[0] ? report.why : NULL, &report);
	}
	step_report_done(&report);
}

/* It stays remembered: another undo may come further. */
static void leave_unrestarted(struct execution *x)
{
	json_t *record;
	size_t i;

	json_array_foreach(x->restarts, i, record)
	{
		json_object_del(record, "within");
		json_put_str(record, "state", result_name(RESULT_SKIPPED));
		json_put_str(record, "why", "not restarted: not all else could be taken back");
		events_count(x, RESULT_SKIPPED);
		events_add(x, json_incref(record));
	}
}

static int64_t longest(const json_t *records)
{
	int64_t within = 0;
	const json_t *one;
	size_t i;

	json_array_foreach(records, i, one)
	{
		const int64_t v = json_get_int(one, "within", 0);

		within = v > within ? v : within;
	}
	return within;
}

void undo_restart(struct execution *x)
{
	const unsigned *n = x->out->counts.n;
	struct err err;
	json_t *record;

	if (!x->restarts || x->stop != STOP_NOT || events_cancelled(x))
		return;
	if (n[RESULT_FAILED] + n[RESULT_DENIED] + n[RESULT_TIMEOUT] > 0) {
		leave_unrestarted(x);
		return;
	}
	record = json_copy(json_array_get(x->restarts, 0));
	json_put_str(record, "ev", "rebooting");
	json_object_del(record, "entry");
	json_put_bool(record, "undo", true);
	json_put_int(record, "within", longest(x->restarts));
	if (steps_go_down(x, record, &err) < 0)
		events_stop(x, "restart", &err);
}

/* As a plan: what would be taken back goes into its hash. */
static void foretell(struct execution *x, const struct change *c)
{
	const char *id = json_get_str(c->entry, "id", "");
	struct err err;

	hash_update(x->plan, x->recipe->name, strlen(x->recipe->name) + 1);
	hash_update(x->plan, id, strlen(id) + 1);
	(void)notify(x, c, &err);
	tell(x, c, RESULT_CHANGED, NULL, NULL);
}

/* Of the whole change, or the share of the run that is to be taken back; false: it has none. */
static bool read_change(const struct execution *x, json_t *entry, struct change *c)
{
	struct before_share share;

	*c = (struct change){.entry = entry,
		.name = json_get_str(entry, "name", ""),
		.ops = step_find(json_get_str(entry, "kind", "")),
		.args = json_get(entry, "args"),
		.before = json_get(entry, "before"),
		.after = json_get(entry, "after")};
	if (!x->order->undo_of)
		return true;
	if (!before_share(entry, x->order->undo_of, &share))
		return false;
	c->args = share.args;
	c->before = share.before;
	c->after = share.after;
	c->since = share.since;
	return true;
}

static void refuse_changed_since(struct execution *x, const struct change *c)
{
	struct err err;

	err_set(&err, E_CONFLICT, "run '%s' has changed it again since", c->since);
	err_hint(&err, "take that run back first");
	tell_failure(x, c, &err);
}

static void undo_change(struct execution *x, json_t *entry)
{
	struct change c;
	const char *why;

	if (!read_change(x, entry, &c))
		return;
	why = why_not(x, &c);
	x->step_env.step = NULL;
	if (c.since)
		refuse_changed_since(x, &c);
	else if (why)
		tell(x, &c, RESULT_SKIPPED, why, NULL);
	else if (is_back(x, &c))
		tell(x, &c, RESULT_OK, "is as it was before", NULL);
	else if (x->dry)
		foretell(x, &c);
	else
		take_back(x, &c);
}

static void undo_changes(struct execution *x)
{
	struct err err;
	json_t *doc, *entries;

	if (intent_load_changed(x, &doc, &err) < 0) {
		events_stop(x, "undo", &err);
		return;
	}
	if (x->order->undo_of && before_forgot(doc, x->order->undo_of)) {
		err_set(&err, E_NOTFOUND, "what run '%s' changed here is not known any more",
			x->order->undo_of);
		err_hint(&err, "too many runs have followed; apply what was there before");
		events_stop(x, "undo", &err);
		return;
	}
	entries = before_entries(doc);
	for (size_t i = json_array_size(entries); i-- > 0 && !events_cancelled(x);)
		undo_change(x, json_array_get(entries, i));
}

/* The recipe says itself how it is rolled back; then what is remembered of it is of no use. */
static void undo_by_steps(struct execution *x)
{
	json_t *record, *doc;
	struct err err;

	x->list = x->recipe->undo;
	x->n_list = x->recipe->n_undo;
	x->of = "undo";
	steps_run(x);
	if (x->stop != STOP_NOT || x->dry || intent_load_changed(x, &doc, &err) < 0 ||
		json_array_size(before_entries(doc)) == 0)
		return;
	record = events_new(x, "undo");
	json_put_str(record, "entry", BEFORE_ALL);
	json_put_str(record, "state", result_name(RESULT_OK));
	json_put_str(record, "why", "taken back by the recipe's own undo");
	json_put_bool(record, "done", true);
	if (events_write(x, record, true, &err) < 0)
		events_stop(x, "journal", &err);
}

/* The recipe's own undo takes all back: not where other runs have a share. */
static bool has_own_undo(struct execution *x)
{
	json_t *doc;

	if (x->recipe->n_undo == 0 || !x->order->undo_of)
		return x->recipe->n_undo > 0;
	return intent_load_changed(x, &doc, NULL) == 0 && before_all_of(doc, x->order->undo_of);
}

int undo_find_run(struct execution *x, struct err *err)
{
	const char *of = x->order->undo_of;
	DIR *dir = fs_dir_open(x->env->state, "runs", NULL);
	const struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		const struct str name = str_of(e->d_name);

		found = str_ends(name, ".journal") &&
			before_is_of(str_first(name, name.n - strlen(".journal")), of);
	}
	if (dir)
		closedir(dir);
	if (found)
		return 0;
	err_set(err, E_NOTFOUND, "this node has no journal of run '%s'", of);
	return err_hint(
		err, "it never came here, or too many runs have followed; nothing was touched");
}

void undo_run(struct execution *x)
{
	if (has_own_undo(x))
		undo_by_steps(x);
	else
		undo_changes(x);
	x->of = NULL;
	if (x->stop == STOP_NOT)
		due_run(x);
}
