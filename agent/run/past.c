/*
 * past - what an interrupted run had done, from its journal.
 *
 * What had finished stays so, unless it differs now: then that is told, and it is
 * done again. What was begun only is looked at again, whatever its 'when' says
 * now: it was wanted when it was begun. What cannot be looked at (a command
 * without a guard, a restart) is repeated when it had not finished, and only then.
 */
#include "agent/run/run_priv.h"

#include <string.h>

#define POLL        CLOCK_SEC
#define WITHIN_SECS 900 /* for a reboot that does not say */

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static size_t find(const struct execution *x, const struct past *key)
{
	size_t i = 0;

	for (; i < x->past.n; i++) {
		const struct past *p = &x->past.at[i];

		if (p->step == key->step && p->item == key->item &&
			same_text(p->recipe, key->recipe) && same_text(p->handler, key->handler) &&
			same_text(p->of, key->of))
			break;
	}
	return i;
}

static struct past key_of_record(const json_t *record)
{
	return (struct past){.recipe = json_get_str(record, "recipe", ""),
		.handler = json_get_str(record, "handler", NULL),
		.of = json_get_str(record, "of", NULL),
		.step = (unsigned)json_get_int(record, "step", 0),
		.item = (unsigned)json_get_int(record, "item", 0)};
}

static struct past *note(struct execution *x, const json_t *record)
{
	const struct past key = key_of_record(record);
	const size_t at = find(x, &key);
	struct past *p;

	if (at < x->past.n)
		return &x->past.at[at];
	p = vec_push(&x->past);
	*p = key;
	p->recipe = arena_strdup(x->arena, key.recipe);
	p->handler = key.handler ? arena_strdup(x->arena, key.handler) : NULL;
	p->of = key.of ? arena_strdup(x->arena, key.of) : NULL;
	return p;
}

/* One that was never begun had only something to tell. */
static void finish(struct execution *x, const json_t *record)
{
	const struct past key = key_of_record(record);
	const size_t at = find(x, &key);

	if (at == x->past.n)
		return;
	x->past.at[at].result = result_parse(json_get_str(record, "state", ""));
	x->past.at[at].done = x->past.at[at].result == RESULT_CHANGED;
}

static int see(void *ctx, const json_t *record, struct err *err)
{
	struct execution *x = ctx;
	const char *ev = json_get_str(record, "ev", "");

	(void)err;
	if (strcmp(ev, "intent") == 0 && !json_get(record, "undo")) {
		struct past *p = note(x, record);

		p->done = false;
		p->boot_id = NULL;
	} else if (strcmp(ev, "step") == 0) {
		finish(x, record);
	} else if (strcmp(ev, "undo") == 0 && json_get_bool(record, "done", false)) {
		events_count(x, result_parse(json_get_str(record, "state", "")));
	} else if (strcmp(ev, "rebooting") == 0) {
		struct past *p = json_get(record, "undo") ? &x->undo_restart : note(x, record);

		p->boot_id = arena_strdup(x->arena, json_get_str(record, "boot_id", ""));
		p->at = json_get_int(record, "at", 0);
		p->within = json_get_int(record, "within", WITHIN_SECS);
	}
	return 0;
}

int past_load(struct execution *x, struct err *err)
{
	return journal_read(x->env->state, x->order->run, 0, see, x, err);
}

const struct past *past_find(const struct execution *x, const struct task *t)
{
	const struct past key = {.recipe = x->recipe->name,
		.handler = t->is_handler ? t->step->name : NULL,
		.of = x->of,
		.step = t->is_handler ? 0 : t->step->index + 1,
		.item = t->item ? t->index + 1 : 0};

	const size_t at = find(x, &key);

	return at < x->past.n ? &x->past.at[at] : NULL;
}

int past_await_reboot(struct execution *x, const struct past *p, struct err *err)
{
	const char *now = x->env->boot_id ? x->env->boot_id : "";
	const int64_t until = p->at + p->within * CLOCK_SEC;

	if (strcmp(p->boot_id, now) != 0)
		return 0;
	while (clock_wall() < until) {
		if (events_cancelled(x))
			return err_set(err, E_CANCELLED, "cancelled while waiting for the reboot");
		clock_sleep(POLL);
	}
	err_set(err, E_TIMEOUT, "the node has not restarted within %lld s: its boot id is still %s",
		(long long)p->within, now);
	return err_hint(err, "look at 'systemctl list-jobs' and the console, restart it by hand, "
			     "then apply again");
}

static void tell_since(struct execution *x, const struct task *t)
{
	json_t *record = steps_record(x, t, "since");

	json_put_str(record, "why", t->why);
	events_add(x, record);
}

bool past_settle(struct execution *x, struct task *t)
{
	const struct past *p = t->past;

	if (!p || t->verdict == RESULT_UNKNOWN)
		return false;
	/* Nothing is restarted twice, even when there is a reason again. */
	if (p->done && t->verdict == RESULT_CHANGED && !t->report.always && !p->boot_id) {
		tell_since(x, t);
		return false;
	}
	if (p->done) {
		steps_remember(x, t, p->result);
		return true;
	}
	if (t->verdict != RESULT_OK)
		return false;
	t->begun = true;
	t->why = p->boot_id ? "the node has restarted" : "was done when the run was interrupted";
	steps_settle(x, t, RESULT_CHANGED);
	return true;
}
