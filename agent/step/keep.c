/* keep - descriptions are small JSON objects; bytes lie in env->keep under their SHA-256. */
#include "agent/step/keep.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/step/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOB_MODE 0600

static void put_attributes(json_t *o, const struct stat *st)
{
	char mode[8];

	snprintf(mode, sizeof mode, "%04o", (unsigned)(st->st_mode & 07777));
	json_put_str(o, "mode", mode);
	json_put_int(o, "uid", st->st_uid);
	json_put_int(o, "gid", st->st_gid);
}

static mode_t get_mode(const json_t *o)
{
	const char *text = json_get_str(o, "mode", "0644");
	mode_t mode = 0;

	for (; *text >= '0' && *text <= '7'; text++)
		mode = mode * 8 + (mode_t)(*text - '0');
	return mode & 07777;
}

static int read_link(const struct step_env *env, const char *path, json_t *o, struct err *err)
{
	char target[PATH_MAX];
	const char *name;
	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);

	if (parent < 0)
		return parent;

	const ssize_t n = readlinkat(parent, name, target, sizeof target - 1);

	if (n < 0)
		return err_sys(err, errno, "cannot read the link '%s'", path);
	json_put_text(o, "target", (struct str){target, (size_t)n});
	return 0;
}

/* The bytes go beside their name first, so that a blob with a hash's name is whole. */
static int store_blob(const struct step_env *env, int from, const char *hash, struct err *err)
{
	struct stat st;

	if (env->keep < 0 || fs_stat(env->keep, hash, false, &st, NULL) == 0)
		return 0;
	if (lseek(from, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "cannot read the earlier file again");
	return fs_replace_from(env->keep, hash, from, BLOB_MODE, geteuid(), getegid(), err);
}

static int read_file(const struct step_env *env, const char *path, const struct stat *st, json_t *o,
	struct err *err)
{
	char hex[HASH_HEX];
	int rc;
	AUTO_FD fd = -1;

	json_put_int(o, "size", st->st_size);
	if (st->st_size > (off_t)KEEP_FILE_MAX) {
		json_put_int(o, "mtime", st->st_mtim.tv_sec);
		return 0;
	}
	fd = fs_open(env->root, path, O_RDONLY, 0, false, err);
	if (fd < 0)
		return fd;
	rc = hash_fd(fd, hex, err);
	if (rc < 0)
		return rc;
	json_put_str(o, "sha256", hex);
	return store_blob(env, fd, hex, err);
}

static int describe(const struct step_env *env, const char *path, json_t *o, struct err *err)
{
	struct stat st;
	const int rc = fs_stat(env->root, path, false, &st, err);

	if (rc == -E_NOTFOUND) {
		json_put_str(o, "kind", "absent");
		return 0;
	}
	if (rc < 0)
		return rc;
	if (S_ISLNK(st.st_mode)) {
		json_put_str(o, "kind", "link");
		return read_link(env, path, o, err);
	}
	put_attributes(o, &st);
	if (S_ISDIR(st.st_mode)) {
		json_put_str(o, "kind", "directory");
		return 0;
	}
	json_put_str(o, "kind", S_ISREG(st.st_mode) ? "file" : "other");
	return S_ISREG(st.st_mode) ? read_file(env, path, &st, o, err) : 0;
}

int keep_path(const struct step_env *env, const char *path, json_t *into, struct err *err)
{
	json_t *o = json_object();
	const int rc = describe(env, path, o, err);

	if (rc < 0)
		json_decref(o);
	else
		json_object_set_new(into, path, o);
	return rc;
}

bool keep_is_same(const json_t *a, const json_t *b)
{
	return a && b && json_equal(a, b);
}

/* --- the way back --- */

static int put_file(
	const struct step_env *env, const char *path, const json_t *was, struct err *err)
{
	const char *hash = json_get_str(was, "sha256", NULL);
	AUTO_FD from = -1;

	from = env->keep < 0 || !hash ? -E_NOTFOUND
				      : fs_open(env->keep, hash, O_RDONLY, 0, false, err);
	if (from < 0) {
		err_set(err, E_NOTFOUND, "the earlier bytes of '%s' are not on the node any more",
			path);
		return err_hint(err, "take them from a backup of your own");
	}
	return fs_replace_from(env->root, path, from, get_mode(was),
		(uid_t)json_get_int(was, "uid", 0), (gid_t)json_get_int(was, "gid", 0), err);
}

static int put_link(
	const struct step_env *env, const char *path, const json_t *was, struct err *err)
{
	char temporary[NAME_MAX + 1];
	const char *name;
	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);

	if (parent < 0)
		return parent;
	snprintf(temporary, sizeof temporary, FS_TMP_PREFIX "keep.%.200s", name);
	if (unlinkat(parent, temporary, 0) < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot remove '%s'", temporary);
	if (symlinkat(json_get_str(was, "target", ""), parent, temporary) < 0)
		return err_sys(err, errno, "cannot make the link '%s'", path);
	if (renameat(parent, temporary, parent, name) < 0) {
		const int sys = errno;

		unlinkat(parent, temporary, 0);
		return err_sys(err, sys, "cannot put the link '%s' in place", path);
	}
	return fsync(parent) < 0 ? err_sys(err, errno, "cannot sync the folder of '%s'", path) : 0;
}

static int put_attributes_back(
	const struct step_env *env, const char *path, const json_t *was, struct err *err)
{
	AUTO_FD fd = fs_open(env->root, path, O_RDONLY | O_DIRECTORY, 0, false, err);

	if (fd < 0)
		return fd;
	if (fchown(fd, (uid_t)json_get_int(was, "uid", 0), (gid_t)json_get_int(was, "gid", 0)) <
			0 ||
		fchmod(fd, get_mode(was)) < 0)
		return err_sys(err, errno, "cannot set mode and owner of '%s'", path);
	return 0;
}

/* A file or a link goes; a directory only when it is empty, since what is in it is not ours. */
static int put_absence(const struct step_env *env, const char *path, struct err *err)
{
	const char *name;
	struct stat st;
	int rc = fs_stat(env->root, path, false, &st, err);

	if (rc < 0)
		return rc == -E_NOTFOUND ? 0 : rc;
	if (!S_ISDIR(st.st_mode))
		return fs_remove(env->root, path, false, err);

	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);

	if (parent < 0)
		return parent;
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return err_sys(err, errno, "cannot remove the directory '%s'", path);
	err_set(err, E_CONFLICT, "'%s' is not empty: it stays", path);
	return err_hint(err, "what is in it came later; look at it and remove it yourself");
}

