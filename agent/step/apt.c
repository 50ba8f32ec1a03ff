#include "agent/step/apt.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/cache.h"
#include "agent/step/dpkg.h"
#include "agent/step/tool.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define LISTS          "/var/lib/apt/lists"
#define FREE_MIN       (UINT64_C(64) << 20)
#define CHANGE_TIMEOUT (3600 * INT64_C(1000000000))
#define UPDATE_TIMEOUT (600 * INT64_C(1000000000))

static const char *const APT_ENV[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LC_ALL=C.UTF-8",
	"HOME=/root",
	"DEBIAN_FRONTEND=noninteractive",
	"DEBCONF_NONINTERACTIVE_SEEN=true",
	"APT_LISTCHANGES_FRONTEND=none",
	"NEEDRESTART_MODE=l",
	NULL,
};

/* What every apt-get of ours is given. */
static const char *const APT_OPTIONS[] = {
	"-y",
	"--no-install-recommends",
	"-o",
	"DPkg::Lock::Timeout=120",
	"-o",
	"Dpkg::Options::=--force-confdef",
	"-o",
	"Dpkg::Options::=--force-confold",
	"-o",
	"Dpkg::Use-Pty=0",
	/* else a name that is not known and holds a '.' is a regular expression */
	"-o",
	"APT::Cmd::Pattern-Only=true",
};

/* A phrase in apt's output, what it means and what helps. */
static const struct {
	const char *phrase;
	enum ec code;
	const char *hint;
} MEANINGS[] = {
	{"No space left on device", E_NOSPACE, "free some space, e.g. by 'apt-get clean'"},
	{"You don't have enough free space", E_NOSPACE, "free some space, e.g. by 'apt-get clean'"},
	{"Could not get lock", E_BUSY, "another package manager holds the lock, see 'ps -ef'"},
	{"Unable to lock", E_BUSY, "another package manager holds the lock, see 'ps -ef'"},
	{"Unable to locate package", E_NOTFOUND,
		"is its repository configured? see 'apt-cache policy NAME'"},
	{"has no installation candidate", E_NOTFOUND,
		"is its repository configured? see 'apt-cache policy NAME'"},
	{"was not found", E_NOTFOUND, "see 'apt-cache policy NAME' for the versions there are"},
	{"Could not resolve", E_NET, "check name resolution and the mirrors in /etc/apt"},
	{"Failed to fetch", E_NET, "check the mirrors in /etc/apt and the network"},
	{"NO_PUBKEY", E_VERIFY, "install the repository's signing key"},
	{"unmet dependencies", E_CONFLICT,
		"see 'apt-get -s install NAME' on the node for the chain"},
	{"held broken packages", E_CONFLICT,
		"see 'apt-mark showhold' and 'apt-get -s install NAME'"},
	{"dpkg was interrupted", E_STATE, "run 'dpkg --configure -a' on the node"},
};

static bool exists(const struct step_env *env, const char *path)
{
	struct stat st;

	return fs_stat(env->root, path, true, &st, NULL) == 0;
}

static int need_space(const struct step_env *env, const char *path, struct err *err)
{
	uint64_t bytes, inodes;
	int rc;

	rc = fs_free_space(env->root, exists(env, path) ? path : "/", &bytes, &inodes, err);
	if (rc < 0)
		return rc;
	if (bytes >= FREE_MIN && inodes > 0)
		return 0;
	err_set(err, E_NOSPACE, "only %" PRIu64 " MiB and %" PRIu64 " inodes are free under '%s'",
		bytes >> 20, inodes, path);
	return err_hint(
		err, "free at least %" PRIu64 " MiB, e.g. by 'apt-get clean'", FREE_MIN >> 20);
}

