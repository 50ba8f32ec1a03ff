/*
 * hostname - the node's name, in /etc/hostname and in the running kernel.
 *
 * Where hostnamectl can be asked the live name goes through it, so that whoever
 * listens on the bus hears of it; else it is written to the kernel.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/edit.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_PATH    "/etc/hostname"
#define LIVE         "/proc/sys/kernel/hostname"
#define HOSTNAME_MAX 64 /* what the kernel keeps */
#define PATIENCE     (20 * CLOCK_SEC)

static bool is_label(struct str s)
{
	if (s.n == 0 || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		const char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
			c != '-')
			return false;
	}
	return true;
}

static int judge_name(const char *name, struct err *err)
{
	struct str rest = str_of(name), label;
	bool good = rest.n > 0 && rest.n <= HOSTNAME_MAX && name[rest.n - 1] != '.';

	while (good && str_next(&rest, '.', &label))
		good = is_label(label);
	if (good)
		return 0;
	err_set(err, E_SCHEMA, "'%.80s' is not a host name", name);
	return err_hint(
		err, "letters, digits and '-' between dots, at most %d characters", HOSTNAME_MAX);
}

/* The kernel's name now; empty when it cannot be read. */
static void read_live(const struct step_env *env, struct buf *out)
{
	AUTO_BUF text = {0};

	buf_init(&text, 256);
	if (fs_read(env->root, LIVE, &text, NULL) == 0)
		buf_add_str(out, str_trim(buf_str(&text)));
}

static int open_file(const struct step_env *env, const char *name, struct edit *e, struct err *err)
{
	char line[HOSTNAME_MAX + 2];
	int rc = edit_open(env, FILE_PATH, e, err);

	if (rc < 0)
		return rc;
	/* a comment above the name, or blanks around it, are somebody's style */
	if (str_is(str_trim(buf_str(&e->old)), name))
		return 0;
	snprintf(line, sizeof line, "%s\n", name);
	edit_set(e, str_of(line));
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *name = json_get_str(args, "name", "");
	AUTO_EDIT file = {0};
	AUTO_BUF live = {0};
	int rc = judge_name(name, err);

	buf_init(&live, 256);
	if (rc == 0)
		rc = open_file(env, name, &file, err);
	if (rc < 0)
		return rc;
	edit_show(&file, rep);
	if (!json_get_bool(args, "live", true))
		return 0;
	read_live(env, &live);
	if (!str_is(buf_str(&live), name)) {
		report_differs(rep, "the running name is '%.80s'", buf_text(&live));
		report_addf(rep, "live name %s -> %s\n", buf_text(&live), name);
	}
	return 0;
}

static int write_live(const struct step_env *env, const char *name, struct err *err)
{
	AUTO_FD fd = fs_open(env->root, LIVE, O_WRONLY | O_TRUNC, 0, false, err);
	int rc = fd;

	if (fd >= 0 && write(fd, name, strlen(name)) >= 0)
		return 0;
	if (fd >= 0)
		rc = err_sys(err, errno, "cannot set the running host name");
	err_hint(err, "in a container the host sets it: say 'live: false'");
	return rc;
}

static bool ask_hostnamed(const struct step_env *env, const char *name)
{
	const char *const argv[] = {
		"hostnamectl", "--static", "--transient", "set-hostname", name, NULL};
	struct proc_result res;
	struct stat st;
	bool done;

	if (!tool_is_there(env, "hostnamectl") ||
		fs_stat(env->root, "/run/systemd/system", true, &st, NULL) < 0)
		return false;
	if (tool_run(env, argv, NULL, PATIENCE, &res, NULL) < 0)
		return false;
	done = proc_ok(&res);
	proc_result_done(&res);
	return done;
}

static int set_live(const struct step_env *env, const char *name, struct err *err)
{
	AUTO_BUF live = {0};

	buf_init(&live, 256);
	read_live(env, &live);
	if (str_is(buf_str(&live), name))
		return 0;
	if (ask_hostnamed(env, name)) {
		buf_clear(&live);
		read_live(env, &live);
		if (str_is(buf_str(&live), name))
			return 0;
	}
	return write_live(env, name, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *name = json_get_str(args, "name", "");
	AUTO_EDIT file = {0};
	int rc = judge_name(name, err);

	(void)rep;
	if (rc == 0)
		rc = open_file(env, name, &file, err);
	if (rc == 0)
		rc = edit_save(env, &file, err);
	if (rc == 0 && json_get_bool(args, "live", true))
		rc = set_live(env, name, err);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object();
	const int rc = edit_keep(env, FILE_PATH, into, err);
	AUTO_BUF live = {0};

	buf_init(&live, 256);
	if (rc < 0) {
		json_decref(into);
		return rc;
	}
	read_live(env, &live);
	if (json_get_bool(args, "live", true))
		json_put_str(into, "live", buf_text(&live));
	*out = into;
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	const char *live = json_get_str(before, "live", "");
	int rc = edit_restore(env, FILE_PATH, past, rep, err);

	(void)args;
	/* hostnamectl would write the file again */
	if (rc == 0 && *live)
		rc = write_live(env, live, err);
	return rc;
}

const struct step_ops STEP_HOSTNAME = {
	.kind = "hostname", .check = check, .apply = apply, .before = before, .undo = undo};
