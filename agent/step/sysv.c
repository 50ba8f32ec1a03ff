/*
 * sysv - services as scripts in /etc/init.d.
 *
 * Running means: a pid file of the service names a living process whose name
 * fits. The pid file is the one that the script names (PIDFILE=), or NAME.pid
 * or NAMEd.pid in /run or /var/run.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/step/service_priv.h"
#include "agent/step/tool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define COMM_MAX    15 /* the kernel keeps so many characters of a process's name */
#define SCRIPT_MAX  (256u << 10)
#define SETTLE_TIME (10 * CLOCK_SEC)
#define SETTLE_STEP (200 * CLOCK_MS)

/* Where a pid file is looked for: folder, NAME, end. */
static const struct {
	const char *folder, *end;
} PID_FILES[] = {
	{"/run/", ".pid"},
	{"/run/", "d.pid"},
	{"/var/run/", ".pid"},
	{"/var/run/", "d.pid"},
};

/* What the script says of its daemon; empty when it does not. */
struct script {
	struct buf text;
	struct str pid_file, daemon;
};

static bool is_here(const struct step_env *env, const char *name)
{
	struct stat st;

	(void)name;
	return fs_stat(env->root, "/etc/init.d", true, &st, NULL) == 0 && S_ISDIR(st.st_mode);
}

static struct str unquote(struct str s)
{
	s = str_trim(s);
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		s = str_first(str_from(s, 1), s.n - 2);
	return s;
}

/* Plain "KEY=value" lines; a value with a '$' is not ours to expand. */
static void read_script(const struct step_env *env, const char *name, struct script *out)
{
	char path[PATH_MAX];
	struct str rest, line;

	buf_init(&out->text, SCRIPT_MAX);
	out->pid_file = out->daemon = (struct str){"", 0};
	snprintf(path, sizeof path, "/etc/init.d/%s", name);
	if (fs_read(env->root, path, &out->text, NULL) < 0)
		return;
	rest = buf_str(&out->text);
	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (str_find(line, '$') != STR_NONE)
			continue;
		if (str_starts(line, "PIDFILE="))
			out->pid_file = unquote(str_from(line, strlen("PIDFILE=")));
		else if (str_starts(line, "# pidfile:"))
			out->pid_file = unquote(str_from(line, strlen("# pidfile:")));
		else if (str_starts(line, "DAEMON="))
			out->daemon = unquote(str_from(line, strlen("DAEMON=")));
	}
}

static bool read_pid(const struct step_env *env, const char *path, uint64_t *pid)
{
	AUTO_BUF text;
	struct str rest, line;

	buf_init(&text, 256);
	if (fs_read(env->root, path, &text, NULL) < 0)
		return false;
	rest = buf_str(&text);
	return str_line(&rest, &line) && str_to_u64(str_trim(line), pid) && *pid > 0;
}

static bool find_pid(
	const struct step_env *env, const char *name, const struct script *s, uint64_t *pid)
{
	char path[PATH_MAX];

	if (s->pid_file.n > 0) {
		snprintf(path, sizeof path, STR_FMT, STR_ARG(s->pid_file));
		if (read_pid(env, path, pid))
			return true;
	}
	for (size_t i = 0; i < sizeof PID_FILES / sizeof PID_FILES[0]; i++) {
		snprintf(path, sizeof path, "%s%s%s", PID_FILES[i].folder, name, PID_FILES[i].end);
		if (read_pid(env, path, pid))
			return true;
	}
	return false;
}

static bool is_short_of(struct str comm, struct str full)
{
	return full.n > 0 && str_eq(comm, str_first(full, COMM_MAX));
}

static struct str base_name(struct str path)
{
	while (str_find(path, '/') != STR_NONE)
		path = str_from(path, str_find(path, '/') + 1);
	return path;
}

/* Interpreted daemons carry the interpreter's name; then the script is an argument. */
static bool is_argument(struct str cmdline, struct str name)
{
	struct str arg;

	for (int i = 0; i < 3 && str_next(&cmdline, '\0', &arg); i++)
		if (name.n > 0 && str_eq(base_name(arg), name))
			return true;
	return false;
}

