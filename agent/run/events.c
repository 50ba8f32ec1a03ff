/* events - what is recorded: to the journal, to the sink, into the counts and the plan's hash. */
#include "agent/base/buf.h"
#include "agent/run/run_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WHY_MAX 600

json_t *events_new(const struct execution *x, const char *ev)
{
	json_t *record = json_object();

	json_put_str(record, "ev", ev);
	if (x->recipe)
		json_put_str(record, "recipe", x->recipe->name);
	return record;
}

static void to_sink(const struct execution *x, const json_t *record)
{
	if (x->env->event)
		x->env->event(x->env->ctx, record);
}

void events_add(struct execution *x, json_t *record)
{
	struct err err;
	int rc;

	redact_json(x->env->redact, record);
	rc = journal_add(x->journal, record, false, &err);

	to_sink(x, record);
	json_decref(record);
	if (rc < 0)
		events_stop(x, "journal", &err);
}

int events_write(struct execution *x, json_t *record, bool durable, struct err *err)
{
	int rc;

	redact_json(x->env->redact, record);
	rc = journal_add(x->journal, record, durable, err);
	if (rc == 0)
		to_sink(x, record);
	json_decref(record);
	return rc;
}

void events_count(struct execution *x, enum step_result result)
{
	x->out->counts.n[result]++;
}

/* The message behind its place, where it has one. */
static void tell(const struct err *err, char out[static WHY_MAX])
{
	if (err->file[0])
		snprintf(out, WHY_MAX, "%s:%u:%u: %s", err->file, err->line, err->col, err->msg);
	else
		snprintf(out, WHY_MAX, "%s", err->msg);
}

void events_put_error(json_t *record, const struct err *err)
{
	char why[WHY_MAX];

	tell(err, why);
	json_put_str(record, "state", result_name(events_result(err)));
	json_put_str(record, "why", why);
	if (err->hint[0])
		json_put_str(record, "hint", err->hint);
}

enum step_result events_result(const struct err *err)
{
	switch (err->code) {
	case E_DENIED:
		return RESULT_DENIED;
	case E_TIMEOUT:
		return RESULT_TIMEOUT;
	case E_CANCELLED:
		return RESULT_INTERRUPTED;
	default:
		return RESULT_FAILED;
	}
}

void events_explain(struct execution *x, const char *fmt, ...)
{
	char *reason = x->out->reason;
	const size_t n = strlen(reason);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason + n, sizeof x->out->reason - n, fmt, ap);
	va_end(ap);
}

void events_note(struct execution *x, const char *what, const struct err *err)
{
	char why[WHY_MAX];

	events_count(x, events_result(err));
	if (x->out->reason[0])
		return;
	if (x->recipe)
		events_explain(x, "recipe '%s', ", x->recipe->name);
	tell(err, why);
	events_explain(x, "%s: %s", what, why);
	snprintf(x->out->hint, sizeof x->out->hint, "%s", err->hint);
}

void events_stop(struct execution *x, const char *what, const struct err *err)
{
	if (x->stop == STOP_NOT)
		x->stop = err->code == E_CANCELLED ? STOP_CANCELLED : STOP_FAILED;
	events_note(x, what, err);
}

bool events_cancelled(struct execution *x)
{
	if (x->stop == STOP_NOT && x->env->cancelled && x->env->cancelled(x->env->ctx)) {
		x->stop = STOP_CANCELLED;
		events_count(x, RESULT_INTERRUPTED);
		if (!x->out->reason[0])
			events_explain(x, "cancelled");
	}
	return x->stop != STOP_NOT;
}

void events_recipe(struct execution *x, const char *name, enum step_result result, const char *why)
{
	json_t *record = events_new(x, "recipe");

	json_put_str(record, "recipe", name);
	json_put_str(record, "state", result_name(result));
	json_put_str(record, "why", why);
	events_count(x, result);
	events_add(x, record);
}

/* Some of its arguments are made of a secret, whether or not that can be found in them. */
static bool reads_secret(const struct task *t)
{
	for (unsigned i = 0; i < t->step->n_args; i++)
		if (t->step->args[i].secret)
			return true;
	return false;
}

struct str events_diff(const struct execution *x, const struct task *t)
{
	const struct str diff = buf_str(&t->report.diff);

	if (diff.n > 0 && (reads_secret(t) || redact_json_holds(x->env->redact, t->args) ||
				  redact_holds(x->env->redact, diff)))
		return STR_LIT("content differs (holds a secret)\n");
	return diff;
}

void events_hash(struct execution *x, const struct task *t)
{
	const struct str diff = events_diff(x, t);
	const char *verdict = result_name(t->verdict);
	char head[64];

	/* Every part ends in a NUL, so that no two lists of parts give the same bytes. */
	hash_update(x->plan, x->recipe->name, strlen(x->recipe->name) + 1);
	snprintf(head, sizeof head, "%s%u.%u", x->of ? x->of : "", t->step->index + 1, t->index);
	hash_update(x->plan, head, strlen(head) + 1);
	hash_update(x->plan, t->step->kind->name, strlen(t->step->kind->name) + 1);
	hash_update(x->plan, verdict, strlen(verdict) + 1);
	hash_update(x->plan, diff.p, diff.n);
	hash_update(x->plan, "", 1);
}
