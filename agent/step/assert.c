/* assert - stops a run, or a plan, when something that must hold does not. */
#include "agent/base/err.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const struct step_arg *that = env->step ? step_arg_find(env->step, "that") : NULL;
	const char *message = json_get_str(args, "message", NULL);
	const char *hint = json_get_str(args, "hint", NULL);
	const char *unknown = NULL;
	bool holds = false;
	int rc;

	if (!that || !that->expr)
		return err_set(err, E_SCHEMA, "an assert needs 'that', an expression");
	rc = expr_eval_bool(that->expr, env->scope, &holds, &unknown, err);
	if (rc < 0)
		return rc;
	if (unknown) {
		report_unknown(rep, "%s", unknown);
		return 0;
	}
	if (holds)
		return 0;
	err_set(err, E_STATE, "%s", message ? message : "what must hold does not");
	return err_hint(err, "%s",
		hint ? hint : "the expression is false on this node; see the step's 'that'");
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	return check(env, args, rep, err);
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	(void)env, (void)args, (void)before, (void)after, (void)rep, (void)err;
	return 0;
}

const struct step_ops STEP_ASSERT = {
	.kind = "assert", .check = check, .apply = apply, .undo = undo};