int apt_ready(const struct step_env *env, struct err *err)
{
	int rc;

	if (!exists(env, "/usr/bin/apt-get")) {
		err_set(err, E_UNSUPPORTED, "this node has no apt-get, which 'package' steps need");
		return err_hint(err, "guard the recipe with \"when: facts.os.family == 'debian'\"");
	}
	rc = need_space(env, "/var", err);
	return rc < 0 ? rc : need_space(env, "/usr", err);
}

/* dpkg journals its status in updates/; something there means that it was killed. */
static bool was_interrupted(const struct step_env *env)
{
	const struct dirent *e;
	bool found = false;
	DIR *dir;
	int fd;

	fd = fs_open(env->root, "/var/lib/dpkg/updates", O_RDONLY | O_DIRECTORY, 0, false, NULL);
	if (fd < 0)
		return false;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return false;
	}
	while (!found && (e = readdir(dir)))
		found = e->d_name[0] >= '0' && e->d_name[0] <= '9';
	closedir(dir);
	return found;
}

static int configure_all(const struct step_env *env, struct proc_result *res, struct err *err)
{
	static const char *const ARGV[] = {
		"dpkg", "--configure", "-a", "--force-confdef", "--force-confold", NULL};

	return tool_run(env, ARGV, APT_ENV, CHANGE_TIMEOUT, res, err);
}

int apt_repair(const struct step_env *env, struct err *err)
{
	struct dpkg_record broken;
	struct proc_result res;
	const struct dpkg *status;
	AUTO_BUF tail;
	int rc;

	buf_init(&tail, 300);
	rc = cache_dpkg(env, &status, err);
	if (rc < 0)
		return rc;
	if (!dpkg_find_broken(status, &broken) && !was_interrupted(env))
		return 0;
	rc = configure_all(env, &res, err);
	if (rc < 0)
		return rc;
	tool_tail(buf_str(&res.out), 3, &tail);

	const bool ok = proc_ok(&res);

	proc_result_done(&res);
	step_cache_forget(env->cache);
	rc = cache_dpkg(env, &status, err);
	if (rc < 0)
		return rc;
	if (ok && !dpkg_find_broken(status, &broken))
		return 0;
	if (!dpkg_find_broken(status, &broken))
		broken.name = STR_LIT("'dpkg --configure -a' failed");
	err_set(err, E_STATE, "dpkg is broken on this node: " STR_FMT "%s%s", STR_ARG(broken.name),
		tail.n ? ": " : "", buf_text(&tail));
	return err_hint(err, "run 'dpkg --audit' on the node, repair or reinstall the package");
}

bool apt_has_lists(const struct step_env *env)
{
	const struct dirent *e;
	bool found = false;
	DIR *dir;
	int fd;

	fd = fs_open(env->root, LISTS, O_RDONLY | O_DIRECTORY, 0, true, NULL);
	if (fd < 0)
		return false;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return false;
	}
	while (!found && (e = readdir(dir)))
		found = strstr(e->d_name, "_Packages") != NULL;
	closedir(dir);
	return found;
}

/* apt's own error lines, or else its last lines. */
static void quote_errors(struct str out, struct buf *to)
{
	struct str rest = out, line;

	while (str_line(&rest, &line)) {
		if (!str_starts(line, "E: ") && !str_starts(line, "dpkg: error"))
			continue;
		if (to->n > 0)
			buf_add_text(to, "; ");
		buf_add_printable(to, str_starts(line, "E: ") ? str_from(line, 3) : line);
	}
	if (to->n == 0)
		tool_tail(out, 4, to);
}

