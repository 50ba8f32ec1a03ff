/*
 * dnf - packages on RHEL, Fedora and their relatives.
 *
 * A root that has no dnf of its own (an installation in progress) is served by
 * this machine's, with --installroot. dnf's exit status is not believed: a
 * scriptlet that failed is an error here, though dnf returns 0.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/package_version.h"
#include "agent/step/dnf_plan.h"
#include "agent/step/package_lock.h"
#include "agent/step/packager.h"
#include "agent/step/report.h"
#include "agent/step/rpm.h"
#include "agent/step/tool.h"

#include <string.h>

#define CHANGE_TIMEOUT (3600 * INT64_C(1000000000))
#define LOCK_LIST      "/etc/dnf/plugins/versionlock.list"
#define LOCK_CONF      "/etc/dnf/plugins/versionlock.conf"
#define LOCK_LIST_MAX  (1u << 20)
#define SCRIPT         "/run/stoika-dnf-shell"

static const char *const LOCKS[] = {"/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock",
	"/run/dnf.pid", "/var/cache/dnf/metadata_lock.pid", NULL};

/* A phrase in dnf's output, what it means and what helps. */
static const struct {
	const char *phrase;
	enum ec code;
	const char *hint;
} MEANINGS[] = {
	{"No space left on device", E_NOSPACE, "free some space, e.g. by 'dnf clean packages'"},
	{"more space needed on the", E_NOSPACE, "free some space, e.g. by 'dnf clean packages'"},
	{"Failed to download metadata", E_NET, "check the mirrors in /etc/yum.repos.d"},
	{"Unable to find a match", E_NOTFOUND, "is its repository configured? see 'dnf list NAME'"},
	{"No match for argument", E_NOTFOUND, "is its repository configured? see 'dnf list NAME'"},
	{"filtered out by exclude", E_DENIED, "see 'dnf versionlock list' and 'excludepkgs'"},
	{"GPG check FAILED", E_VERIFY, "the package is not signed with the repository's key"},
	{"is not signed", E_VERIFY, "the package is not signed with the repository's key"},
	{"Public key for", E_VERIFY, "give the 'repo' step the repository's key"},
	{"repomd.xml GPG signature", E_VERIFY, "give the 'repo' step the repository's key"},
	{"hecksum", E_VERIFY, "the mirror was in the middle of an update: try later"},
	{"Cannot download", E_NET, "check the mirrors in /etc/yum.repos.d"},
	{"exit_on_lock", E_BUSY, "another dnf is at work, see 'ps -ef'"},
	{"conflicting requests", E_CONFLICT, "see 'dnf --assumeno install NAME' on the node"},
	{"nothing provides", E_CONFLICT, "is a repository missing (CRB, EPEL)?"},
	{"Problem:", E_CONFLICT, "see 'dnf --assumeno install NAME' on the node"},
};

struct argv vec(const char *);

static bool exists(const struct step_env *env, const char *path)
{
	struct stat st;

	return fs_stat(env->root, path, true, &st, NULL) == 0;
}

/* ALT has rpm but apt-get on top of it, SLES has zypper. */
static bool is_here(const struct step_env *env)
{
	return rpm_is_here(env) && !exists(env, "/usr/bin/zypper") &&
	       !exists(env, "/usr/bin/apt-get");
}

static int find(const struct step_env *env, const struct dpkg_spec *spec, struct package_state *out,
	struct err *err)
{
	struct rpm_record r;
	struct str list;
	AUTO_BUF locks;
	int rc;

	buf_init(&locks, LOCK_LIST_MAX);
	memset(out, 0, sizeof *out);
	rc = rpm_list(env, &list, err);
	if (rc < 0)
		return rc;
	if (fs_read(env->root, LOCK_LIST, &locks, NULL) == 0)
		out->held = dnf_lock_has(buf_str(&locks), spec->name);
	out->known = out->installed = rpm_find(list, spec->name, spec->arch, &r);
	if (out->known)
		out->version = r.version;
	return 0;
}

