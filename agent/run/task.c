/* task - one instance of a step: decide, apply, check again. */
#include "agent/base/buf.h"
#include "agent/run/run_priv.h"

#include <string.h>

#define NAME_MAX_BYTES 200

/* The step's name, with what tells this instance from its sisters. */
static const char *instance_name(
	struct execution *x, const struct step *s, const json_t *item, unsigned index)
{
	const char *label =
		json_is_object(item) ? json_get_str(item, "name", NULL) : json_string_value(item);

	if (!item)
		return s->name;
	if (json_is_integer(item))
		return arena_printf(
			x->arena, "%s [%lld]", s->name, (long long)json_integer_value(item));
	if (!label)
		return arena_printf(x->arena, "%s [%u]", s->name, index + 1);
	return arena_printf(x->arena, "%s [" STR_FMT "]", s->name,
		STR_ARG(str_first(str_of(label), NAME_MAX_BYTES)));
}

/* A name made from an argument shows the template until the argument is known. */
static void name_by_arguments(struct execution *x, struct task *t)
{
	const char *main = json_get_str(t->args, "path", json_get_str(t->args, "name", NULL));

	if (main && strstr(t->step->name, "{{"))
		t->name = arena_printf(x->arena, "%s %s", t->step->kind->name, main);
}

static int be_unknown(struct execution *x, struct task *t, const char *why)
{
	t->verdict = RESULT_UNKNOWN;
	t->why = world_unknown_why(x, why);
	return 0;
}

/* Sets what a check or an apply looks at besides its arguments. */
static void bind(struct execution *x, const struct task *t)
{
	world_bind_item(x, t->item);
	x->step_env.step = t->step;
}

static int check(struct execution *x, struct task *t, struct err *err)
{
	const int rc = t->ops->check(&x->step_env, t->args, &t->report, err);

	if (rc < 0)
		return rc;
	if (t->report.state == STEP_UNKNOWN)
		return be_unknown(x, t, t->report.why);
	t->verdict = t->report.state == STEP_SAME ? RESULT_OK : RESULT_CHANGED;
	t->why = t->report.why[0] ? t->report.why : NULL;
	return 0;
}

void task_init(
	struct execution *x, struct task *t, const struct step *s, json_t *item, unsigned index)
{
	*t = (struct task){.step = s, .item = item, .index = index, .started = clock_mono()};
	t->name = instance_name(x, s, item, index);
	step_report_init(&t->report);
}

void task_done(struct task *t)
{
	json_drop(&t->args);
	step_report_done(&t->report);
}

/* It asked for a reboot before: only another boot id says that there was one. */
static int check_after_boot(struct execution *x, struct task *t, struct err *err)
{
	int rc = past_await_reboot(x, t->past, err);

	if (rc < 0)
		return rc;
	x->step_env.rebooted = true;
	rc = check(x, t, err);
	x->step_env.rebooted = false;
	if (rc == 0 && t->verdict == RESULT_CHANGED)
		rc = err_set(err, E_STATE, "the node has restarted, and still %s",
			t->why ? t->why : "asks for it");
	return rc;
}

int task_decide(struct execution *x, struct task *t, struct err *err)
{
	const char *unknown = NULL;
	bool wanted = true;
	int rc;

	bind(x, t);
	t->past = past_find(x, t);
	if (t->step->when && !(t->past && !t->past->done)) {
		rc = expr_eval_bool(t->step->when, &x->scope, &wanted, &unknown, err);
		if (rc < 0)
			return rc;
		if (unknown)
			return be_unknown(x, t, unknown);
	}
	if (!wanted) {
		t->verdict = RESULT_SKIPPED;
		return 0;
	}
	t->ops = step_find(t->step->kind->name);
	if (!t->ops) {
		err_set(err, E_UNSUPPORTED, "this agent does not know steps of kind '%s'",
			t->step->kind->name);
		return err_hint(err, "a newer agent may: stoika agent install NODE");
	}
	rc = step_args_eval(x->recipe, t->step, &x->scope, &t->args, &unknown, err);
	if (rc < 0)
		return rc;
	if (unknown)
		return be_unknown(x, t, unknown);
	name_by_arguments(x, t);
	return t->past && t->past->boot_id && !t->past->done ? check_after_boot(x, t, err)
							     : check(x, t, err);
}

int task_describe(
	struct execution *x, const struct task *t, int keep, json_t **out, struct err *err)
{
	struct err own; /* a kind may look at what it said */
	int rc;

	*out = NULL;
	if (!t->ops->before)
		return 0;
	bind(x, t);
	x->step_env.keep = keep;
	rc = t->ops->before(&x->step_env, t->args, out, err ? err : &own);
	x->step_env.keep = -1;
	return rc;
}

int task_check_again(struct execution *x, struct task *t, struct err *err)
{
	struct step_report after;
	int rc;

	if (t->report.always)
		return 0;
	bind(x, t);
	step_report_init(&after);
	rc = t->ops->check(&x->step_env, t->args, &after, err);
	if (rc == 0 && after.state != STEP_SAME) {
		rc = err_set(err, E_STATE, "still differs after it was applied%s%s",
			after.why[0] ? ": " : "", after.why);
		err_hint(err,
			"somebody else may be changing the same thing, or the step cannot reach it");
	}
	step_report_done(&after);
	return rc;
}

int task_apply(struct execution *x, struct task *t, struct err *err)
{
	struct step_report done;
	int rc;

	const json_t *const all[] = {t->args};

	bind(x, t);
	step_report_init(&done);
	if (t->ops->apply)
		rc = t->ops->apply(&x->step_env, t->args, &done, err);
	else
		rc = t->ops->apply_all(&x->step_env, all, 1, &done, err);
	if (rc < 0 && done.denied)
		t->report.denied = true;
	t->reboot = rc == 0 && done.reboot;
	step_report_done(&done);
	step_cache_forget(x->cache);
	return rc < 0 || t->reboot ? rc : task_check_again(x, t, err);
}
