/*
 * systemd - services as units.
 *
 * A check reads what systemd leaves in the file system: the unit's cgroup, its
 * invocation link (there from start until it is inactive or failed), and the
 * links below *.wants and *.requires. Only when these do not show the wished
 * state is "systemctl show" asked, so an unchanged node starts no program.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"
#include "agent/step/service_priv.h"
#include "agent/step/tool.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SETTLE_TIME  (10 * CLOCK_SEC)
#define SETTLE_STEP  (200 * CLOCK_MS)
#define SETTLE_LOOKS 2 /* so often in a row: a service that dies at once is not "running" */
#define LOG_LINES    "6"

static const char *const UNIT_FOLDERS[] = {"/etc/systemd/system", "/run/systemd/system",
	"/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
	"/run/systemd/generator", "/run/systemd/generator.late", "/run/systemd/transient"};

static const char *const SUFFIXES[] = {
	".service", ".socket", ".timer", ".path", ".target", ".mount", ".slice", NULL};

/* What "systemctl show" says. */
struct shown {
	char load[24], active[24], sub[32], file[24], result[32];
	bool stale; /* the unit file is newer than what systemd has loaded */
};

bool systemd_is_here(const struct step_env *env)
{
	struct stat st;

	return fs_stat(env->root, "/run/systemd/system", true, &st, NULL) == 0;
}

static bool is_here(const struct step_env *env, const char *name)
{
	(void)name;
	return systemd_is_here(env);
}

void systemd_unit_name(const char *name, char out[static SERVICE_NAME_MAX])
{
	for (const char *const *s = SUFFIXES; *s; s++) {
		if (str_ends(str_of(name), *s)) {
			snprintf(out, SERVICE_NAME_MAX, "%s", name);
			return;
		}
	}
	snprintf(out, SERVICE_NAME_MAX, "%.*s.service", (int)(SERVICE_NAME_MAX - sizeof ".service"),
		name);
}

static bool there(const struct step_env *env, const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return fs_stat(env->root, path, false, &st, NULL) == 0;
}

/* An alias is a link to another unit's file: then unit becomes that one's name. */
static void follow_alias(
	const struct step_env *env, const char *folder, char unit[static SERVICE_NAME_MAX])
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *name, *real;
	ssize_t n;

	snprintf(path, sizeof path, "%s/%s", folder, unit);
	AUTO_FD parent = fs_open_parent(env->root, path, &name, NULL);
	if (parent < 0)
		return;
	n = readlinkat(parent, name, target, sizeof target - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	real = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	/* A masked unit points to /dev/null, and a file with a suffix of its own is no unit. */
	if (strrchr(real, '.') && strlen(real) < SERVICE_NAME_MAX &&
		strcmp(strrchr(real, '.'), strrchr(unit, '.')) == 0)
		snprintf(unit, SERVICE_NAME_MAX, "%.*s", SERVICE_NAME_MAX - 1, real);
}

/* "a@b.service" is installed when "a@.service" is. */
static bool is_installed(const struct step_env *env, char unit[static SERVICE_NAME_MAX])
{
	const char *at = strchr(unit, '@'), *dot = strrchr(unit, '.');
	char generic[2 * SERVICE_NAME_MAX];

	snprintf(generic, sizeof generic, "%.*s%s", at ? (int)(at - unit) + 1 : 0, unit,
		at && dot ? dot : "");
	for (size_t i = 0; i < sizeof UNIT_FOLDERS / sizeof UNIT_FOLDERS[0]; i++) {
		if (there(env, UNIT_FOLDERS[i], unit)) {
			follow_alias(env, UNIT_FOLDERS[i], unit);
			return true;
		}
		if (at && there(env, UNIT_FOLDERS[i], generic))
			return true;
	}
	return false;
}

/* The path of process 1 in the hierarchy whose line begins so, without "/init.scope". */
static struct str cgroup_of_init(struct str text, const char *begin)
{
	struct str line;

	while (str_line(&text, &line)) {
		const size_t at = str_find_str(line, str_of(begin));

		if (at == STR_NONE)
			continue;
		line = str_from(line, at + strlen(begin));
		if (str_ends(line, "/init.scope"))
			line.n -= strlen("/init.scope");
		return str_is(line, "/") ? str_first(line, 0) : line;
	}
	return (struct str){"", 0};
}