static int list(const struct step_env *env, struct buf *out, struct err *err)
{
	struct rpm_record r;
	struct str all;
	int rc = rpm_list(env, &all, err);

	while (rc == 0 && rpm_next(&all, &r))
		buf_addf(out, STR_FMT ":" STR_FMT " " STR_FMT "\n", STR_ARG(r.name),
			STR_ARG(r.arch), STR_ARG(r.version));
	return rc < 0 || buf_ok(out) ? rc
				     : err_set(err, E_LIMIT, "too many packages are installed");
}

/* Of these several versions may be installed side by side. */
static bool may_be_twice(struct str name)
{
	return str_starts(name, "kernel") || str_starts(name, "kmod-") ||
	       str_is(name, "gpg-pubkey");
}

static int broken(const struct step_env *env, struct arena *a, struct names *out, struct err *err)
{
	struct rpm_record r, last = {{0}, {0}, {0}};
	struct str all;
	int rc = rpm_list(env, &all, err);

	while (rc == 0 && rpm_next(&all, &r)) {
		if (str_eq(r.name, last.name) && str_eq(r.arch, last.arch) && !may_be_twice(r.name))
			*vec_push(out) =
				arena_printf(a, STR_FMT " (installed twice)", STR_ARG(r.name));
		last = r;
	}
	return rc;
}

static void tell(const struct step_env *env, const struct names *names, struct step_report *rep)
{
	(void)env, (void)names;
	report_addf(rep, "  see 'dnf check' and 'dnf history' on the node\n");
}

/* --- running dnf --- */

static void base_argv(const struct step_env *env, struct arena *a, bool locked, struct argv *argv)
{
	static const char *const OPTIONS[] = {"--setopt=install_weak_deps=False",
		"--setopt=clean_requirements_on_remove=False", "--setopt=exit_on_lock=True"};
	const bool outside = rpm_is_outside(env, "dnf");

	*vec_push(argv) = "dnf";
	for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++)
		*vec_push(argv) = OPTIONS[i];
	if (outside) {
		*vec_push(argv) = arena_printf(a, "--installroot=%s", env->root_path);
		*vec_push(argv) =
			arena_printf(a, "--setopt=reposdir=%s/etc/yum.repos.d", env->root_path);
		*vec_push(argv) = arena_printf(
			a, "--setopt=pluginconfpath=%s/etc/dnf/plugins", env->root_path);
	}
	/* In a simulation, to learn what would be changed; held packages are judged then. */
	if (!locked || !exists(env, LOCK_CONF))
		*vec_push(argv) = "--disableplugin=versionlock";
}

static int run(const struct step_env *env, const struct argv *argv, struct proc_result *res,
	struct err *err)
{
	const bool inside = strcmp(env->root_path, "/") != 0 && !rpm_is_outside(env, "dnf");
	const struct proc p = {.argv = argv->at,
		.root = inside ? env->root_path : NULL,
		.timeout = CHANGE_TIMEOUT,
		.merge = true};

	return proc_run(&p, res, err);
}

static void quote_errors(struct str out, struct buf *to)
{
	struct str line, rest = out;
	bool problem = false;

	while (str_line(&rest, &line)) {
		const bool more = problem && str_starts(line, "  ");

		problem = more || str_starts(line, " Problem") || str_starts(line, "Error:");
		if (!problem || str_is(line, "Error: ") || str_is(line, "Error:"))
			continue;
		if (to->n > 0)
			buf_add_text(to, "; ");
		line = str_trim(line);
		buf_add_printable(
			to, str_starts(line, "Error: ") ? str_from(line, strlen("Error: ")) : line);
	}
	if (to->n == 0)
		tool_tail(out, 3, to);
}

