#include "agent/step/apt.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"
#include "agent/base/package_version.h"
#include "agent/step/apt_plan.h"
#include "agent/step/apt_sound.h"
#include "agent/step/cache.h"
#include "agent/step/driver_names.h"
#include "agent/step/package_lock.h"
#include "agent/step/packager.h"
#include "agent/step/tool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define LISTS          "/var/lib/apt/lists"
#define HOLD_WAIT      120 /* seconds for locks */
#define CHANGE_TIMEOUT (3600 * INT64_C(1000000000))
#define WORDS_MAX      4000

const char *const APT_ENV[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LC_ALL=C.UTF-8",
	"HOME=/root",
	"DEBIAN_FRONTEND=noninteractive",
	"DEBCONF_NONINTERACTIVE_SEEN=true",
	"APT_LISTCHANGES_FRONTEND=none",
	"NEEDRESTART_MODE=l",
	NULL,
};

const char *const APT_LOCKS[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
	"/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock", "/run/unattended-upgrades.lock",
	NULL};

/* What every apt-get of ours is given. */
static const char *const APT_OPTIONS[] = {
	"-y",
	"--no-install-recommends",
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

struct argv vec(const char *);

static bool exists(const struct step_env *env, const char *path)
{
	struct stat st;

	return fs_stat(env->root, path, true, &st, NULL) == 0;
}

static bool is_here(const struct step_env *env)
{
	return exists(env, CACHE_DPKG_PATH);
}

/* --- the database --- */

static int find(const struct step_env *env, const struct dpkg_spec *spec, struct package_state *out,
	struct err *err)
{
	const struct dpkg *status;
	struct dpkg_record r;
	int rc;

	memset(out, 0, sizeof *out);
	rc = cache_dpkg(env, &status, err);
	if (rc < 0)
		return rc;
	out->known = dpkg_find(status, spec->name, spec->arch, &r);
	if (!out->known)
		return 0;
	out->installed = dpkg_is_installed(&r);
	out->broken = dpkg_is_broken(&r);
	out->held = str_is(r.want, "hold");
	out->rest = str_is(r.state, "config-files");
	out->version = r.version;
	out->detail = str_is(r.error, "ok") ? r.state : r.error;
	return 0;
}

static int list(const struct step_env *env, struct buf *out, struct err *err)
{
	const struct dpkg *status;
	struct dpkg_record r;
	int rc = cache_dpkg(env, &status, err);

	if (rc < 0)
		return rc;
	for (size_t at = 0; dpkg_next(status, &at, &r);) {
		if (!dpkg_is_installed(&r) && !str_is(r.state, "config-files"))
			continue;
		buf_addf(out, STR_FMT "%s" STR_FMT " " STR_FMT "%s\n", STR_ARG(r.name),
			str_is(r.arch, "all") ? "" : ":",
			STR_ARG(str_is(r.arch, "all") ? STR_LIT("") : r.arch), STR_ARG(r.version),
			str_is(r.state, "config-files") ? " rest" : "");
	}
	return buf_ok(out) ? 0 : err_set(err, E_LIMIT, "too many packages are installed");
}

/* --- running apt-get --- */

static int ready(const struct step_env *env, int64_t wait, struct err *err)
{
	int rc;

	if (!exists(env, "/usr/bin/apt-get")) {
		err_set(err, E_UNSUPPORTED, "this node has no apt-get, which 'package' steps need");
		return err_hint(err, "guard the recipe with \"when: facts.os.family == 'debian'\"");
	}
	rc = package_lock_wait(env, APT_LOCKS, wait, err);
	if (rc == 0)
		rc = packager_need_space(env, "/var", PACKAGER_FREE_MIN, err);
	return rc < 0 ? rc : packager_need_space(env, "/usr", PACKAGER_FREE_MIN, err);
}

static bool has_lists(const struct step_env *env)
{
	const struct dirent *e;
	bool found = false;
	DIR *dir;

	dir = fs_dir_open(env->root, LISTS, NULL);
	if (!dir)
		return false;
	while (!found && (e = readdir(dir)))
		found = strstr(e->d_name, "_Packages") != NULL;
	closedir(dir);
	return found;
}

static bool fetched_all(const struct proc_result *res)
{
	static const char *const PHRASES[] = {
		"W: Failed to fetch", "W: GPG error", "W: Some index files failed", "\nErr:"};

	for (size_t i = 0; i < sizeof PHRASES / sizeof PHRASES[0]; i++)
		if (str_find_str(buf_str(&res->out), str_of(PHRASES[i])) != STR_NONE)
			return false;
	return proc_ok(res);
}

int apt_update(const struct step_env *env, const char *only, struct err *err)
{
	AUTO_STR file = NULL;
	const char *argv[16] = {"apt-get", "-q", "-o", "DPkg::Lock::Timeout=120"};
	struct proc_result res;
	size_t n = 4;
	int rc;

	if (only) {
		file = xasprintf("Dir::Etc::sourcelist=%s", only);
		argv[n++] = "-o";
		argv[n++] = file;
		argv[n++] = "-o";
		argv[n++] = "Dir::Etc::sourceparts=-";
		argv[n++] = "-o";
		argv[n++] = "APT::Get::List-Cleanup=0";
	}
	argv[n++] = "update";
	argv[n] = NULL;
	rc = tool_run(env, argv, APT_ENV, APT_UPDATE_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	/* Old lists are good enough for a change, but not for a source that is being added. */
	if (only ? !fetched_all(&res) : !proc_ok(&res))
		rc = apt_explain("update", &res, err);
	proc_result_done(&res);
	return rc;
}

enum deed {
	DEED_SIMULATE,
	DEED_FETCH,
	DEED_INSTALL
};

static void make_argv(struct argv *argv, struct transaction *t, enum deed deed, bool ignore_hold)
{
	*vec_push(argv) = "apt-get";
	*vec_push(argv) = deed == DEED_SIMULATE ? "-s" : "-q";
	if (deed == DEED_FETCH)
		*vec_push(argv) = "--download-only";
	for (size_t i = 0; i < sizeof APT_OPTIONS / sizeof APT_OPTIONS[0]; i++)
		*vec_push(argv) = APT_OPTIONS[i];
	*vec_push(argv) = "-o";
	*vec_push(argv) = arena_printf(t->arena, "DPkg::Lock::Timeout=%" PRId64, t->wait);
	/* In a simulation, to learn what would be changed; that is judged then, so it may be
	   fetched. */
	if (deed != DEED_INSTALL || t->downgrade)
		*vec_push(argv) = "--allow-downgrades";
	if (deed != DEED_INSTALL)
		*vec_push(argv) = "--allow-change-held-packages";
	if (ignore_hold)
		*vec_push(argv) = "--ignore-hold";
	*vec_push(argv) = "install";
	*vec_push(argv) = "--";
}

/* The words of the items; false when none is left for apt-get. */
static bool add_words(
	const struct step_env *env, struct transaction *t, struct argv *argv, struct err *err)
{
	const size_t before = argv->n;

	vec_each(&t->items, struct package_item, i) {
		struct package_state s;

		if (i->wish == PACKAGE_PRESENT || i->wish == PACKAGE_LATEST)
			*vec_push(argv) = i->text;
		else if (i->wish == PACKAGE_ABSENT && find(env, &i->spec, &s, err) == 0 &&
			 (s.installed || s.broken))
			*vec_push(argv) = arena_printf(t->arena, STR_FMT "%s" STR_FMT "-",
				STR_ARG(i->spec.name), i->spec.arch.n ? ":" : "",
				STR_ARG(i->spec.arch));
	}
	*vec_push(argv) = NULL;
	return argv->n > before + 1;
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

/* --- simulation --- */

/* Package names in "X : Depends: Y (< 1) but ..." lines, for the question where they come from. */
static void unmet_names(struct arena *a, struct str unmet, struct argv *argv)
{
	struct str word;
	bool next = true;

	while (str_next(&unmet, ' ', &word)) {
		struct dpkg_spec s;

		if (next && dpkg_spec_parse(word, &s) && argv->n < 16)
			*vec_push(argv) = arena_text(a, s.name);
		next = str_ends(word, "Depends:") || str_ends(word, ";") ||
		       str_is(word, "Conflicts:") || str_is(word, "Breaks:");
	}
}

/* An unsolvable wish: the dependency, and where both sides come from. */
static int explain_unmet(const struct step_env *env, struct transaction *t,
	const struct proc_result *res, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct proc_result policy;
	AUTO_BUF unmet, from;

	buf_init(&unmet, 340);
	buf_init(&from, 200);
	apt_plan_unmet(buf_str(&res->out), &unmet);
	if (unmet.n == 0)
		return apt_explain("-s install", res, err);
	*vec_push(&argv) = "apt-cache";
	*vec_push(&argv) = "policy";
	*vec_push(&argv) = "--";
	unmet_names(t->arena, buf_str(&unmet), &argv);
	*vec_push(&argv) = NULL;
	if (tool_run(env, argv.at, APT_ENV, TOOL_TIMEOUT, &policy, NULL) == 0) {
		apt_plan_origins(buf_str(&policy.out), &from);
		proc_result_done(&policy);
	}
	vec_done(&argv);
	err_set(err, E_CONFLICT, "these packages cannot be installed together: %s",
		buf_text(&unmet));
	if (from.n == 0)
		return -E_CONFLICT;
	return err_hint(err, "nothing was changed; take all from one origin: %s", buf_text(&from));
}

static int simulate_once(const struct step_env *env, struct transaction *t, bool ignore_hold,
	struct plan *out, bool *again, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct proc_result res;
	int rc = 0;

	*again = false;
	make_argv(&argv, t, DEED_SIMULATE, ignore_hold);
	if (add_words(env, t, &argv, err))
		rc = tool_run(env, argv.at, APT_ENV, APT_UPDATE_TIMEOUT, &res, err);
	else
		rc = 1;
	vec_done(&argv);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (proc_ok(&res)) {
		apt_plan_read(t->arena, buf_str(&res.out), out);
	} else {
		*again = lists_are_old(&res);
		rc = explain_unmet(env, t, &res, err);
		vec_each(&t->items, struct package_item, i)
			if (rc == -E_NOTFOUND && i->wish != PACKAGE_ABSENT)
				driver_name_check(i->text, err);
	}
	proc_result_done(&res);
	return rc;
}

static int simulate(
	const struct step_env *env, struct transaction *t, struct plan *out, struct err *err)
{
	const bool fresh = !has_lists(env);
	bool again = false;
	struct err first;
	int rc = 0;

	t->ignore_hold = false;
	if (fresh)
		rc = apt_update(env, NULL, err);
	if (rc == 0)
		rc = simulate_once(env, t, false, out, &again, err);
	if (rc < 0 && again && !fresh) {
		rc = apt_update(env, NULL, err);
		if (rc == 0)
			rc = simulate_once(env, t, false, out, &again, err);
	}
	if (rc != -E_CONFLICT)
		return rc;
	/* A held package may be in the way: then it shall be named. */
	first = *err;
	rc = simulate_once(env, t, true, out, &again, err);
	t->ignore_hold = rc == 0;
	if (rc < 0)
		*err = first;
	return rc < 0 ? -E_CONFLICT : 0;
}

static bool is_kernel(const char *name)
{
	static const char *const STARTS[] = {
		"linux-image-", "linux-modules-", "nvidia-dkms", "zfs-dkms"};

	for (size_t i = 0; i < sizeof STARTS / sizeof STARTS[0]; i++)
		if (str_starts(str_of(name), STARTS[i]))
			return true;
	return false;
}

static int space(const struct step_env *env, const struct plan *plan, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct arena *a = arena_new();
	uint64_t fetched = 0, installed = 0;
	struct proc_result res;
	bool boot = false;
	int rc = 0;

	*vec_push(&argv) = "apt-cache";
	*vec_push(&argv) = "show";
	*vec_push(&argv) = "--";
	vec_each(plan, struct planned, p) {
		boot |= p->to && is_kernel(p->name);
		if (p->to && argv.n < WORDS_MAX)
			*vec_push(&argv) = arena_printf(a, "%s=%s", p->name, p->to);
	}
	const bool any = argv.n > 3;

	*vec_push(&argv) = NULL;
	if (any && tool_run(env, argv.at, APT_ENV, TOOL_TIMEOUT, &res, NULL) == 0) {
		apt_plan_sizes(buf_str(&res.out), &fetched, &installed);
		proc_result_done(&res);
	}
	vec_done(&argv);
	arena_free(a);
	if (boot)
		rc = packager_need_space(env, "/boot", PACKAGER_BOOT_MIN, err);
	if (rc == 0)
		rc = packager_need_space(env, "/var", PACKAGER_FREE_MIN + fetched, err);
	return rc < 0 ? rc : packager_need_space(env, "/usr", PACKAGER_FREE_MIN + installed, err);
}

/* --- the change --- */

static int install(const struct step_env *env, struct transaction *t, enum deed deed, bool *stale,
	struct err *err)
{
	struct argv argv = VEC_INIT;
	struct proc_result res;
	int rc = 1;

	/* What was judged is fetched; for the change itself holds have been lifted. */
	make_argv(&argv, t, deed, deed == DEED_FETCH && t->ignore_hold);
	if (add_words(env, t, &argv, err))
		rc = tool_run(env, argv.at, APT_ENV, CHANGE_TIMEOUT, &res, err);
	vec_done(&argv);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	*stale = !proc_ok(&res) && lists_are_old(&res);
	if (!proc_ok(&res))
		rc = apt_explain(
			deed == DEED_FETCH ? "--download-only install" : "install", &res, err);
	proc_result_done(&res);
	return rc;
}

static int fetch(const struct step_env *env, struct transaction *t, bool *stale, struct err *err)
{
	return install(env, t, DEED_FETCH, stale, err);
}

static int refresh(const struct step_env *env, struct err *err)
{
	return apt_update(env, NULL, err);
}

static int purge(const struct step_env *env, struct transaction *t, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct package_state s;
	struct proc_result res;
	int rc = 0;

	step_cache_forget(env->cache);
	*vec_push(&argv) = "dpkg";
	*vec_push(&argv) = "--purge";
	*vec_push(&argv) = "--";
	vec_each(&t->items, struct package_item, i)
		if (i->purge && find(env, &i->spec, &s, NULL) == 0 && s.rest)
			*vec_push(&argv) =
				arena_printf(t->arena, STR_FMT "%s" STR_FMT, STR_ARG(i->spec.name),
					i->spec.arch.n ? ":" : "", STR_ARG(i->spec.arch));
	const bool any = argv.n > 3;

	*vec_push(&argv) = NULL;
	if (any)
		rc = tool_run(env, argv.at, APT_ENV, CHANGE_TIMEOUT, &res, err);
	vec_done(&argv);
	if (!any || rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = apt_explain("purge", &res, err);
	proc_result_done(&res);
	return rc;
}

static int commit(const struct step_env *env, struct transaction *t, struct err *err)
{
	bool stale;
	const int rc = install(env, t, DEED_INSTALL, &stale, err);

	return rc < 0 ? rc : purge(env, t, err);
}

/* apt-mark waits for nobody, be it only an apt-get that a killed agent of ours has left behind. */
static int set_holds(
	const struct step_env *env, const struct names *names, bool held, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct proc_result res;
	int rc = package_lock_wait(env, APT_LOCKS, HOLD_WAIT, err);

	if (rc < 0)
		return rc;
	*vec_push(&argv) = "apt-mark";
	*vec_push(&argv) = held ? "hold" : "unhold";
	*vec_push(&argv) = "--";
	vec_each(names, const char *, n)
		*vec_push(&argv) = *n;
	*vec_push(&argv) = NULL;
	rc = tool_run(env, argv.at, APT_ENV, TOOL_TIMEOUT, &res, err);
	vec_done(&argv);
	step_cache_forget(env->cache);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = apt_explain(held ? "hold" : "unhold", &res, err);
	proc_result_done(&res);
	return rc;
}

/* "NAME [1] (2 stable [amd64])", as apt has it behind "Inst ". */
static int latest(const struct step_env *env, const json_t *names, struct buf *out, struct err *err)
{
	struct transaction t;
	struct plan plan = VEC_INIT;
	const json_t *name;
	bool again;
	size_t i;
	int rc;

	transaction_init(&t);
	json_array_foreach(names, i, name) * vec_push(&t.items) =
		(struct package_item){.wish = PACKAGE_LATEST, .text = json_string_value(name)};
	rc = simulate_once(env, &t, false, &plan, &again, err);
	vec_each(&plan, struct planned, p) {
		if (p->to)
			buf_addf(out, "%s %s%s%s\n", p->name, p->from ? p->from : "",
				p->from ? " -> " : "", p->to);
	}
	vec_done(&plan);
	transaction_done(&t);
	return rc;
}

static bool fits(struct str installed, struct str wanted)
{
	return str_eq(installed, wanted);
}

const struct packager PACKAGER_APT = {
	.name = "apt",
	.is_here = is_here,
	.parse = dpkg_spec_parse,
	.find = find,
	.compare = version_compare_deb,
	.fits = fits,
	.list = list,
	.broken = apt_broken,
	.tell = apt_tell_broken,
	.repair = apt_repair,
	.latest = latest,
	.has_lists = has_lists,
	.ready = ready,
	.simulate = simulate,
	.space = space,
	.fetch = fetch,
	.refresh = refresh,
	.commit = commit,
	.set_holds = set_holds,
};
