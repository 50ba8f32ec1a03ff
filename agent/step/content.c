#include "agent/step/content.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/run/bundle.h"
#include "agent/step/diff.h"
#include "agent/step/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* A larger file of another size is not read just to be shown. */
#define SHOWN_HASH_MAX (INT64_C(64) << 20)

int content_find(const struct step_env *env, const char *folder, const char *source,
	struct buf *out, const struct manifest_file **file, struct err *err)
{
	buf_addf(out, "%s/%s/%s", env->recipe, folder, source);
	if (!buf_ok(out))
		return err_set(err, E_LIMIT, "the name of source '%s' is too long", source);
	*file = env->bundle ? bundle_find(env->bundle, buf_text(out)) : NULL;
	if (*file)
		return 0;
	err_set(err, E_NOTFOUND, "source '%s' is not in the bundle", buf_text(out));
	return err_hint(err, "put it into '%s/' of recipe '%s'", folder, env->recipe);
}

static uint64_t wanted_size(const struct content *want)
{
	return want->from ? want->from->size : want->text.n;
}

static void wanted_hash(const struct content *want, char hex[static HASH_HEX])
{
	if (want->from)
		memcpy(hex, want->from->sha256, HASH_HEX);
	else
		hash_hex(want->text, hex);
}

static int hash_target(
	const struct step_env *env, const char *path, char hex[static HASH_HEX], struct err *err)
{
	AUTO_FD fd = fs_open(env->root, path, O_RDONLY | O_NONBLOCK, 0, false, err);

	return fd < 0 ? fd : hash_fd(fd, hex, err);
}

/* What shall be there as text, if it can be shown; *shown false otherwise. */
static int wanted_text(const struct step_env *env, const struct content *want, struct buf *store,
	struct str *out, bool *shown, struct err *err)
{
	int rc;

	*shown = false;
	if (wanted_size(want) > DIFF_TEXT_MAX)
		return 0;
	*out = want->text;
	if (want->from) {
		rc = bundle_read(env->bundle, want->from->path, store, err);
		if (rc < 0)
			return rc;
		*out = buf_str(store);
	}
	*shown = diff_is_text(*out);
	return 0;
}

/* The old text, if it can be shown. A file that grew or vanished meanwhile is just not shown. */
static bool old_text(const struct step_env *env, const char *path, struct buf *store)
{
	return fs_read(env->root, path, store, NULL) == 0 && diff_is_text(buf_str(store));
}

static void show_hashes(struct step_report *rep, const struct stat *st, const char *old_hex,
	const struct content *want)
{
	char hex[HASH_HEX];

	wanted_hash(want, hex);
	if (!st)
		report_addf(
			rep, "content sha256 %.12s (size %" PRIu64 ")\n", hex, wanted_size(want));
	else if (!*old_hex)
		report_addf(rep, "content of size %lld -> sha256 %.12s (size %" PRIu64 ")\n",
			(long long)st->st_size, hex, wanted_size(want));
	else
		report_addf(rep, "content sha256 %.12s -> %.12s (size %lld -> %" PRIu64 ")\n",
			old_hex, hex, (long long)st->st_size, wanted_size(want));
}

static bool is_private(const struct stat *st, const struct attr *attr)
{
	return (st && diff_is_private(st->st_mode)) ||
	       (attr->mode != FS_KEEP_MODE && diff_is_private(attr->mode));
}

static void show_sizes(const char *path, const struct stat *st, const struct content *want,
	struct step_report *rep)
{
	const size_t before = st ? (size_t)st->st_size : 0;
	AUTO_BUF text;

	buf_init(&text, REPORT_DIFF_MAX);
	diff_private(st ? &before : NULL, (size_t)wanted_size(want), path, &text);
	report_add(rep, buf_str(&text));
}

/* What cannot be shown as text, by its hash. */
static int show_bytes(struct step_env *env, const char *path, const struct stat *st,
	const struct content *want, struct step_report *rep, struct err *err)
{
	char hex[HASH_HEX] = "";
	int rc = 0;

	if (st && st->st_size <= SHOWN_HASH_MAX)
		rc = hash_target(env, path, hex, err);
	if (rc == 0)
		show_hashes(rep, st, hex, want);
	return rc;
}

