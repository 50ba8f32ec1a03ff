/*
 * command - a program, run only when its guards say so.
 *
 * 'creates' and 'unless' are judged here without starting a program. Without
 * any guard the step differs each time and says so (report.always). What it
 * leaves running is ended with it, unless it is asked to stay.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <stdio.h>
#include <string.h>

#define ARGS_MAX    256
#define VARS_MAX    128
#define TIMEOUT_MAX (24 * 3600)

static const struct step_arg *unless(const struct step_env *env)
{
	const struct step_arg *a = env->step ? step_arg_find(env->step, "unless") : NULL;

	return a && a->expr ? a : NULL;
}

/* *satisfied: a guard says that there is nothing to do. */
static int judge_guards(struct step_env *env, const json_t *args, bool *satisfied,
	struct step_report *rep, struct err *err)
{
	const char *creates = json_get_str(args, "creates", NULL);
	const struct step_arg *guard = unless(env);
	const char *unknown = NULL;
	struct stat st;
	int rc;

	*satisfied = false;
	if (creates) {
		rc = fs_stat(env->root, creates, true, &st, err);
		*satisfied = rc == 0;
		if (rc < 0 && rc != -E_NOTFOUND)
			return rc;
	}
	if (*satisfied || !guard)
		return 0;
	rc = expr_eval_bool(guard->expr, env->scope, satisfied, &unknown, err);
	if (rc < 0)
		return rc;
	if (unknown) {
		*satisfied = false;
		report_unknown(rep, "%s", unknown);
	}
	return 0;
}

static void show(const json_t *args, struct step_report *rep)
{
	const json_t *run = json_get(args, "run"), *one;
	AUTO_BUF line;
	size_t i;

	buf_init(&line, 8192);
	json_array_foreach(run, i, one)
	{
		buf_add_char(&line, ' ');
		buf_add_printable(&line, str_of(json_string_value(one)));
	}
	if (!run) {
		buf_add_char(&line, ' ');
		buf_add_printable(&line, str_of(json_get_str(args, "shell", "")));
	}
	report_addf(rep, "run%s\n", buf_text(&line));
}

static bool is_variable(const char *name)
{
	static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return *name && strchr(LETTERS, *name) &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				  "0123456789")];
}

static int judge_vars(json_t *vars, struct err *err)
{
	const char *name;
	json_t *value;

	if (json_object_size(vars) > VARS_MAX)
		return err_set(err, E_LIMIT, "'env' holds %zu variables, expected at most %d",
			json_object_size(vars), VARS_MAX);
	json_object_foreach(vars, name, value)
	{
		if (is_variable(name) && json_is_string(value))
			continue;
		err_set(err, E_SCHEMA, "'%.60s' is not the name of a variable", name);
		return err_hint(err, "letters, digits and '_', such as HTTP_PROXY");
	}
	return 0;
}

static int judge_args(const json_t *args, struct err *err)
{
	const json_t *run = json_get(args, "run");
	const char *shell = json_get_str(args, "shell", NULL);
	const int64_t timeout = json_get_int(args, "timeout", 300);

	if (run && shell)
		return err_set(err, E_CONFLICT, "'run' and 'shell' are both given");
	if (!run && !shell)
		return err_set(err, E_SCHEMA, "a command needs 'run' or 'shell'");
	if (run && (json_array_size(run) == 0 || json_array_size(run) > ARGS_MAX))
		return err_set(err, E_SCHEMA, "'run' holds %zu words, expected 1 to %d",
			json_array_size(run), ARGS_MAX);
	if (timeout < 1 || timeout > TIMEOUT_MAX)
		return err_set(err, E_SCHEMA, "'timeout' is %lld, expected 1 to %d seconds",
			(long long)timeout, TIMEOUT_MAX);
	return judge_vars(json_get(args, "env"), err);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	bool satisfied;
	int rc;

	rc = judge_args(args, err);
	if (rc < 0)
		return rc;
	rc = judge_guards(env, args, &satisfied, rep, err);
	if (rc < 0 || satisfied || rep->state == STEP_UNKNOWN)
		return rc;
	if (!unless(env) && !json_get(args, "creates")) {
		rep->always = true;
		report_differs(rep, "has no guard and is run each time");
	} else {
		report_differs(rep, "its guard asks for it");
	}
	show(args, rep);
	return 0;
}

struct argv vec(const char *);
struct texts vec(char *);

static void make_argv(const json_t *args, struct argv *argv)
{
	const json_t *run = json_get(args, "run"), *one;
	size_t i;

	json_array_foreach(run, i, one) * vec_push(argv) =
		json_is_string(one) ? json_string_value(one) : "";
	if (!run) {
		*vec_push(argv) = "/bin/sh";
		*vec_push(argv) = "-eu";
		*vec_push(argv) = "-c";
		*vec_push(argv) = json_get_str(args, "shell", "");
	}
	*vec_push(argv) = NULL;
}

/* Ours, unless it is given anew; then those that are given. Texts that are made go into made. */
static void make_vars(json_t *given, struct texts *made, struct argv *vars)
{
	const char *name;
	json_t *value;

	for (const char *const *own = PROC_ENV_CLEAN; *own; own++) {
		char key[32];

		snprintf(key, sizeof key, "%.*s", (int)strcspn(*own, "="), *own);
		if (!json_get(given, key))
			*vec_push(vars) = *own;
	}
	json_object_foreach(given, name, value)
	{
		*vec_push(made) = xasprintf("%s=%s", name, json_string_value(value));
		*vec_push(vars) = made->at[made->n - 1];
	}
	*vec_push(vars) = NULL;
}

static int run(const struct proc *p, struct err *err)
{
	struct proc_result res;
	int rc = proc_run(p, &res, err);

	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = proc_fail(p, &res, err);
	proc_result_done(&res);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct argv argv = VEC_INIT, vars = VEC_INIT;
	struct texts made = VEC_INIT;
	struct proc p = {.merge = true};
	int rc;

	(void)rep;
	rc = judge_args(args, err);
	if (rc < 0)
		return rc;
	make_argv(args, &argv);
	make_vars(json_get(args, "env"), &made, &vars);
	p.argv = argv.at;
	p.env = vars.at;
	p.cwd = json_get_str(args, "cwd", "/");
	p.timeout = json_get_int(args, "timeout", 300) * CLOCK_SEC;
	p.root = strcmp(env->root_path, "/") == 0 ? NULL : env->root_path;
	p.input = str_of(json_get_str(args, "stdin", NULL));
	p.leave_none = !json_get_bool(args, "background", false);
	rc = run(&p, err);
	vec_done(&argv);
	vec_done(&vars);
	vec_each(&made, char *, text)
		free(*text);
	vec_done(&made);
	step_cache_forget(env->cache);
	return rc;
}

const struct step_ops STEP_COMMAND = {.kind = "command", .check = check, .apply = apply};
