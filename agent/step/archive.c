/*
 * archive - a folder that holds just what an archive holds.
 *
 * The folder is the step's own: it is unpacked beside and put in place whole, by one rename. The
 * stamp in it says of which archive it is, so a check reads one small file. What it replaces stays
 * beside as .NAME.stoika-was until the next change, for undo.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/run/bundle.h"
#include "agent/step/content.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/unpack/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAMP     ".stoika-archive"
#define STAMP_MAX 4096

struct wish {
	const char *into, *path, *creates;
	const struct manifest_file *file; /* NULL: path */
	char sha256[HASH_HEX];
	bool absent;
	struct tree_policy policy;
};

enum found {
	FOUND_NOTHING,
	FOUND_EMPTY,
	FOUND_STAMP,
	FOUND_OTHERS /* files that no archive step put there */
};

struct state {
	enum found found;
	char stamp[160]; /* the archive's hash and what was cut: "HEX strip 1" */
};

static int read_hash(const json_t *args, struct wish *w, struct err *err)
{
	const char *hex = json_get_str(args, "sha256", NULL);

	if (!hex && w->file)
		hex = w->file->sha256;
	if (!hex) {
		err_set(err, E_SCHEMA, "'sha256' is missing for archive '%s'", w->path);
		return err_hint(err, "'sha256sum FILE' gives it; the publisher's own is better");
	}
	if (!hash_is_hex(hex))
		return err_set(err, E_SCHEMA,
			"'%.80s' is no SHA-256, expected 64 lower-case hex digits", hex);
	if (w->file && strcmp(hex, w->file->sha256) != 0)
		return err_set(err, E_VERIFY, "source '%s' has SHA-256 %.12s..., expected %.12s...",
			w->file->path, w->file->sha256, hex);
	snprintf(w->sha256, sizeof w->sha256, "%s", hex);
	return 0;
}

static int read_args(const struct step_env *env, const json_t *args, struct wish *w,
	struct buf *store, struct err *err)
{
	const char *source = json_get_str(args, "source", NULL);
	const int64_t strip = json_get_int(args, "strip", 0);
	const int64_t max = json_get_int(args, "max_size", 0);
	int rc;

	memset(w, 0, sizeof *w);
	w->into = json_get_str(args, "into", "");
	w->path = json_get_str(args, "path", NULL);
	w->creates = json_get_str(args, "creates", NULL);
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	if (strrchr(w->into, '/') == w->into)
		return err_set(err, E_DENIED,
			"'%s' cannot be an archive's folder: it belongs to the "
			"system",
			w->into);
	if (strip < 0 || strip > 32)
		return err_set(
			err, E_SCHEMA, "'strip' must be from 0 to 32, not %lld", (long long)strip);
	if (max < 0)
		return err_set(err, E_SCHEMA, "'max_size' must not be negative");
	w->policy = (struct tree_policy){.strip = (unsigned)strip, .bytes = (uint64_t)max};
	if (w->absent)
		return 0;
	if (!source && !w->path)
		return err_set(
			err, E_SCHEMA, "neither 'source' nor 'path' is given for '%s'", w->into);
	if (source) {
		rc = content_find(env, "files", source, store, &w->file, err);
		if (rc < 0)
			return rc;
	}
	return read_hash(args, w, err);
}

static void make_stamp(const struct wish *w, char out[static 160])
{
	snprintf(out, 160, "%s strip %u", w->sha256, w->policy.strip);
}

/* Is there any name but . and .. in the folder? */
static bool has_names(int dirfd)
{
	const int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool found = false;

	if (!d) {
		mem_close_fd(&(int){fd});
		return true;
	}
	while (!found && (e = readdir(d)) != NULL)
		found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return found;
}

