/*
 * fakes - two kinds without programs, put in place of the real ones by --wrap=step_find.
 *
 * package: "installed" is the list of names in the file ROOT/packages; each
 * transaction adds a line to ROOT/transactions. A name that begins with "bad"
 * fails, "ghost" is never installed. What is staged adds a line to ROOT/staged.
 * command: shell is one word and an argument: "note X" adds a line to ROOT/log,
 * "fail", "deny", "slow", "kill", "lie" (differs for ever); "half X" writes X and is killed,
 * once: the second time it is only "note X".
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/report.h"
#include "agent/step/step.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const struct step_ops *__real_step_find(const char *kind);
const struct step_ops *__wrap_step_find(const char *kind);

static inline int fake_append(int root, const char *name, const char *line)
{
	const int fd = openat(root, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	const ssize_t n = fd < 0 ? -1 : write(fd, line, strlen(line));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -E_IO : 0;
}

static inline bool fake_has_line(int root, const char *name, const char *line)
{
	struct buf b;
	struct str rest, one;
	bool has = false;

	buf_init(&b, 1 << 16);
	if (fs_read(root, name, &b, NULL) == 0) {
		rest = buf_str(&b);
		while (str_line(&rest, &one))
			has = has || str_is(one, line);
	}
	buf_done(&b);
	return has;
}

static inline int fake_package_check(
	struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const json_t *name;
	size_t i;

	(void)err;
	json_array_foreach(json_get(args, "names"), i, name)
	{
		if (fake_has_line(env->root, "packages", json_string_value(name)))
			continue;
		report_differs(rep, "to install");
		report_addf(rep, "install %s\n", json_string_value(name));
	}
	return 0;
}

static inline int fake_package_apply(struct step_env *env, const json_t *const *args, unsigned n,
	struct step_report *rep, struct err *err)
{
	const json_t *name;
	char line[128];
	size_t i;

	(void)rep;
	for (unsigned k = 0; k < n; k++) {
		json_array_foreach(json_get(args[k], "names"), i, name)
		{
			snprintf(line, sizeof line, "%s\n", json_string_value(name));
			if (strncmp(line, "bad", 3) == 0)
				return err_set(err, E_REMOTE, "no package 'bad'");
			if (strncmp(line, "ghost", 5) != 0)
				fake_append(env->root, "packages", line);
		}
	}
	snprintf(line, sizeof line, "%u steps\n", n);
	return fake_append(env->root, "transactions", line);
}

static inline int fake_command_check(
	struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *shell = json_get_str(args, "shell", "");

	(void)env, (void)err;
	rep->always = strcmp(shell, "lie") != 0;
	report_differs(rep, "runs each time");
	report_addf(rep, "run %s\n", shell);
	return 0;
}

static inline int fake_command_apply(
	struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *shell = json_get_str(args, "shell", "");
	char line[128];

	(void)rep;
	if (strcmp(shell, "fail") == 0) {
		err_set(err, E_REMOTE, "it said no");
		return err_hint(err, "say yes");
	}
	if (strcmp(shell, "deny") == 0)
		return err_set(err, E_DENIED, "not allowed");
	if (strcmp(shell, "slow") == 0)
		return err_set(err, E_TIMEOUT, "too slow");
	if (strcmp(shell, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(shell, "nap") == 0)
		usleep(400000);
	if (strcmp(shell, "long") == 0)
		sleep(12);
	if (strncmp(shell, "half ", 5) == 0 && !fake_has_line(env->root, "log", shell + 5)) {
		snprintf(line, sizeof line, "%s\n", shell + 5);
		fake_append(env->root, "log", line);
		raise(SIGKILL);
	}
	if (strncmp(shell, "note ", 5) != 0 && strncmp(shell, "half ", 5) != 0)
		return 0;
	snprintf(line, sizeof line, "%s\n", shell + 5);
	return fake_append(env->root, "log", line);
}

/* "bad..." is held, "far..." is not known anywhere. */
static inline int fake_package_stage(struct step_env *env, const json_t *const *args, unsigned n,
	struct step_report *rep, struct err *err)
{
	char line[128];

	for (unsigned k = 0; k < n; k++) {
		const char *name = json_string_value(json_array_get(json_get(args[k], "names"), 0));

		if (strncmp(name, "bad", 3) == 0) {
			rep->denied = true;
			return err_set(err, E_DENIED, "held by administrator: bad");
		}
		if (strncmp(name, "far", 3) == 0)
			return err_set(err, E_NOTFOUND, "there is no package 'far'");
	}
	snprintf(rep->why, sizeof rep->why, "%u packages fetched", n);
	snprintf(line, sizeof line, "%u steps\n", n);
	return fake_append(env->root, "staged", line);
}

static const struct step_ops FAKE_PACKAGE = {.kind = "package",
	.check = fake_package_check,
	.apply_all = fake_package_apply,
	.stage = fake_package_stage};
static const struct step_ops FAKE_COMMAND = {
	.kind = "command", .check = fake_command_check, .apply = fake_command_apply};

static bool fakes_off;

const struct step_ops *__wrap_step_find(const char *kind)
{
	if (fakes_off)
		return __real_step_find(kind);
	if (strcmp(kind, "package") == 0)
		return &FAKE_PACKAGE;
	if (strcmp(kind, "command") == 0)
		return &FAKE_COMMAND;
	return __real_step_find(kind);
}