static int explain(const char *what, const struct proc_result *res, struct err *err)
{
	AUTO_BUF said;

	buf_init(&said, 320);
	quote_errors(buf_str(&res->out), &said);
	if (res->end == PROC_TIMED_OUT)
		return err_set(err, E_TIMEOUT, "'dnf %s' took too long and was stopped: %s", what,
			buf_text(&said));
	for (size_t i = 0; i < sizeof MEANINGS / sizeof MEANINGS[0]; i++) {
		if (str_find_str(buf_str(&res->out), str_of(MEANINGS[i].phrase)) == STR_NONE)
			continue;
		err_set(err, MEANINGS[i].code, "'dnf %s' failed: %s", what, buf_text(&said));
		return err_hint(err, "%s", MEANINGS[i].hint);
	}
	err_set(err, E_REMOTE, "'dnf %s' failed with %s %d: %s", what,
		res->end == PROC_SIGNALED ? "signal" : "status", res->status, buf_text(&said));
	return err_hint(err, "see /var/log/dnf.log and 'dnf history' on the node");
}

/* Words that dnf passes over with a warning while it does the rest. */
static bool passed_over(const struct proc_result *res)
{
	const struct str out = buf_str(&res->out);

	return str_find_str(out, STR_LIT("No match for argument")) != STR_NONE ||
	       str_find_str(out, STR_LIT("Unable to find a match")) != STR_NONE;
}

/* --- one transaction --- */

enum group {
	GROUP_INSTALL,
	GROUP_UPGRADE,
	GROUP_REMOVE,
	GROUPS
};

static const char *const GROUP_COMMAND[GROUPS] = {"install", "upgrade", "remove"};

static const char *word_of(struct arena *a, const struct dpkg_spec *s)
{
	return arena_printf(a, STR_FMT "%s" STR_FMT "%s" STR_FMT, STR_ARG(s->name),
		s->version.n ? "-" : "", STR_ARG(s->version), s->arch.n ? "." : "",
		STR_ARG(s->arch));
}

static int sort_items(const struct step_env *env, struct transaction *t,
	struct names groups[static GROUPS], struct err *err)
{
	vec_each(&t->items, struct package_item, i) {
		struct package_state s;
		enum group g = GROUP_INSTALL;
		const int rc = find(env, &i->spec, &s, err);

		if (rc < 0)
			return rc;
		if (i->wish == PACKAGE_AS_IS || (i->wish == PACKAGE_ABSENT && !s.installed))
			continue;
		if (i->wish == PACKAGE_ABSENT)
			g = GROUP_REMOVE;
		else if (i->wish == PACKAGE_LATEST && s.installed)
			g = GROUP_UPGRADE;
		*vec_push(&groups[g]) = word_of(t->arena, &i->spec);
	}
	return 0;
}

/* Several commands as one transaction need a script. */
static int write_script(const struct step_env *env, struct arena *a,
	const struct names groups[static GROUPS], const char **path, struct err *err)
{
	const bool outside = rpm_is_outside(env, "dnf");
	AUTO_BUF text;
	int rc;

	buf_init(&text, 1u << 20);
	for (size_t g = GROUPS; g-- > 0;)
		vec_each(&groups[g], const char *, w)
			buf_addf(&text, "%s %s\n", GROUP_COMMAND[g], *w);
	buf_add_text(&text, "run\n");
	*path = outside ? arena_printf(a, "%s" SCRIPT, env->root_path) : SCRIPT;
	rc = fs_mkdirs(env->root, "/run", 0755, err);
	return rc < 0 ? rc : fs_replace(env->root, SCRIPT, buf_str(&text), 0600, 0, 0, err);
}

enum deed {
	DEED_SIMULATE,
	DEED_FETCH,
	DEED_INSTALL
};

/* Lists that cannot be fetched anew are good enough when all that is needed was fetched before. */
static int run_online_or_not(
	const struct step_env *env, struct argv *argv, struct proc_result *res, struct err *err)
{
	const int rc = run(env, argv, res, err);
	struct proc_result again;

	if (rc < 0 || proc_ok(res) ||
		str_find_str(buf_str(&res->out), STR_LIT("Failed to download metadata")) ==
			STR_NONE)
		return rc;
	argv->at[argv->n - 1] = "--cacheonly";
	*vec_push(argv) = NULL;
	if (run(env, argv, &again, NULL) < 0)
		return rc;
	/* What is wanted was not fetched before: then the mirror is what is to be told of. */
	if (str_find_str(buf_str(&again.out), STR_LIT("Error:")) != STR_NONE) {
		proc_result_done(&again);
		return rc;
	}
	proc_result_done(res);
	*res = again;
	return rc;
}