static int put_back(
	const struct step_env *env, const char *path, const json_t *was, struct err *err)
{
	const char *kind = json_get_str(was, "kind", "");

	if (strcmp(kind, "absent") == 0)
		return put_absence(env, path, err);
	if (strcmp(kind, "file") == 0)
		return put_file(env, path, was, err);
	if (strcmp(kind, "link") == 0)
		return put_link(env, path, was, err);
	if (strcmp(kind, "directory") == 0)
		return put_attributes_back(env, path, was, err);
	return err_set(err, E_UNSUPPORTED,
		"'%s' was a device, socket or pipe: it is not made again", path);
}

int keep_restore(const struct step_env *env, const char *path, const json_t *before,
	const json_t *after, struct err *err)
{
	const json_t *was = json_get(before, path), *left = json_get(after, path);
	AUTO_JSON now = json_object();
	int rc;

	if (!was)
		return 0;
	rc = describe(&(struct step_env){.root = env->root, .keep = -1}, path, now, err);
	if (rc < 0 || keep_is_same(now, was))
		return rc;
	if (left && !keep_is_same(now, left)) {
		err_set(err, E_CONFLICT, "'%s' was changed by somebody else since", path);
		return err_hint(err, "compare it with what you want, then set it yourself: it is "
				     "left as it is");
	}
	return put_back(env, path, was, err);
}

int keep_before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object();
	const int rc = keep_path(env, json_get_str(args, "path", ""), into, err);

	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

int keep_undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const char *path = json_get_str(args, "path", "");
	AUTO_JSON now = json_object();
	const int rc = describe(&(struct step_env){.root = env->root, .keep = -1}, path, now, err);

	if (rc < 0)
		return rc;
	if (!keep_is_same(now, json_get(before, path)))
		report_differs(rep, "brought back");
	return keep_restore(env, path, before, after, err);
}