static int explain(const char *what, const struct proc_result *res, struct err *err)
{
	const struct str out = buf_str(&res->out);
	AUTO_BUF said;

	buf_init(&said, 320);
	quote_errors(out, &said);
	if (res->end == PROC_TIMED_OUT)
		return err_set(err, E_TIMEOUT, "'apt-get %s' took too long and was stopped: %s",
			what, buf_text(&said));
	for (size_t i = 0; i < sizeof MEANINGS / sizeof MEANINGS[0]; i++) {
		if (str_find_str(out, str_of(MEANINGS[i].phrase)) == STR_NONE)
			continue;
		err_set(err, MEANINGS[i].code, "'apt-get %s' failed: %s", what, buf_text(&said));
		return err_hint(err, "%s", MEANINGS[i].hint);
	}
	err_set(err, E_REMOTE, "'apt-get %s' failed with %s %d: %s", what,
		res->end == PROC_SIGNALED ? "signal" : "status", res->status, buf_text(&said));
	return err_hint(err, "see /var/log/apt/term.log and /var/log/dpkg.log on the node");
}

static int update(const struct step_env *env, struct err *err)
{
	static const char *const ARGV[] = {
		"apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", "update", NULL};
	struct proc_result res;
	int rc;

	rc = tool_run(env, ARGV, APT_ENV, UPDATE_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = explain("update", &res, err);
	proc_result_done(&res);
	return rc;
}

struct argv vec(const char *);

static void make_argv(
	struct argv *argv, const struct apt_words *words, bool simulate, bool downgrades)
{
	*vec_push(argv) = "apt-get";
	*vec_push(argv) = simulate ? "-s" : "-q";
	for (size_t i = 0; i < sizeof APT_OPTIONS / sizeof APT_OPTIONS[0]; i++)
		*vec_push(argv) = APT_OPTIONS[i];
	if (downgrades)
		*vec_push(argv) = "--allow-downgrades";
	*vec_push(argv) = "install";
	*vec_push(argv) = "--";
	for (size_t i = 0; i < words->n; i++)
		*vec_push(argv) = words->at[i];
	*vec_push(argv) = NULL;
}

static bool lists_are_old(const struct proc_result *res)
{
	static const char *const PHRASES[] = {"Unable to locate package", "was not found",
		"has no installation candidate", "maybe run apt-get update", "404  Not Found"};

	for (size_t i = 0; i < sizeof PHRASES / sizeof PHRASES[0]; i++)
		if (str_find_str(buf_str(&res->out), str_of(PHRASES[i])) != STR_NONE)
			return true;
	return false;
}

/* One apt-get install; *again when newer lists may help. */
static int install(
	const struct step_env *env, const struct argv *argv, bool *again, struct err *err)
{
	struct proc_result res;
	int rc;

	*again = false;
	rc = tool_run(env, argv->at, APT_ENV, CHANGE_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res)) {
		*again = lists_are_old(&res);
		rc = explain("install", &res, err);
	}
	proc_result_done(&res);
	return rc;
}

int apt_change(
	const struct step_env *env, const struct apt_words *words, bool downgrades, struct err *err)
{
	struct argv argv = VEC_INIT;
	const bool fresh = !apt_has_lists(env);
	bool again = false;
	int rc = 0;

	make_argv(&argv, words, false, downgrades);
	if (fresh)
		rc = update(env, err);
	if (rc == 0)
		rc = install(env, &argv, &again, err);
	if (rc < 0 && !fresh && again) {
		rc = update(env, err);
		if (rc == 0)
			rc = install(env, &argv, &again, err);
	}
	vec_done(&argv);
	return rc;
}

int apt_simulate(
	const struct step_env *env, const struct apt_words *words, struct buf *out, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct proc_result res;
	struct str rest, line;
	int rc;

	make_argv(&argv, words, true, false);
	rc = tool_run(env, argv.at, APT_ENV, UPDATE_TIMEOUT, &res, err);
	vec_done(&argv);
	if (rc < 0)
		return rc;
	rest = buf_str(&res.out);
	while (str_line(&rest, &line)) {
		if (!str_starts(line, "Inst "))
			continue;
		buf_add_str(out, line);
		buf_add_char(out, '\n');
	}
	if (!proc_ok(&res))
		rc = explain("-s install", &res, err);
	proc_result_done(&res);
	return rc;
}