/* rc 1: there was nothing to ask dnf for. */
static int run_groups(const struct step_env *env, struct transaction *t, enum deed deed,
	struct proc_result *res, struct err *err)
{
	struct names groups[GROUPS] = {VEC_INIT, VEC_INIT, VEC_INIT};
	struct argv argv = VEC_INIT;
	const char *script;
	unsigned used = 0;
	int rc = sort_items(env, t, groups, err);

	for (size_t g = 0; g < GROUPS; g++)
		used += groups[g].n > 0;
	/* Locks are judged by the simulation, and lifted only for the change itself. */
	base_argv(env, t->arena, deed == DEED_INSTALL, &argv);
	*vec_push(&argv) = deed == DEED_SIMULATE ? "--assumeno" : "-y";
	if (deed == DEED_FETCH)
		*vec_push(&argv) = "--downloadonly";
	if (rc == 0 && used > 1) {
		rc = write_script(env, t->arena, groups, &script, err);
		*vec_push(&argv) = "shell";
		*vec_push(&argv) = rc == 0 ? script : "";
	}
	for (size_t g = 0; used == 1 && g < GROUPS; g++) {
		if (groups[g].n > 0)
			*vec_push(&argv) = GROUP_COMMAND[g];
		vec_each(&groups[g], const char *, w)
			*vec_push(&argv) = *w;
	}
	*vec_push(&argv) = NULL;
	if (rc == 0)
		rc = used == 0 ? 1 : run_online_or_not(env, &argv, res, err);
	if (used > 1)
		fs_remove(env->root, SCRIPT, false, NULL);
	for (size_t g = 0; g < GROUPS; g++)
		vec_done(&groups[g]);
	vec_done(&argv);
	return rc;
}

/* What was there before, for rows of packages that are changed rather than new. */
static int fill_from(
	const struct step_env *env, struct arena *a, struct plan *plan, struct err *err)
{
	struct rpm_record r;
	struct str list;
	int rc = rpm_list(env, &list, err);

	vec_each(plan, struct planned, p) {
		const struct str base = package_base_name(p->name);

		if (rc == 0 && p->to && !may_be_twice(base) &&
			rpm_find(list, base, str_from(str_of(p->name), base.n + 1), &r))
			p->from = arena_text(a, r.version);
	}
	return rc;
}

static int simulate(
	const struct step_env *env, struct transaction *t, struct plan *out, struct err *err)
{
	struct proc_result res;
	struct str said;
	int rc = run_groups(env, t, DEED_SIMULATE, &res, err);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	said = buf_str(&res.out);
	dnf_plan_read(t->arena, said, out);
	/* --assumeno ends with status 1 and "Operation aborted" when all is well. */
	if (passed_over(&res) || (out->n == 0 && !proc_ok(&res)))
		rc = explain("--assumeno", &res, err);
	proc_result_done(&res);
	return rc < 0 ? rc : fill_from(env, t->arena, out, err);
}

static int fetch(const struct step_env *env, struct transaction *t, bool *stale, struct err *err)
{
	struct proc_result res;
	int rc = run_groups(env, t, DEED_FETCH, &res, err);

	*stale = false; /* dnf sees to its lists by itself */
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (!proc_ok(&res) || passed_over(&res))
		rc = explain("--downloadonly install", &res, err);
	proc_result_done(&res);
	return rc;
}

static int refresh(const struct step_env *env, struct err *err)
{
	(void)env, (void)err;
	return 0;
}