/* Pids are used again: the process must be the service's. */
static bool is_its_process(
	const struct step_env *env, const char *name, const struct script *s, uint64_t pid)
{
	char path[64], with_d[SERVICE_NAME_MAX + 1];
	AUTO_BUF comm, cmdline;

	buf_init(&comm, 64);
	buf_init(&cmdline, 4096);
	snprintf(path, sizeof path, "/proc/%" PRIu64 "/comm", pid);
	if (fs_read(env->root, path, &comm, NULL) < 0)
		return false;
	snprintf(with_d, sizeof with_d, "%sd", name);

	const struct str have = str_trim(buf_str(&comm));

	if (is_short_of(have, str_of(name)) || is_short_of(have, str_of(with_d)) ||
		is_short_of(have, base_name(s->daemon)))
		return true;
	snprintf(path, sizeof path, "/proc/%" PRIu64 "/cmdline", pid);
	(void)fs_read(env->root, path, &cmdline, NULL); /* a longer one is cut, and that is fine */
	return is_argument(buf_str(&cmdline), str_of(name)) ||
	       is_argument(buf_str(&cmdline), base_name(s->daemon));
}

static bool is_running(const struct step_env *env, const char *name)
{
	struct script s;
	uint64_t pid;
	bool yes;

	read_script(env, name, &s);
	yes = find_pid(env, name, &s, &pid) && is_its_process(env, name, &s, pid);
	buf_done(&s.text);
	return yes;
}

/* "S01ssh" in a multi-user runlevel. */
static bool is_enabled(const struct step_env *env, const char *name)
{
	static const char *const LEVELS[] = {"/etc/rc2.d", "/etc/rc3.d", "/etc/rc5.d"};
	const struct dirent *e;
	bool found = false;

	for (size_t i = 0; !found && i < sizeof LEVELS / sizeof LEVELS[0]; i++) {
		DIR *dir = fs_dir_open(env->root, LEVELS[i], NULL);

		if (!dir)
			continue;
		while (!found && (e = readdir(dir)))
			found = e->d_name[0] == 'S' && strlen(e->d_name) > 3 &&
				strcmp(e->d_name + 3, name) == 0;
		closedir(dir);
	}
	return found;
}

static int look(const struct step_env *env, const struct service_wish *w, struct service_state *out,
	struct err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int rc;

	snprintf(path, sizeof path, "/etc/init.d/%s", w->name);
	rc = fs_stat(env->root, path, true, &st, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	out->known = rc == 0;
	if (!out->known)
		return 0;
	out->running = is_running(env, w->name);
	out->enabled = is_enabled(env, w->name);
	snprintf(out->detail, sizeof out->detail, "%s", out->running ? "running" : "not running");
	return 0;
}

static int set_enabled(const struct step_env *env, const struct service_wish *w, struct err *err)
{
	const bool want = w->enabled == SERVICE_YES;
	const char *const defaults[] = {"update-rc.d", w->name, "defaults", NULL};
	const char *const change[] = {"update-rc.d", w->name, want ? "enable" : "disable", NULL};
	int rc;

	if (w->enabled == SERVICE_ANY || is_enabled(env, w->name) == want)
		return 0;
	rc = tool_must(env, defaults, err);
	if (rc < 0)
		return rc;
	return is_enabled(env, w->name) == want ? 0 : tool_must(env, change, err);
}

static int settle(const struct step_env *env, const struct service_wish *w, struct err *err)
{
	const int64_t deadline = clock_mono() + SETTLE_TIME;
	const bool want = w->running == SERVICE_YES;

	while (is_running(env, w->name) != want) {
		if (clock_mono() >= deadline) {
			err_set(err, E_STATE, "service '%s' is %s, expected it to be %s", w->name,
				want ? "not running" : "running", want ? "running" : "stopped");
			return err_hint(err,
				"run '/etc/init.d/%s status' on the node, see /var/log", w->name);
		}
		clock_sleep(SETTLE_STEP);
	}
	return 0;
}

static int act(const struct step_env *env, const struct service_wish *w, struct err *err)
{
	char path[PATH_MAX];
	const bool running = is_running(env, w->name);
	const char *verb = w->running == SERVICE_YES ? "start" : "stop";
	int rc;

	rc = set_enabled(env, w, err);
	if (rc < 0 || w->running == SERVICE_ANY)
		return rc;
	if (w->verb && running)
		verb = w->verb;
	else if (running == (w->running == SERVICE_YES))
		return 0;
	snprintf(path, sizeof path, "/etc/init.d/%s", w->name);

	const char *const argv[] = {path, verb, NULL};

	rc = tool_must(env, argv, err);
	return rc < 0 ? rc : settle(env, w, err);
}

const struct service_ops SERVICE_SYSV = {.is_here = is_here, .look = look, .act = act};
