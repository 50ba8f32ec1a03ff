/*
 * undo - a step's whole way there and back: apply, same, apply again, undo, and the tree is as
 *before.
 *
 *	tree_undoes(&t, "file", ARGS);
 *
 * A snapshot holds each path's kind, mode, owner, size and bytes (by SHA-256) or
 * target; what a test's tools write (etc/passwd- and the like) is left out by
 * tree_ignore, a NULL-terminated list of paths.
 */
#pragma once

#include "agent/base/hash.h"
#include "agent/base/vec.h"
#include "tests/unit/step/tree.h"

#include <dirent.h>
#include <stdlib.h>

static const char *const *tree_ignore;

static inline bool tree_is_ignored(const char *path)
{
	for (const char *const *p = tree_ignore; p && *p; p++)
		if (strcmp(*p, path) == 0)
			return true;
	return false;
}

static inline int tree_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static inline void tree_show_path(const struct tree *t, const char *path, struct buf *out)
{
	char hex[HASH_HEX] = "", target[4096] = "", full[512];
	struct stat st;

	assert_int_equal(fs_stat(t->env.root, path, false, &st, NULL), 0);
	tree_path(t, path, full);
	if (S_ISREG(st.st_mode)) {
		const int fd = fs_open(t->env.root, path, O_RDONLY, 0, false, NULL);

		assert_int_equal(hash_fd(fd, hex, NULL), 0);
		close(fd);
	} else if (S_ISLNK(st.st_mode)) {
		const ssize_t n = readlink(full, target, sizeof target - 1);

		assert_true(n >= 0);
	}
	buf_addf(out, "%s %o %u:%u %s%s\n", path, st.st_mode, st.st_uid, st.st_gid, hex, target);
}

static inline void tree_snapshot_in(const struct tree *t, const char *folder, struct buf *out)
{
	char full[512], path[320];
	struct vec(char *) names = VEC_INIT;
	struct dirent *e;
	struct stat st;
	DIR *d;

	tree_path(t, folder, full);
	d = opendir(full);
	assert_non_null(d);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			*vec_push(&names) = strdup(e->d_name);
	closedir(d);
	if (names.n > 0)
		qsort(names.at, names.n, sizeof *names.at, tree_by_name);
	for (size_t i = 0; i < names.n; i++) {
		snprintf(path, sizeof path, "%.100s%s%.200s", folder, *folder ? "/" : "",
			names.at[i]);
		if (!tree_is_ignored(path)) {
			tree_show_path(t, path, out);
			if (fs_stat(t->env.root, path, false, &st, NULL) == 0 &&
				S_ISDIR(st.st_mode))
				tree_snapshot_in(t, path, out);
		}
		free(names.at[i]);
	}
	vec_done(&names);
}

/* The whole tree as text; out is initialised here and is the caller's. */
static inline void tree_snapshot(const struct tree *t, struct buf *out)
{
	buf_init(out, 64u << 20);
	tree_snapshot_in(t, "", out);
}

/* Where the bytes of earlier files go: beside the tree. */
static inline void tree_keep(struct tree *t)
{
	char path[512];

	if (t->env.keep > 0)
		return;
	snprintf(path, sizeof path, "%s.keep", t->path);
	assert_int_equal(mkdir(path, 0700), 0);
	t->env.keep = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->env.keep >= 0);
}

/* What before says now; with the bytes kept, or only by hash. New reference or NULL. */
static inline json_t *tree_before(struct tree *t, const char *kind, const char *text, bool bytes)
{
	const struct step_ops *ops = step_find(kind);
	struct step_env env = t->env;
	json_t *args = tree_args(text), *out = NULL;

	tree_keep(t);
	env.keep = bytes ? t->env.keep : -1;
	step_cache_forget(t->env.cache);
	if (!ops->before)
		fail_msg("%s has no before", kind);
	if (ops->before(&env, args, &out, &t->err) < 0)
		fail_msg("%s: before fails: %s", kind, t->err.msg);
	json_decref(args);
	return out;
}

static inline int tree_undo(struct tree *t, const char *kind, const char *text,
	const json_t *before, const json_t *after)
{
	const struct step_ops *ops = step_find(kind);
	json_t *args = tree_args(text);
	int rc;

	memset(&t->err, 0, sizeof t->err);
	step_report_clear(&t->rep);
	step_cache_forget(t->env.cache);
	if (!ops->undo)
		fail_msg("%s has no undo", kind);
	rc = ops->undo(&t->env, args, before, after, &t->rep, &t->err);
	json_decref(args);
	step_cache_forget(t->env.cache);
	if (rc < 0)
		assert_int_equal(rc, -(int)t->err.code);
	return rc;
}

static inline void tree_expect(struct tree *t, const char *what, const struct buf *was)
{
	struct buf is;

	tree_snapshot(t, &is);
	if (!str_eq(buf_str(&is), buf_str(was)))
		fail_msg("%s: the tree was\n%sand is\n%s", what, buf_text(was), buf_text(&is));
	buf_done(&is);
}

static inline void tree_undoes(struct tree *t, const char *kind, const char *text)
{
	json_t *before, *after;
	struct buf was;

	tree_snapshot(t, &was);
	before = tree_before(t, kind, text, true);
	tree_expect(t, "before must change nothing", &was);
	tree_converge(t, kind, text);
	after = tree_before(t, kind, text, false);
	if (tree_undo(t, kind, text, before, after) < 0)
		fail_msg("%s %s: undo fails: %s", kind, text, t->err.msg);
	assert_int_equal(t->rep.state, STEP_DIFFERS);
	tree_expect(t, "undo", &was);
	/* once more is no failure and no change */
	assert_int_equal(tree_undo(t, kind, text, before, after), 0);
	assert_int_equal(t->rep.state, STEP_SAME);
	tree_expect(t, "undo of what is undone", &was);
	json_decref(before);
	json_decref(after);
	buf_done(&was);
}

/* Somebody else changed it after us: refused, and nothing is touched. */
static inline void tree_undo_conflicts(
	struct tree *t, const char *kind, const char *text, const char *path, const char *theirs)
{
	json_t *before = tree_before(t, kind, text, true), *after;
	struct buf was;

	tree_converge(t, kind, text);
	after = tree_before(t, kind, text, false);
	tree_write(t, path, theirs);
	tree_snapshot(t, &was);
	assert_int_equal(tree_undo(t, kind, text, before, after), -E_CONFLICT);
	assert_true(t->err.hint[0]);
	tree_expect(t, "a refused undo", &was);
	json_decref(before);
	json_decref(after);
	buf_done(&was);
}