static bool file_says(const struct step_env *env, const char *path, const char *text)
{
	AUTO_BUF content;

	buf_init(&content, 64u << 10);
	if (fs_read(env->root, path, &content, NULL) < 0 && content.n == 0)
		return false;
	return text ? str_find_str(buf_str(&content), str_of(text)) != STR_NONE : content.n > 0;
}

static bool is_populated(
	const struct step_env *env, const char *mount, struct str prefix, const char *unit)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s" STR_FMT "/system.slice/%s/cgroup.events", mount,
		STR_ARG(prefix), unit);
	if (file_says(env, path, "populated 1"))
		return true;
	snprintf(path, sizeof path, "%s" STR_FMT "/system.slice/%s/cgroup.procs", mount,
		STR_ARG(prefix), unit);
	return file_says(env, path, NULL);
}

/* Has the unit processes? No can also mean that its cgroup lies elsewhere. */
static bool has_processes(const struct step_env *env, const char *unit)
{
	static const struct {
		const char *mount, *begin;
	} TREES[] = {
		{"/sys/fs/cgroup", "0::"},
		{"/sys/fs/cgroup/systemd", "name=systemd:"},
		{"/sys/fs/cgroup/unified", "0::"},
	};
	const struct str none = {"", 0};
	AUTO_BUF text;

	buf_init(&text, 16u << 10);
	(void)fs_read(env->root, "/proc/1/cgroup", &text, NULL);
	for (size_t i = 0; i < sizeof TREES / sizeof TREES[0]; i++) {
		const struct str prefix = cgroup_of_init(buf_str(&text), TREES[i].begin);

		if (is_populated(env, TREES[i].mount, prefix, unit))
			return true;
		if (prefix.n > 0 && is_populated(env, TREES[i].mount, none, unit))
			return true;
	}
	return false;
}

/* Yes, no, or that the file system does not tell. */
static enum service_answer is_running(const struct step_env *env, const char *unit)
{
	char link[SERVICE_NAME_MAX + 16];
	bool started, processes;

	if (!str_ends(str_of(unit), ".service"))
		return SERVICE_ANY;
	snprintf(link, sizeof link, "invocation:%s", unit);
	started = there(env, "/run/systemd/units", link);
	processes = has_processes(env, unit);
	if (started != processes)
		return SERVICE_ANY;
	return started ? SERVICE_YES : SERVICE_NO;
}

