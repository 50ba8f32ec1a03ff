/* directory - a directory with mode and owner, or the absence of a tree. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/attr.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A recipe that removes one of these is a mistake, and there is no way back. */
static const char *const KEPT[] = {"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64",
	"media", "mnt", "opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "usr/bin",
	"usr/lib", "usr/lib64", "usr/sbin", "usr/share", "usr/local", "var", "var/lib",
	"var/lib/dpkg", "var/lib/rpm", "var/log", NULL};

static bool is_absent(const json_t *args)
{
	return strcmp(json_get_str(args, "state", "present"), "absent") == 0;
}

static bool is_kept(const char *path)
{
	struct str rest = str_of(path), part;
	AUTO_BUF plain;

	buf_init(&plain, PATH_MAX);
	while (str_next(&rest, '/', &part)) {
		if (part.n == 0 || str_is(part, "."))
			continue;
		if (plain.n > 0)
			buf_add_char(&plain, '/');
		buf_add_str(&plain, part);
	}
	if (plain.n == 0)
		return true;
	for (const char *const *k = KEPT; *k; k++)
		if (strcmp(*k, buf_text(&plain)) == 0)
			return true;
	return false;
}

/* Found: E_CONFLICT unless it is a directory. */
static int judge(const char *path, const struct stat *st, struct err *err)
{
	if (S_ISDIR(st->st_mode))
		return 0;
	if (S_ISLNK(st->st_mode)) {
		err_set(err, E_CONFLICT, "'%s' is a symbolic link, expected a directory", path);
		return err_hint(
			err, "name the directory it points to, or remove it by a 'link' step");
	}
	return err_set(err, E_CONFLICT, "'%s' is not a directory", path);
}

static int check_absent(
	const char *path, const struct stat *st, struct step_report *rep, struct err *err)
{
	if (is_kept(path)) {
		rep->denied = true;
		return err_set(
			err, E_DENIED, "'%s' belongs to the system and is never removed", path);
	}
	if (!st)
		return 0;
	report_differs(rep, "is there");
	report_addf(rep, "remove the tree %s\n", path);
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *path = json_get_str(args, "path", "");
	struct attr attr;
	struct stat st;
	int rc;

	rc = fs_stat(env->root, path, false, &st, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;

	const bool there = rc == 0;

	rc = there ? judge(path, &st, err) : 0;
	if (rc < 0)
		return rc;
	if (is_absent(args))
		return check_absent(path, there ? &st : NULL, rep, err);
	rc = attr_parse(env, args, &attr, rep, err);
	if (rc < 0)
		return rc;
	if (there) {
		attr_compare(env, &attr, &st, rep);
		return 0;
	}
	report_differs(rep, "does not exist");
	report_addf(rep, "make directory %s\n", path);
	return 0;
}

static int make_parents(const struct step_env *env, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	const size_t n = slash ? (size_t)(slash - path) : 0;

	if (n == 0)
		return 0;
	if (n >= sizeof parent)
		return err_set(err, E_LIMIT, "the path '%.40s...' is too long", path);
	memcpy(parent, path, n);
	parent[n] = '\0';
	return fs_mkdirs(env->root, parent, 0755, err);
}

/* Made closed and opened afterwards, so that a private directory is never public. */
static int make(const struct step_env *env, const char *path, struct attr *attr, struct err *err)
{
	const char *name;
	int rc;

	rc = make_parents(env, path, err);
	if (rc < 0)
		return rc;
	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);
	if (parent < 0)
		return parent;
	if (mkdirat(parent, name, 0700) < 0)
		return errno == EEXIST ? 0 : err_sys(err, errno, "cannot make '%s'", path);
	if (fsync(parent) < 0)
		return err_sys(err, errno, "cannot sync the parent of '%s'", path);
	if (attr->mode == FS_KEEP_MODE)
		attr->mode = 0755;
	return 0;
}

/* Without slashes at the end, which would hide the last part. */
static int read_path(const json_t *args, char out[static PATH_MAX], struct err *err)
{
	struct str path = str_of(json_get_str(args, "path", ""));

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	if (path.n >= PATH_MAX)
		return err_set(err, E_LIMIT, "the path '%.40s...' is too long", path.p);
	snprintf(out, PATH_MAX, STR_FMT, STR_ARG(path));
	return 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	char path[PATH_MAX];
	struct attr attr;
	struct stat st;
	int rc;

	rc = read_path(args, path, err);
	if (rc < 0)
		return rc;
	rc = fs_stat(env->root, path, false, &st, err);
	if (rc == 0)
		rc = judge(path, &st, err);
	else if (rc == -E_NOTFOUND)
		rc = 0;
	if (rc < 0)
		return rc;
	if (is_absent(args)) {
		rc = check_absent(path, NULL, rep, err);
		return rc < 0 ? rc : fs_remove(env->root, path, true, err);
	}
	rc = attr_parse(env, args, &attr, rep, err);
	if (rc == 0)
		rc = make(env, path, &attr, err);
	return rc < 0 ? rc : attr_apply(env, path, &attr, err);
}

/* The directory and those of its parents that would be made with it. */
static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object();
	char path[PATH_MAX], *slash;
	struct stat st;
	int rc = read_path(args, path, err);

	while (rc == 0) {
		rc = keep_path(env, path, into, err);
		slash = strrchr(path, '/');
		if (rc < 0 || !slash || slash == path)
			break;
		*slash = '\0';
		if (fs_stat(env->root, path, true, &st, NULL) == 0)
			break;
	}
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

static bool was_directory(const json_t *before, const char *path)
{
	return strcmp(json_get_str(json_get(before, path), "kind", ""), "directory") == 0;
}

/* From the directory itself up; made parents go while they are empty. */
static int take_back(struct step_env *env, char *path, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	for (;;) {
		AUTO_JSON now = json_object();
		int rc = keep_path(
			&(struct step_env){.root = env->root, .keep = -1}, path, now, err);
		char *slash = strrchr(path, '/');

		if (rc < 0)
			return rc;
		if (!keep_is_same(json_get(now, path), json_get(before, path)))
			report_differs(rep, "brought back");
		rc = keep_restore(env, path, before, after, err);
		if (rc < 0 || !slash || slash == path)
			return rc;
		*slash = '\0';
		if (!json_get(before, path))
			return 0;
	}
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int rc = read_path(args, path, err);

	if (rc < 0)
		return rc;
	if (was_directory(before, path) && fs_stat(env->root, path, false, &st, NULL) < 0) {
		err_set(err, E_UNSUPPORTED, "the tree '%s' was removed and is not kept", path);
		return err_hint(err, "take it from a backup of your own");
	}
	return take_back(env, path, before, after, rep, err);
}

const struct step_ops STEP_DIRECTORY = {
	.kind = "directory", .check = check, .apply = apply, .before = before, .undo = undo};
