/* link - a symbolic link with a given target. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_absent(const json_t *args)
{
	return strcmp(json_get_str(args, "state", "present"), "absent") == 0;
}

/* Where the link points; "" when nothing is there. Anything but a link is E_CONFLICT. */
static int read_target(
	const struct step_env *env, const char *path, char out[static PATH_MAX], struct err *err)
{
	const char *name;
	struct stat st;
	ssize_t n;
	int rc;

	out[0] = '\0';
	rc = fs_stat(env->root, path, false, &st, err);
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	if (!S_ISLNK(st.st_mode)) {
		err_set(err, E_CONFLICT, "'%s' is a %s, expected a symbolic link", path,
			S_ISDIR(st.st_mode) ? "directory" : "file");
		return err_hint(err, "move it away first; a link never replaces data");
	}
	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);
	if (parent < 0)
		return parent;
	n = readlinkat(parent, name, out, PATH_MAX - 1);
	if (n < 0)
		return err_sys(err, errno, "cannot read the link '%s'", path);
	out[n] = '\0';
	return 0;
}

static int wanted(const json_t *args, const char **target, struct err *err)
{
	*target = is_absent(args) ? "" : json_get_str(args, "target", "");
	if (!is_absent(args) && !**target) {
		err_set(err, E_SCHEMA, "a link needs a 'target'");
		return err_hint(err, "give 'target: PATH', or 'state: absent'");
	}
	if (strlen(*target) >= PATH_MAX)
		return err_set(err, E_LIMIT, "the link's target is longer than %d bytes", PATH_MAX);
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *path = json_get_str(args, "path", ""), *want;
	char have[PATH_MAX];
	int rc;

	rc = wanted(args, &want, err);
	if (rc < 0)
		return rc;
	rc = read_target(env, path, have, err);
	if (rc < 0 || strcmp(have, want) == 0)
		return rc;
	report_differs(rep, !*have ? "does not exist" : *want ? "points elsewhere" : "is there");
	if (*have)
		report_addf(rep, "-%s -> %s\n", path, have);
	if (*want)
		report_addf(rep, "+%s -> %s\n", path, want);
	return 0;
}

/* Beside it and renamed over it, so that there is no moment without a link. */
static int replace(int parent, const char *name, const char *target, struct err *err)
{
	char temporary[NAME_MAX + 1];

	snprintf(temporary, sizeof temporary, FS_TMP_PREFIX "link.%.200s", name);
	if (unlinkat(parent, temporary, 0) < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot remove '%s'", temporary);
	if (symlinkat(target, parent, temporary) < 0)
		return err_sys(err, errno, "cannot make the link '%s'", name);
	if (renameat(parent, temporary, parent, name) < 0) {
		const int sys = errno;

		unlinkat(parent, temporary, 0);
		return err_sys(err, sys, "cannot put the link '%s' in place", name);
	}
	if (fsync(parent) < 0)
		return err_sys(err, errno, "cannot sync the folder of '%s'", name);
	return 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *path = json_get_str(args, "path", ""), *want, *name;
	char have[PATH_MAX];
	int rc;

	(void)rep;
	rc = wanted(args, &want, err);
	if (rc < 0)
		return rc;
	rc = read_target(env, path, have, err);
	if (rc < 0)
		return rc;
	if (!*want)
		return fs_remove(env->root, path, false, err);
	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);
	if (parent == -E_NOTFOUND)
		return err_hint(err, "add a 'directory' step for its folder before this one");
	return parent < 0 ? parent : replace(parent, name, want, err);
}

const struct step_ops STEP_LINK = {
	.kind = "link", .check = check, .apply = apply, .before = keep_before, .undo = keep_undo};
