#include "agent/step/apt_sound.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/step/apt.h"
#include "agent/step/cache.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <fcntl.h>
#include <string.h>

#define DKMS           "/var/lib/dkms"
#define MAKE_LOG_MAX   (8u << 20)
#define MAKE_LINES     20u
#define BROKEN_MAX     1000u
#define REPAIR_TIMEOUT (3600 * INT64_C(1000000000))

/* dpkg journals its status in updates/; something there means that it was killed. */
static bool was_interrupted(const struct step_env *env)
{
	DIR *dir = fs_dir_open(env->root, "/var/lib/dpkg/updates", NULL);
	const struct dirent *e;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (e = readdir(dir)))
		found = e->d_name[0] >= '0' && e->d_name[0] <= '9';
	closedir(dir);
	return found;
}

/* Triggers that wait are no fault: the next dpkg runs them. */
static bool is_half_way(const struct dpkg_record *r)
{
	return dpkg_is_broken(r) && !str_starts(r->state, "triggers-");
}

int apt_broken(const struct step_env *env, struct arena *a, struct names *out, struct err *err)
{
	const struct dpkg *status;
	struct dpkg_record r;
	int rc = cache_dpkg(env, &status, err);

	if (rc < 0)
		return rc;
	for (size_t at = 0; out->n < BROKEN_MAX && dpkg_next(status, &at, &r);)
		if (is_half_way(&r))
			*vec_push(out) = arena_printf(a, STR_FMT " (" STR_FMT ")", STR_ARG(r.name),
				STR_ARG(str_is(r.error, "reinstreq") ? r.error : r.state));
	if (out->n == 0 && was_interrupted(env))
		*vec_push(out) = "dpkg (interrupted)";
	return 0;
}

/* --- module logs --- */

struct newest {
	char path[512];
	struct timespec at;
};

static void try_log(const struct step_env *env, const char *folder, const char *module,
	const char *version, struct newest *n)
{
	char path[sizeof n->path];
	struct stat st;

	if (module[0] == '.' || version[0] == '.')
		return;
	snprintf(path, sizeof path, "%s/%.100s/%.100s/build/make.log", folder, module, version);
	if (fs_stat(env->root, path, true, &st, NULL) < 0 || st.st_mtim.tv_sec < n->at.tv_sec)
		return;
	n->at = st.st_mtim;
	snprintf(n->path, sizeof n->path, "%s", path);
}

static void find_log(const struct step_env *env, struct newest *n)
{
	const struct dirent *module, *version;
	DIR *all = fs_dir_open(env->root, DKMS, NULL), *one;
	char path[300];

	while (all && (module = readdir(all))) {
		if (module->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, DKMS "/%.250s", module->d_name);
		one = fs_dir_open(env->root, path, NULL);
		while (one && (version = readdir(one)))
			try_log(env, DKMS, module->d_name, version->d_name, n);
		if (one)
			closedir(one);
	}
	if (all)
		closedir(all);
}

/* "DKMS make.log for nvidia-580 for kernel 6.8.0-60-generic (x86_64)", else as others word it. */
static struct str kernel_of(struct str log)
{
	const struct str mark = STR_LIT("for kernel ");
	const size_t at = str_find_str(log, mark);
	struct str name;

	if (at == STR_NONE)
		return (struct str){NULL, 0};
	name = str_from(log, at + mark.n);
	name = str_first(name, str_find(name, '\n'));
	return str_first(name, str_find(name, ' '));
}

static struct str last_lines(struct str text, unsigned n)
{
	size_t from = text.n;

	if (from > 0 && text.p[from - 1] == '\n')
		from--;
	for (unsigned seen = 0; from > 0; from--)
		if (text.p[from - 1] == '\n' && ++seen == n)
			break;
	return str_from(text, from);
}

void apt_tell_broken(
	const struct step_env *env, const struct names *broken, struct step_report *rep)
{
	struct newest n = {{0}, {0}};
	struct str kernel, rest, line;
	AUTO_BUF log, clean;

	(void)broken;
	buf_init(&log, MAKE_LOG_MAX);
	buf_init(&clean, 16u << 10);
	find_log(env, &n);
	if (!n.path[0] || fs_read(env->root, n.path, &log, NULL) < 0)
		return;
	kernel = kernel_of(buf_str(&log));
	report_addf(rep, "last lines of %s%s" STR_FMT ":\n", n.path, kernel.n ? " for kernel " : "",
		STR_ARG(kernel));
	rest = last_lines(buf_str(&log), MAKE_LINES);
	while (str_line(&rest, &line)) {
		buf_add_text(&clean, "  ");
		buf_add_printable(&clean, line);
		buf_add_char(&clean, '\n');
	}
	report_add(rep, buf_str(&clean));
}

/* --- finishing it --- */

struct argv vec(const char *);

/* Those of names that are unpacked or half-configured; others cannot be configured. */
static void add_half_way(const struct step_env *env, const struct names *names, struct argv *argv)
{
	const struct dpkg *status;
	struct dpkg_record r;

	if (cache_dpkg(env, &status, NULL) < 0)
		return;
	vec_each(names, const char *, n) {
		if (dpkg_find(status, package_base_name(*n), (struct str){NULL, 0}, &r) &&
			is_half_way(&r) && !str_is(r.state, "half-installed"))
			*vec_push(argv) = *n;
	}
}

static int still_broken(const struct step_env *env, struct str said, struct err *err)
{
	struct names broken = VEC_INIT;
	struct arena *a = arena_new();
	AUTO_BUF text;
	int rc;

	buf_init(&text, 160);
	step_cache_forget(env->cache);
	rc = apt_broken(env, a, &broken, err);
	vec_each(&broken, const char *, b)
		buf_addf(&text, "%s%s", text.n ? ", " : "", *b);
	if (rc == 0 && broken.n > 0) {
		err_set(err, E_STATE, "dpkg is still broken on this node: %s%s" STR_FMT,
			buf_text(&text), said.n ? ": " : "", STR_ARG(said));
		rc = err_hint(
			err, "run 'dpkg --audit' on the node, reinstall or remove the package");
	}
	vec_done(&broken);
	arena_free(a);
	return rc;
}

int apt_repair(const struct step_env *env, const struct names *names, bool all, struct err *err)
{
	struct argv argv = VEC_INIT;
	struct proc_result res;
	AUTO_BUF tail;
	int rc;

	buf_init(&tail, 220);
	*vec_push(&argv) = "dpkg";
	*vec_push(&argv) = "--force-confdef";
	*vec_push(&argv) = "--force-confold";
	*vec_push(&argv) = "--configure";
	if (all)
		*vec_push(&argv) = "-a";
	else
		add_half_way(env, names, &argv);
	/* Without a name that can be configured, dpkg still has to take its journal in. */
	if (argv.n == 4)
		*vec_push(&argv) = "--pending";
	*vec_push(&argv) = NULL;
	rc = tool_run(env, argv.at, APT_ENV, REPAIR_TIMEOUT, &res, err);
	vec_done(&argv);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		tool_tail(buf_str(&res.out), 3, &tail);
	proc_result_done(&res);
	/* What is half-installed is finished by the transaction that follows. */
	step_cache_forget(env->cache);
	return all || tail.n > 0 ? still_broken(env, buf_str(&tail), err) : 0;
}
