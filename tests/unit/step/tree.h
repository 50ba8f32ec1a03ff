/*
 * tree - a throw-away root and what a step needs to run in it.
 *
 *	struct tree t;
 *	tree_init(&t);
 *	tree_write(&t, "etc/motd", "hello\n");
 *	assert_int_equal(tree_check(&t, "file", "{\"path\": ...}"), STEP_SAME);
 *	tree_done(&t);
 *
 * tree_check, tree_apply return the negative code when it failed; t.err and
 * t.rep then tell more. Programs run inside the tree by chroot.
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/run/bundle.h"
#include "agent/step/step.h"
#include "tests/unit/t.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct tree {
	char path[128];
	struct step_env env;
	struct step_report rep;
	struct err err;
	struct arena *arena;
	struct bundle *bundle;
	struct scope scope;
};

static inline void tree_path(const struct tree *t, const char *name, char out[static 512])
{
	snprintf(out, 512, "%s/%s", t->path, name);
}

static inline void tree_mkdir(const struct tree *t, const char *name)
{
	assert_int_equal(fs_mkdirs(t->env.root, name, 0755, NULL), 0);
}

static inline void tree_write(const struct tree *t, const char *name, const char *text)
{
	char parent[512];
	struct err err;

	snprintf(parent, sizeof parent, "%s", name);
	if (strrchr(parent, '/')) {
		*strrchr(parent, '/') = '\0';
		tree_mkdir(t, parent);
	}
	if (fs_replace(t->env.root, name, str_of(text), 0644, 0, 0, &err) < 0)
		fail_msg("cannot write %s: %s", name, err.msg);
}

static inline void tree_link(const struct tree *t, const char *target, const char *name)
{
	char path[512];

	tree_path(t, name, path);
	assert_int_equal(symlink(target, path), 0);
}

/* The text of a file, for one comparison; "(absent)" when there is none. */
static inline const char *tree_read(const struct tree *t, const char *name)
{
	static char text[1 << 17];
	struct buf b;

	buf_init(&b, sizeof text - 1);
	snprintf(text, sizeof text, "%s",
		fs_read(t->env.root, name, &b, NULL) < 0 ? "(absent)" : buf_text(&b));
	buf_done(&b);
	return text;
}

static inline bool tree_has(const struct tree *t, const char *name)
{
	struct stat st;

	return fs_stat(t->env.root, name, false, &st, NULL) == 0;
}

static inline mode_t tree_mode(const struct tree *t, const char *name)
{
	struct stat st;

	assert_int_equal(fs_stat(t->env.root, name, false, &st, NULL), 0);
	return st.st_mode & 07777;
}

static inline void tree_init(struct tree *t)
{
	static int number;

	if (geteuid() != 0)
		skip(); /* owners and chroot */
	memset(t, 0, sizeof *t);
	snprintf(t->path, sizeof t->path, "%s/root%d", t_dir(), number++);
	assert_int_equal(mkdir(t->path, 0755), 0);
	t->env.root = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->env.root >= 0);
	t->env.root_path = t->path;
	t->env.recipe = "demo";
	t->env.cache = step_cache_new();
	t->scope.ctx = &t->env;
	t->scope.probe = step_probe;
	t->scope.names = json_object();
	t->env.scope = &t->scope;
	t->arena = arena_new();
	step_report_init(&t->rep);
	tree_write(t, "etc/passwd",
		"root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000:Alice A:/home/alice:/bin/sh\n");
	tree_write(t, "etc/group", "root:x:0:\nalice:x:1000:\nvideo:x:44:alice\nrender:x:105:\n");
}

/* The recipe's folder as a bundle: TREE.recipes/demo/... */
static inline void tree_source(struct tree *t, const char *name, const char *text)
{
	struct step_env there = t->env;
	struct tree recipes = {.env = there};
	char path[256];

	snprintf(path, sizeof path, "%s.recipes", t->path);
	mkdir(path, 0755);
	recipes.env.root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree_write(&recipes, name, text);
	close(recipes.env.root);
	bundle_close(t->bundle);
	if (bundle_open_dir(t->arena, path, &t->bundle, &t->err) < 0)
		fail_msg("cannot open the bundle: %s", t->err.msg);
	t->env.bundle = t->bundle;
}

static inline void tree_done(struct tree *t)
{
	step_report_done(&t->rep);
	step_cache_free(t->env.cache);
	json_decref(t->scope.names);
	bundle_close(t->bundle);
	arena_free(t->arena);
	close(t->env.root);
}

static inline json_t *tree_args(const char *text)
{
	json_error_t e;
	json_t *args = json_loads(text, JSON_REJECT_DUPLICATES, &e);

	if (!args)
		fail_msg("bad arguments in the test: %s: %s", e.text, text);
	return args;
}

static inline int tree_check(struct tree *t, const char *kind, const char *text)
{
	json_t *args = tree_args(text);
	int rc;

	memset(&t->err, 0, sizeof t->err);
	step_report_clear(&t->rep);
	step_cache_forget(t->env.cache);
	rc = step_find(kind)->check(&t->env, args, &t->rep, &t->err);
	json_decref(args);
	if (rc < 0)
		assert_int_equal(rc, -(int)t->err.code);
	return rc < 0 ? rc : (int)t->rep.state;
}

static inline int tree_apply(struct tree *t, const char *kind, const char *text)
{
	const struct step_ops *ops = step_find(kind);
	json_t *args = tree_args(text);
	const json_t *one = args;
	int rc;

	memset(&t->err, 0, sizeof t->err);
	step_report_clear(&t->rep);
	step_cache_forget(t->env.cache);
	rc = ops->apply ? ops->apply(&t->env, args, &t->rep, &t->err)
			: ops->apply_all(&t->env, &one, 1, &t->rep, &t->err);
	json_decref(args);
	step_cache_forget(t->env.cache);
	if (rc < 0)
		assert_int_equal(rc, -(int)t->err.code);
	return rc;
}

/* differs, applied, then same: the life of a step. */
static inline void tree_converge(struct tree *t, const char *kind, const char *text)
{
	if (tree_check(t, kind, text) != STEP_DIFFERS)
		fail_msg("%s %s does not differ: %s", kind, text, t->err.msg);
	assert_true(t->rep.diff.n > 0);
	assert_true(t->rep.why[0]);
	if (tree_apply(t, kind, text) < 0)
		fail_msg("%s %s fails: %s", kind, text, t->err.msg);
	if (tree_check(t, kind, text) != STEP_SAME)
		fail_msg("%s %s still differs: %s%s", kind, text, buf_text(&t->rep.diff),
			t->err.msg);
	assert_int_equal(t->rep.diff.n, 0);
	/* and doing it once more is no failure and no change */
	assert_int_equal(tree_apply(t, kind, text), 0);
	assert_int_equal(tree_check(t, kind, text), STEP_SAME);
}

static inline void tree_refused(struct tree *t, const char *kind, const char *text, enum ec code)
{
	const int rc = tree_check(t, kind, text);

	if (rc != -(int)code)
		fail_msg("%s %s: %d (%s), expected %s", kind, text, rc, t->err.msg, ec_name(code));
	assert_true(t->err.msg[0]);
}

static inline bool tree_said(const struct tree *t, const char *part)
{
	return strstr(buf_text(&t->rep.diff), part) != NULL;
}