static int look(const struct step_env *env, const char *folder, struct state *st, struct err *err)
{
	struct stat there;
	AUTO_BUF text;
	int rc;

	buf_init(&text, STAMP_MAX);
	memset(st, 0, sizeof *st);
	rc = fs_stat(env->root, folder, false, &there, err);
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	if (!S_ISDIR(there.st_mode)) {
		err_set(err, E_CONFLICT, "'%s' is not a folder", folder);
		return err_hint(err, "remove it, or unpack into another folder");
	}
	AUTO_FD fd = fs_open(env->root, folder, O_RDONLY | O_DIRECTORY, 0, false, err);
	if (fd < 0)
		return fd;
	rc = fs_read(fd, STAMP, &text, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	st->found = rc == 0 ? FOUND_STAMP : has_names(fd) ? FOUND_OTHERS : FOUND_EMPTY;
	snprintf(st->stamp, sizeof st->stamp, STR_FMT, STR_ARG(str_trim(buf_str(&text))));
	return 0;
}

static int refuse_others(const char *into, struct err *err)
{
	err_set(err, E_CONFLICT, "'%s' holds files that no archive step put there", into);
	return err_hint(err, "unpack into a folder of its own, and link to what is needed");
}

static void show(const struct wish *w, const struct state *st, struct step_report *rep)
{
	if (st->found == FOUND_STAMP)
		report_addf(rep, "%s: archive %.12s -> %.12s\n", w->into, st->stamp, w->sha256);
	else
		report_addf(rep, "unpack archive %.12s into %s\n", w->sha256, w->into);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct stat there;
	struct state st;
	struct wish w;
	AUTO_BUF store;
	char want[160];
	int rc;

	buf_init(&store, PATH_MAX);
	rc = read_args(env, args, &w, &store, err);
	if (rc == 0)
		rc = look(env, w.into, &st, err);
	if (rc < 0)
		return rc;
	if (st.found == FOUND_OTHERS)
		return refuse_others(w.into, err);
	if (w.absent) {
		if (st.found != FOUND_STAMP)
			return 0;
		report_differs(rep, "is there");
		report_addf(rep, "remove %s and all below\n", w.into);
		return 0;
	}
	make_stamp(&w, want);
	if (st.found != FOUND_STAMP || strcmp(st.stamp, want) != 0) {
		report_differs(
			rep, "%s", st.found == FOUND_STAMP ? "another archive" : "not unpacked");
		show(&w, &st, rep);
	} else if (w.creates && fs_stat(env->root, w.creates, true, &there, NULL) < 0) {
		report_differs(rep, "'%s' is missing", w.creates);
		show(&w, &st, rep);
	}
	return 0;
}

/* "/opt/.name.stoika-new" for "/opt/name". */
static int beside(const char *into, const char *suffix, char out[static PATH_MAX], struct err *err)
{
	const char *name = strrchr(into, '/') + 1;
	const int n = snprintf(
		out, PATH_MAX, "%.*s.%s.stoika-%s", (int)(name - into), into, name, suffix);

	if (n < 0 || n >= PATH_MAX || strlen(strrchr(out, '/') + 1) > NAME_MAX)
		return err_set(err, E_LIMIT, "'%s' is too long a name", into);
	return 0;
}

static int open_source(const struct step_env *env, const struct wish *w, struct err *err)
{
	int fd;

	if (w->file)
		return bundle_open_file(env->bundle, w->file->path, err);
	fd = fs_open(env->root, w->path, O_RDONLY | O_NONBLOCK, 0, true, err);
	if (fd == -E_NOTFOUND)
		err_hint(err, "add a 'download' or 'file' step that brings it before this one");
	return fd;
}

static int unpack_into(
	const struct step_env *env, const struct wish *w, const char *fresh, struct err *err)
{
	struct tree_result got;
	char stamp[161];
	int rc;

	AUTO_FD from = open_source(env, w, err);
	if (from < 0)
		return from;
	rc = fs_remove(env->root, fresh, true, err);
	if (rc == 0)
		rc = fs_mkdirs(env->root, fresh, 0755, err);
	if (rc < 0)
		return rc;
	AUTO_FD dir = fs_open(env->root, fresh, O_RDONLY | O_DIRECTORY, 0, false, err);
	if (dir < 0)
		return dir;
	rc = unpack_tree(from, dir, &w->policy, &got, err);
	if (rc < 0)
		return rc;
	if (strcmp(got.sha256, w->sha256) != 0)
		return err_set(err, E_VERIFY, "'%s' has SHA-256 %.12s..., expected %.12s...",
			w->file ? w->file->path : w->path, got.sha256, w->sha256);
	if (got.files + got.folders + got.links == 0)
		return err_set(err, E_VERIFY, "with 'strip: %u' nothing of the archive is left",
			w->policy.strip);
	make_stamp(w, stamp);
	memcpy(stamp + strlen(stamp), "\n", 2);
	return fs_replace(dir, STAMP, str_of(stamp), 0644, 0, 0, err);
}

/* a and b lie in the same folder; flags as of renameat2. */
static int swap(
	const struct step_env *env, const char *a, const char *b, unsigned flags, struct err *err)
{
	const char *from, *to;
	AUTO_FD parent = fs_open_parent(env->root, a, &from, err);

	if (parent < 0)
		return parent;
	to = strrchr(b, '/') + 1;
	if (renameat2(parent, from, parent, to, flags) < 0)
		return err_sys(err, errno, "cannot rename '%s' to '%s'", a, b);
	if (fsync(parent) < 0)
		return err_sys(err, errno, "cannot write the folder of '%s' through", b);
	return 0;
}

/* fresh takes into's place, and what was there becomes was. */
static int put_in_place(const struct step_env *env, const struct wish *w, const struct state *st,
	const char *fresh, const char *was, struct err *err)
{
	int rc = fs_remove(env->root, was, true, err);

	if (rc < 0)
		return rc;
	if (st->found == FOUND_NOTHING)
		return swap(env, fresh, w->into, RENAME_NOREPLACE, err);
	rc = swap(env, fresh, w->into, RENAME_EXCHANGE, err);
	return rc < 0 ? rc : swap(env, fresh, was, RENAME_NOREPLACE, err);
}

static int apply_absent(const struct step_env *env, const struct wish *w, const struct state *st,
	const char *was, struct err *err)
{
	int rc;

	if (st->found != FOUND_STAMP)
		return 0;
	rc = fs_remove(env->root, was, true, err);
	return rc < 0 ? rc : swap(env, w->into, was, RENAME_NOREPLACE, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	char fresh[PATH_MAX], was[PATH_MAX];
	struct state st;
	struct wish w;
	AUTO_BUF store;
	int rc;

	buf_init(&store, PATH_MAX);
	rc = read_args(env, args, &w, &store, err);
	if (rc == 0)
		rc = look(env, w.into, &st, err);
	if (rc == 0 && st.found == FOUND_OTHERS)
		rc = refuse_others(w.into, err);
	if (rc == 0)
		rc = beside(w.into, "new", fresh, err);
	if (rc == 0)
		rc = beside(w.into, "was", was, err);
	if (rc < 0)
		return rc;
	if (w.absent)
		return apply_absent(env, &w, &st, was, err);
	/* nothing to do is not done again: what undo brings back would be lost */
	rc = check(env, args, rep, err);
	if (rc < 0 || rep->state == STEP_SAME)
		return rc;
	rc = unpack_into(env, &w, fresh, err);
	if (rc == 0)
		rc = put_in_place(env, &w, &st, fresh, was, err);
	if (rc < 0)
		fs_remove(env->root, fresh, true, NULL);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct state st;
	int rc = look(env, json_get_str(args, "into", ""), &st, err);

	if (rc < 0)
		return rc;
	*out = json_object();
	json_put_bool(*out, "there", st.found != FOUND_NOTHING);
	json_put_str(*out, "stamp", st.stamp);
	return 0;
}

static bool is_state(const struct state *st, const json_t *was)
{
	return (st->found != FOUND_NOTHING) == json_get_bool(was, "there", false) &&
	       strcmp(st->stamp, json_get_str(was, "stamp", "")) == 0;
}

/* What lay there before waits under one of two names: .new when the last rename did not come. */
static int bring_back(const struct step_env *env, const char *into, const struct state *now,
	const json_t *old, struct err *err)
{
	static const char *const SUFFIXES[] = {"was", "new"};
	char path[PATH_MAX];
	struct state st;
	int rc;

	for (size_t i = 0; i < 2; i++) {
		rc = beside(into, SUFFIXES[i], path, err);
		if (rc == 0)
			rc = look(env, path, &st, err);
		if (rc < 0)
			return rc;
		if (st.found == FOUND_NOTHING || !is_state(&st, old))
			continue;
		rc = swap(env, path, into,
			now->found == FOUND_NOTHING ? RENAME_NOREPLACE : RENAME_EXCHANGE, err);
		return rc < 0 || now->found == FOUND_NOTHING
			       ? rc
			       : fs_remove(env->root, path, true, err);
	}
	return err_set(err, E_STATE, "what was in '%s' before is not kept any more", into);
}

static int undo(struct step_env *env, const json_t *args, const json_t *old, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const char *into = json_get_str(args, "into", "");
	struct state now;
	int rc = look(env, into, &now, err);

	if (rc < 0 || is_state(&now, old))
		return rc;
	if (after && !is_state(&now, after)) {
		err_set(err, E_CONFLICT,
			"'%s' is neither as this step left it nor as it was before", into);
		return err_hint(err, "look at it, and put it right by hand");
	}
	report_differs(rep, "brought back");
	report_addf(rep, "bring back %s\n", into);
	if (json_get_bool(old, "there", false))
		return bring_back(env, into, &now, old, err);
	return fs_remove(env->root, into, true, err);
}

const struct step_ops STEP_ARCHIVE = {
	.kind = "archive", .check = check, .apply = apply, .before = before, .undo = undo};