/* st NULL: there was no file. */
static int show_diff(struct step_env *env, const char *path, const struct stat *st,
	const struct content *want, struct step_report *rep, struct err *err)
{
	AUTO_BUF old, new, diff;
	struct str text;
	bool shown;
	int rc;

	buf_init(&old, DIFF_TEXT_MAX);
	buf_init(&new, DIFF_TEXT_MAX);
	buf_init(&diff, 4 * REPORT_DIFF_MAX);
	rc = wanted_text(env, want, &new, &text, &shown, err);
	if (rc < 0)
		return rc;
	if (shown && st)
		shown = (uint64_t)st->st_size <= DIFF_TEXT_MAX && old_text(env, path, &old);
	if (!shown)
		return show_bytes(env, path, st, want, rep, err);

	const struct str before = buf_str(&old);

	diff_unified(st ? &before : NULL, &text, path, &diff);
	report_add(rep, buf_str(&diff));
	return 0;
}

/* How its bytes differ; never those of a file that is for its owner alone. */
static int show(struct step_env *env, const char *path, const struct stat *st,
	const struct content *want, const struct attr *attr, struct step_report *rep,
	struct err *err)
{
	if (!is_private(st, attr))
		return show_diff(env, path, st, want, rep, err);
	show_sizes(path, st, want, rep);
	return 0;
}

static void show_new_attr(const struct attr *attr, struct step_report *rep)
{
	if (attr->mode != FS_KEEP_MODE)
		report_addf(rep, "mode %04o\n", attr->mode);
	if (attr->uid != FS_KEEP_ID)
		report_addf(rep, "owner %u\n", attr->uid);
	if (attr->gid != FS_KEEP_ID)
		report_addf(rep, "group %u\n", attr->gid);
}

/* Text at hand is compared as it is; what comes from the bundle by the hash in its manifest. */
static int is_same(const struct step_env *env, const char *path, const struct content *want,
	bool *same, struct err *err)
{
	char hex[HASH_HEX];
	AUTO_BUF now;
	int rc;

	buf_init(&now, want->text.n + 1);
	if (want->from) {
		rc = hash_target(env, path, hex, err);
		*same = rc == 0 && strcmp(hex, want->from->sha256) == 0;
		return rc;
	}
	rc = fs_read(env->root, path, &now, err);
	*same = rc == 0 && str_eq(buf_str(&now), want->text);
	return rc;
}

static int compare_bytes(struct step_env *env, const char *path, const struct stat *st,
	const struct content *want, const struct attr *attr, struct step_report *rep,
	struct err *err)
{
	bool same;
	int rc;

	if ((uint64_t)st->st_size == wanted_size(want)) {
		rc = is_same(env, path, want, &same, err);
		if (rc < 0 || same)
			return rc;
	}
	report_differs(rep, "other content");
	return show(env, path, st, want, attr, rep, err);
}

/* A link is replaced by the file, never written through; anything else is somebody's mistake. */
static int judge_other(const char *path, const struct stat *st, struct err *err)
{
	if (S_ISREG(st->st_mode) || S_ISLNK(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return err_set(err, E_CONFLICT, "'%s' is a directory, expected a file", path);
	return err_set(err, E_CONFLICT, "'%s' is a device, socket or pipe, expected a file", path);
}

int content_check(struct step_env *env, const char *path, const struct content *want,
	const struct attr *attr, struct step_report *rep, struct err *err)
{
	struct stat st;
	int rc;

	rc = fs_stat(env->root, path, false, &st, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	if (rc == -E_NOTFOUND) {
		report_differs(rep, "does not exist");
		rc = show(env, path, NULL, want, attr, rep, err);
		show_new_attr(attr, rep);
		return rc;
	}
	rc = judge_other(path, &st, err);
	if (rc < 0)
		return rc;
	if (S_ISLNK(st.st_mode)) {
		report_differs(rep, "is a symbolic link");
		report_addf(rep, "symbolic link -> file\n");
		return show(env, path, NULL, want, attr, rep, err);
	}
	rc = compare_bytes(env, path, &st, want, attr, rep, err);
	if (rc == 0)
		attr_compare(env, attr, &st, rep);
	return rc;
}

static int explain_missing_parent(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');

	return err_hint(err, "add a 'directory' step for '%.*s' before this one",
		slash && slash > path ? (int)(slash - path) : 1, path);
}

int content_apply(const struct step_env *env, const char *path, const struct content *want,
	const struct attr *attr, struct err *err)
{
	AUTO_FD fd = -1;
	int rc;

	if (want->from) {
		fd = bundle_open_file(env->bundle, want->from->path, err);
		if (fd < 0)
			return fd;
		rc = fs_replace_from(env->root, path, fd, attr->mode, attr->uid, attr->gid, err);
	} else {
		rc = fs_replace(env->root, path, want->text, attr->mode, attr->uid, attr->gid, err);
	}
	return rc == -E_NOTFOUND ? explain_missing_parent(path, err) : rc;
}