static bool has_link_in(int folder, const char *wants, const char *unit)
{
	char path[NAME_MAX + SERVICE_NAME_MAX + 2];
	struct stat st;

	if (!str_ends(str_of(wants), ".wants") && !str_ends(str_of(wants), ".requires"))
		return false;
	snprintf(path, sizeof path, "%s/%s", wants, unit);
	return fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_enabled(const struct step_env *env, const char *unit)
{
	const struct dirent *e;
	bool found = false;
	DIR *dir;

	dir = fs_dir_open(env->root, "/etc/systemd/system", NULL);
	if (!dir)
		return false;
	while (!found && (e = readdir(dir)))
		found = has_link_in(dirfd(dir), e->d_name, unit);
	closedir(dir);
	return found;
}

static void take(struct str line, const char *key, char *out, size_t size)
{
	if (str_starts(line, key))
		snprintf(out, size, STR_FMT, STR_ARG(str_from(line, strlen(key))));
}

static int show(const struct step_env *env, const char *unit, struct shown *out, struct err *err)
{
	const char *const argv[] = {"systemctl", "show", "-p",
		"LoadState,ActiveState,SubState,UnitFileState,Result,NeedDaemonReload", "--", unit,
		NULL};
	const struct proc p = {.argv = argv, .timeout = TOOL_TIMEOUT};
	struct proc_result res;
	struct str rest, line;
	char stale[8] = "";
	int rc;

	memset(out, 0, sizeof *out);
	rc = tool_run(env, argv, NULL, TOOL_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = proc_fail(&p, &res, err);
	rest = buf_str(&res.out);
	while (str_line(&rest, &line)) {
		take(line, "LoadState=", out->load, sizeof out->load);
		take(line, "ActiveState=", out->active, sizeof out->active);
		take(line, "SubState=", out->sub, sizeof out->sub);
		take(line, "UnitFileState=", out->file, sizeof out->file);
		take(line, "Result=", out->result, sizeof out->result);
		take(line, "NeedDaemonReload=", stale, sizeof stale);
	}
	out->stale = strcmp(stale, "yes") == 0;
	proc_result_done(&res);
	return rc;
}

static bool is_up(const struct shown *s)
{
	return strcmp(s->active, "active") == 0 || strcmp(s->active, "reloading") == 0;
}

static bool is_down(const struct shown *s)
{
	return strcmp(s->active, "inactive") == 0 || strcmp(s->active, "failed") == 0;
}

static void describe(const struct shown *s, char *out, size_t size)
{
	if (strcmp(s->load, "masked") == 0)
		snprintf(out, size, "masked");
	else if (strcmp(s->active, "failed") == 0)
		snprintf(out, size, "failed (%s)", s->result);
	else
		snprintf(out, size, "%s (%s)", s->active, s->sub);
}

static int look(const struct step_env *env, const struct service_wish *w, struct service_state *out,
	struct err *err)
{
	char unit[SERVICE_NAME_MAX];
	enum service_answer running;
	struct shown s;
	int rc;

	systemd_unit_name(w->name, unit);
	out->known = is_installed(env, unit);
	if (!out->known)
		return 0;
	out->enabled = is_enabled(env, unit);
	running = is_running(env, unit);
	out->running = running == SERVICE_YES;
	snprintf(out->detail, sizeof out->detail, "%s", out->running ? "running" : "not running");
	if ((w->running == SERVICE_ANY || w->running == running) &&
		(w->enabled == SERVICE_ANY || out->enabled == (w->enabled == SERVICE_YES)))
		return 0;
	rc = show(env, unit, &s, err);
	if (rc < 0)
		return rc;
	out->running = is_up(&s);
	/* Enabled by an alias, or for this boot only: systemd knows, the links do not show it. */
	if (strncmp(s.file, "enabled", strlen("enabled")) == 0 || strcmp(s.file, "alias") == 0)
		out->enabled = true;
	describe(&s, out->detail, sizeof out->detail);
	return 0;
}

static int systemctl(
	const struct step_env *env, const char *verb, const char *unit, struct err *err)
{
	const char *const argv[] = {"systemctl", verb, unit, NULL};

	return tool_must(env, argv, err);
}

/* Puts the unit's last log lines behind the message, where the cause usually stands. */
static int add_log(const struct step_env *env, const char *unit, struct err *err)
{
	const char *const argv[] = {
		"journalctl", "-u", unit, "-n", LOG_LINES, "-o", "cat", "--no-pager", "-q", NULL};
	const int code = -(int)err->code;
	struct proc_result res;
	AUTO_BUF tail;

	buf_init(&tail, 280);
	if (tool_run(env, argv, NULL, TOOL_TIMEOUT, &res, NULL) == 0) {
		const size_t n = strlen(err->msg);

		tool_tail(buf_str(&res.out), 4, &tail);
		if (tail.n > 0 && n < sizeof err->msg)
			snprintf(err->msg + n, sizeof err->msg - n, "; its log: %s",
				buf_text(&tail));
		proc_result_done(&res);
	}
	err_hint(err, "see 'journalctl -u %s' on the node", unit);
	return code;
}

/* A oneshot unit that ended well after a restart has done what was asked. */
static bool has_ended_well(const struct service_wish *w, const struct shown *s)
{
	return w->verb && strcmp(s->active, "inactive") == 0 && strcmp(s->result, "success") == 0;
}

/* A service that is restarted by systemd again and again is "activating", so "down" is final. */
static int settle(
	const struct step_env *env, const struct service_wish *w, const char *unit, struct err *err)
{
	const int64_t deadline = clock_mono() + SETTLE_TIME;
	const bool up = w->running == SERVICE_YES;
	char detail[96];
	struct shown s;
	int good = 0, bad = 0, rc;

	while (bad < SETTLE_LOOKS) {
		rc = show(env, unit, &s, err);
		if (rc < 0)
			return rc;
		if (up ? is_up(&s) || has_ended_well(w, &s) : is_down(&s))
			good++;
		else
			good = 0;
		if (good >= (up ? SETTLE_LOOKS : 1))
			return 0;
		bad = up && good == 0 && is_down(&s) ? bad + 1 : 0;
		if (clock_mono() >= deadline)
			break;
		clock_sleep(SETTLE_STEP);
	}
	describe(&s, detail, sizeof detail);
	err_set(err, E_STATE, "service '%s' is %s, expected it to %s", w->name, detail,
		up ? "stay up" : "be stopped");
	return add_log(env, unit, err);
}

static int set_enabled(const struct step_env *env, const struct service_wish *w, const char *unit,
	const struct shown *s, struct err *err)
{
	const bool want = w->enabled == SERVICE_YES;

	if (w->enabled == SERVICE_ANY || is_enabled(env, unit) == want)
		return 0;
	if (want && strcmp(s->file, "static") == 0) {
		err_set(err, E_UNSUPPORTED,
			"unit '%s' has no [Install] section and cannot be enabled", unit);
		return err_hint(err, "leave 'enabled' out: other units start it");
	}
	return systemctl(env, want ? "enable" : "disable", unit, err);
}

static int set_running(const struct step_env *env, const struct service_wish *w, const char *unit,
	const struct shown *s, struct err *err)
{
	const char *verb = w->running == SERVICE_YES ? "start" : "stop";
	int rc;

	if (w->running == SERVICE_ANY)
		return 0;
	if (w->verb && is_up(s))
		verb = w->verb;
	else if (w->verb && strcmp(w->verb, "restart") == 0)
		verb = "restart";
	else if (w->running == SERVICE_YES ? is_up(s) : is_down(s))
		return 0;
	rc = systemctl(env, verb, unit, err);
	if (rc < 0)
		return add_log(env, unit, err);
	return settle(env, w, unit, err);
}

int systemd_reload(const struct step_env *env, struct err *err)
{
	static const char *const RELOAD[] = {"systemctl", "daemon-reload", NULL};

	return systemd_is_here(env) ? tool_must(env, RELOAD, err) : 0;
}

bool systemd_find_unit(
	const struct step_env *env, const char *unit, bool vendor, char path[static PATH_MAX])
{
	/* the first folder is the administrator's */
	for (size_t i = vendor ? 1 : 0; i < sizeof UNIT_FOLDERS / sizeof UNIT_FOLDERS[0]; i++) {
		snprintf(path, PATH_MAX, "%s/%s", UNIT_FOLDERS[i], unit);
		if (there(env, UNIT_FOLDERS[i], unit))
			return true;
	}
	return false;
}

static int act(const struct step_env *env, const struct service_wish *w, struct err *err)
{
	char unit[SERVICE_NAME_MAX];
	struct shown s;
	int rc;

	systemd_unit_name(w->name, unit);
	rc = show(env, unit, &s, err);
	if (rc < 0)
		return rc;
	if (s.stale || strcmp(s.load, "not-found") == 0) {
		rc = systemd_reload(env, err);
		if (rc == 0)
			rc = show(env, unit, &s, err);
		if (rc < 0)
			return rc;
	}
	if (strcmp(s.load, "not-found") == 0) {
		err_set(err, E_NOTFOUND, "unit '%s' is not installed on this node", unit);
		return err_hint(
			err, "add a 'package' or 'file' step that brings it before this one");
	}
	if (strcmp(s.load, "masked") == 0 &&
		(w->running == SERVICE_YES || w->enabled == SERVICE_YES)) {
		err_set(err, E_STATE, "unit '%s' is masked, somebody forbade it", unit);
		return err_hint(err, "if that is no longer meant: 'systemctl unmask %s'", unit);
	}
	rc = set_enabled(env, w, unit, &s, err);
	return rc < 0 ? rc : set_running(env, w, unit, &s, err);
}

const struct service_ops SERVICE_SYSTEMD = {.is_here = is_here, .look = look, .act = act};
