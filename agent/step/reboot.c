/*
 * reboot - asks for a restart of the node, when there is a reason for one.
 *
 * A reason is an expression, a marker file, or a kernel that is newer than the
 * running one. Without any the node restarts at each run. That it has restarted
 * is proven by another boot id (env.rebooted), never by time.
 */
#include "agent/step/reboot.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define RELEASE_MAX 128
#define TIMEOUT_MAX (24 * 3600)

/* What follows the last number: kernels of one flavour ("-cloud-amd64") follow each other. */
static const char *flavour(const char *release)
{
	const char *p = release + strspn(release, "0123456789.-");

	return p > release && p[-1] == '-' ? p - 1 : p;
}

static bool is_newer(const char *a, const char *b)
{
	return strcmp(flavour(a), flavour(b)) == 0 && strverscmp(a, b) > 0;
}

static int read_running(const struct step_env *env, char out[static RELEASE_MAX], struct err *err)
{
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, RELEASE_MAX);
	rc = fs_read(env->root, "/proc/sys/kernel/osrelease", &text, err);
	if (rc == 0)
		snprintf(out, RELEASE_MAX, STR_FMT, STR_ARG(str_trim(buf_str(&text))));
	return rc;
}

/* The newest kernel of the running one's flavour in /boot; out stays as it is when there is none.
 */
static void find_newest(const struct step_env *env, char out[static RELEASE_MAX])
{
	const struct dirent *e;
	DIR *dir = fs_dir_open(env->root, "/boot", NULL);

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		const char *release = e->d_name + strlen("vmlinuz-");

		if (str_starts(str_of(e->d_name), "vmlinuz-") && is_newer(release, out))
			snprintf(out, RELEASE_MAX, "%.*s", RELEASE_MAX - 1, release);
	}
	closedir(dir);
}

static int judge_kernel(struct step_env *env, struct step_report *rep, struct err *err)
{
	char running[RELEASE_MAX] = "", newest[RELEASE_MAX];
	int rc = read_running(env, running, err);

	if (rc < 0)
		return rc;
	memcpy(newest, running, sizeof newest);
	find_newest(env, newest);
	if (strcmp(newest, running) != 0) {
		report_differs(rep, "kernel %.100s waits for a reboot", newest);
		report_addf(rep, "kernel %s -> %s\n", running, newest);
	}
	return 0;
}

static void judge_markers(struct step_env *env, const json_t *markers, struct step_report *rep)
{
	const json_t *one;
	struct stat st;
	size_t i;

	json_array_foreach(markers, i, one)
	{
		const char *path = json_is_string(one) ? json_string_value(one) : "";

		if (fs_stat(env->root, path, true, &st, NULL) < 0)
			continue;
		report_differs(rep, "'%.160s' asks for a reboot", path);
		report_addf(rep, "reboot: '%s' is there\n", path);
	}
}

static int judge_expression(struct step_env *env, const struct step_arg *only_if,
	struct step_report *rep, struct err *err)
{
	const char *unknown = NULL;
	bool asked = false;
	const int rc = expr_eval_bool(only_if->expr, env->scope, &asked, &unknown, err);

	if (rc < 0)
		return rc;
	if (unknown)
		report_unknown(rep, "%s", unknown);
	if (!unknown && asked) {
		report_differs(rep, "'only_if' asks for a reboot");
		report_addf(rep, "reboot: 'only_if' is true\n");
	}
	return 0;
}

static int judge_args(const json_t *args, struct err *err)
{
	const int64_t timeout = json_get_int(args, "timeout", REBOOT_TIMEOUT_S);
	const json_t *one;
	size_t i;

	json_array_foreach(json_get(args, "markers"), i, one)
	{
		if (json_is_string(one) && json_string_value(one)[0] == '/')
			continue;
		err_set(err, E_SCHEMA, "marker '%.80s' is not an absolute path",
			json_is_string(one) ? json_string_value(one) : "");
		return err_hint(err, "such as /run/reboot-required");
	}
	if (timeout < 1 || timeout > TIMEOUT_MAX)
		return err_set(err, E_SCHEMA, "'timeout' is %lld, expected 1 to %d seconds",
			(long long)timeout, TIMEOUT_MAX);
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const struct step_arg *only_if = env->step ? step_arg_find(env->step, "only_if") : NULL;
	const bool kernel = json_get_bool(args, "kernel", false);
	const json_t *markers = json_get(args, "markers");
	int rc = judge_args(args, err);

	if (rc < 0)
		return rc;
	if (!only_if && !kernel && !markers) {
		if (env->rebooted)
			return 0;
		rep->always = true;
		report_differs(rep, "restarts the node at each run");
		report_addf(rep, "reboot\n");
		return 0;
	}
	judge_markers(env, markers, rep);
	if (only_if)
		rc = judge_expression(env, only_if, rep, err);
	if (rc == 0 && kernel)
		rc = judge_kernel(env, rep, err);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const int rc = judge_args(args, err);

	(void)env;
	rep->reboot = rc == 0;
	return rc;
}

/* Another boot id later says that the node has been restarted since. */
static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	(void)args, (void)err;
	if (!env->boot_id)
		return 0;
	*out = json_object();
	json_put_str(*out, "boot_id", env->boot_id);
	return 0;
}

/* What was taken back (kernel, modules, their options) is loaded by a restart only. */
static int undo(struct step_env *env, const json_t *args, const json_t *was, const json_t *after,
	struct step_report *rep, struct err *err)
{
	(void)env, (void)args, (void)was, (void)after, (void)err;
	rep->reboot = true;
	return 0;
}

int reboot_start(const struct step_env *env, struct err *err)
{
	static const char *const SYSTEMD[] = {"systemctl", "--no-block", "reboot", NULL};
	static const char *const SYSV[] = {"shutdown", "-r", "now", NULL};
	struct stat st;
	const bool systemd = fs_stat(env->root, "/run/systemd/system", true, &st, NULL) == 0;
	const int rc = tool_must(env, systemd ? SYSTEMD : SYSV, err);

	return rc < 0 ? err_wrap(err, "the node cannot be restarted") : 0;
}

const struct step_ops STEP_REBOOT = {
	.kind = "reboot", .check = check, .apply = apply, .before = before, .undo = undo};