static int commit(const struct step_env *env, struct transaction *t, struct err *err)
{
	struct proc_result res;
	AUTO_BUF scriptlets;
	int rc;

	buf_init(&scriptlets, 200);
	rc = run_groups(env, t, DEED_INSTALL, &res, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	dnf_plan_scriptlets(buf_str(&res.out), &scriptlets);
	if (!proc_ok(&res) || passed_over(&res)) {
		rc = explain("install", &res, err);
	} else if (scriptlets.n > 0) {
		err_set(err, E_REMOTE, "installed, but a scriptlet failed in %s",
			buf_text(&scriptlets));
		rc = err_hint(err, "see 'dnf history info last' on the node; 'dnf reinstall' runs "
				   "it again");
	}
	proc_result_done(&res);
	return rc;
}

static int ready(const struct step_env *env, int64_t wait, struct err *err)
{
	int rc = package_lock_wait(env, LOCKS, wait, err);

	if (rc == 0)
		rc = packager_need_space(env, "/var", PACKAGER_FREE_MIN, err);
	return rc < 0 ? rc : packager_need_space(env, "/usr", PACKAGER_FREE_MIN, err);
}

/* dnf itself compares sizes with what is free; only /boot, which scriptlets fill, is looked at. */
static int space(const struct step_env *env, const struct plan *plan, struct err *err)
{
	vec_each(plan, struct planned, p)
		if (p->to && str_starts(str_of(p->name), "kernel-core"))
			return packager_need_space(env, "/boot", PACKAGER_BOOT_MIN, err);
	return 0;
}

static int repair(const struct step_env *env, const struct names *names, bool all, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct arena *a = arena_new();
	struct proc_result res;
	int rc;

	(void)names, (void)all;
	base_argv(env, a, true, &argv);
	*vec_push(&argv) = "-y";
	*vec_push(&argv) = "remove";
	*vec_push(&argv) = "--duplicates";
	*vec_push(&argv) = NULL;
	rc = run(env, &argv, &res, err);
	vec_done(&argv);
	arena_free(a);
	step_cache_forget(env->cache);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = explain("remove --duplicates", &res, err);
	proc_result_done(&res);
	return rc;
}

static int latest(const struct step_env *env, const json_t *names, struct buf *out, struct err *err)
{
	struct transaction t;
	struct plan plan = VEC_INIT;
	const json_t *name;
	size_t i;
	int rc;

	transaction_init(&t);
	json_array_foreach(names, i, name)
	{
		struct package_item *item = vec_push(&t.items);

		item->wish = PACKAGE_LATEST;
		rpm_spec_parse(str_of(json_string_value(name)), &item->spec);
	}
	rc = simulate(env, &t, &plan, err);
	vec_each(&plan, struct planned, p) {
		if (p->to)
			buf_addf(out, "%s %s%s%s\n", p->name, p->from ? p->from : "",
				p->from ? " -> " : "", p->to);
	}
	vec_done(&plan);
	transaction_done(&t);
	return rc;
}

/* dnf fetches its lists by itself. */
static bool has_lists(const struct step_env *env)
{
	(void)env;
	return true;
}

static int set_holds(
	const struct step_env *env, const struct names *names, bool held, struct err *err)
{
	struct package_state s;
	int rc = 0;

	if (!exists(env, LOCK_CONF)) {
		err_set(err, E_UNSUPPORTED,
			"dnf on this node has no versionlock plugin to hold by");
		return err_hint(err, "install 'python3-dnf-plugin-versionlock' first");
	}
	vec_each(names, const char *, n) {
		const struct dpkg_spec spec = {.name = package_base_name(*n)};
		AUTO_BUF list = {0}, next = {0};

		buf_init(&list, LOCK_LIST_MAX);
		buf_init(&next, LOCK_LIST_MAX);
		if (rc == 0)
			rc = find(env, &spec, &s, err);
		if (rc == 0) {
			rc = fs_read(env->root, LOCK_LIST, &list, err);
			rc = rc == -E_NOTFOUND ? 0 : rc;
		}
		if (rc < 0)
			break;
		dnf_lock_set(
			buf_str(&list), spec.name, held ? s.version : (struct str){NULL, 0}, &next);
		rc = fs_replace(env->root, LOCK_LIST, buf_str(&next), FS_KEEP_MODE, FS_KEEP_ID,
			FS_KEEP_ID, err);
	}
	return rc;
}

const struct packager PACKAGER_DNF = {
	.name = "dnf",
	.is_here = is_here,
	.parse = rpm_spec_parse,
	.find = find,
	.compare = version_compare_rpm,
	.fits = rpm_fits,
	.list = list,
	.broken = broken,
	.tell = tell,
	.repair = repair,
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
