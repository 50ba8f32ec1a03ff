/*
 * download - a file from the network, known by its SHA-256.
 *
 * A check never asks the network. It trusts the note (an extended attribute) that a download left
 * on the file while size, time and inode are as they were then; otherwise it reads the file. The
 * bytes come into a hidden part file beside, so a cut or a crash costs only what was not sent yet.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/fetch/fetch.h"
#include "agent/run/bundle.h"
#include "agent/step/attr.h"
#include "agent/step/content.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/staged.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NOTE     "trusted.stoika.sha256"
#define NOTE_MAX 256
#define SUMS_MAX (1u << 20)

struct wish {
	const char *path;
	struct fetch_order order;
	struct attr attr;
	bool absent, always_read;
};

static int64_t nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * CLOCK_SEC + t.tv_nsec;
}

/* The name behind the last slash, without a query. */
static struct str url_name(const char *url)
{
	struct str s = str_of(url);
	size_t at;

	s = str_first(s, str_find(s, '?'));
	while ((at = str_find(s, '/')) != STR_NONE)
		s = str_from(s, at + 1);
	return s;
}

/* "HEX  NAME" or "HEX *NAME", as sha256sum writes it. */
static bool line_names(struct str line, struct str name, char hex[static HASH_HEX])
{
	if (line.n < HASH_HEX + 1)
		return false;
	snprintf(hex, HASH_HEX, STR_FMT, STR_ARG(str_first(line, HASH_HEX - 1)));
	line = str_from(line, HASH_HEX - 1);
	if (line.p[0] != ' ' || (line.p[1] != ' ' && line.p[1] != '*') || !hash_is_hex(hex))
		return false;
	line = str_from(line, 2);
	if (str_starts(line, "./"))
		line = str_from(line, 2);
	return str_eq(line, name);
}

/* The list came with the recipe, so it is signed with it. */
static int read_sums(
	const struct step_env *env, const char *source, struct wish *w, struct err *err)
{
	const struct manifest_file *file;
	const struct str name = url_name(w->order.urls[0]);
	struct str rest, line;
	AUTO_BUF path;
	AUTO_BUF text;
	int rc;

	buf_init(&path, PATH_MAX);
	buf_init(&text, SUMS_MAX);
	rc = content_find(env, "files", source, &path, &file, err);
	if (rc == 0)
		rc = bundle_read(env->bundle, file->path, &text, err);
	if (rc < 0)
		return rc;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		if (line_names(line, name, w->order.sha256))
			return 0;
	w->order.sha256[0] = '\0';
	return err_set(
		err, E_NOTFOUND, "'%s' has no line for '" STR_FMT "'", source, STR_ARG(name));
}

static int read_hash(
	const struct step_env *env, const json_t *args, struct wish *w, struct err *err)
{
	const char *hex = json_get_str(args, "sha256", NULL);
	const char *sums = json_get_str(args, "sums", NULL);

	if (sums)
		return read_sums(env, sums, w, err);
	if (!hex) {
		err_set(err, E_SCHEMA, "'sha256' is missing for the download of '%s'", w->path);
		return err_hint(err, "give 'sha256', or 'sums': a list in the recipe's files/");
	}
	if (!hash_is_hex(hex))
		return err_set(err, E_SCHEMA,
			"'%.80s' is no SHA-256, expected 64 lower-case hex digits", hex);
	snprintf(w->order.sha256, sizeof w->order.sha256, "%s", hex);
	return 0;
}

static int add_url(struct wish *w, const char *url, struct err *err)
{
	if (w->order.n_urls == FETCH_URLS_MAX)
		return err_set(err, E_LIMIT, "'%s' has more than %d urls", w->path, FETCH_URLS_MAX);
	w->order.urls[w->order.n_urls++] = url;
	return fetch_judge_url(url, err);
}

static int read_urls(const json_t *args, struct wish *w, struct err *err)
{
	const char *url = json_get_str(args, "url", NULL);
	const json_t *item;
	size_t i;
	int rc = url ? add_url(w, url, err) : 0;

	json_array_foreach(json_get(args, "urls"), i, item) if (rc == 0) rc =
		add_url(w, json_is_string(item) ? json_string_value(item) : "", err);
	if (rc == 0 && w->order.n_urls == 0)
		return err_set(
			err, E_SCHEMA, "neither 'url' nor 'urls' is given for '%s'", w->path);
	return rc;
}

static int read_number(const json_t *args, const char *name, int64_t preset, int64_t most,
	int64_t *out, struct err *err)
{
	*out = json_get_int(args, name, preset);
	if (*out < 0 || *out > most)
		return err_set(err, E_SCHEMA, "'%s' must be from 0 to %lld, not %lld", name,
			(long long)most, (long long)*out);
	return 0;
}

static int read_limits(const json_t *args, struct fetch_order *o, struct err *err)
{
	int64_t max = 0, speed = 0, seconds = 0, retries = 0;
	int rc = read_number(args, "max_size", 0, (int64_t)FETCH_BYTES_MAX, &max, err);

	if (rc == 0)
		rc = read_number(args, "low_speed", 1024, 1 << 30, &speed, err);
	if (rc == 0)
		rc = read_number(args, "low_time", 30, 3600, &seconds, err);
	if (rc == 0)
		rc = read_number(args, "retries", 3, 100, &retries, err);
	o->max = (uint64_t)max;
	o->low_speed = (unsigned)speed;
	o->low_seconds = (unsigned)seconds;
	o->retries = (unsigned)retries;
	o->proxy = json_get_str(args, "proxy", NULL);
	o->ca = json_get_str(args, "ca", NULL);
	return rc;
}

static int read_args(struct step_env *env, const json_t *args, struct wish *w,
	struct step_report *rep, struct err *err)
{
	int rc;

	memset(w, 0, sizeof *w);
	w->path = json_get_str(args, "path", "");
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	w->always_read = strcmp(json_get_str(args, "verify", "noted"), "always") == 0;
	if (w->absent)
		return 0;
	rc = read_urls(args, w, err);
	if (rc == 0)
		rc = read_hash(env, args, w, err);
	if (rc == 0)
		rc = read_limits(args, &w->order, err);
	return rc < 0 ? rc : attr_parse(env, args, &w->attr, rep, err);
}

/*
 * "HEX SIZE MTIME NOTED". A change of the inode after noting moves ctime past it; the note itself
 * moves it to about that moment.
 */
static bool note_holds(int fd, const struct stat *st, char hex[static HASH_HEX])
{
	char text[NOTE_MAX];
	const ssize_t n = fgetxattr(fd, NOTE, text, sizeof text);
	struct str rest = {text, n > 0 ? (size_t)n : 0}, part;
	int64_t v[3];

	if (!str_next(&rest, ' ', &part) || part.n != HASH_HEX - 1)
		return false;
	snprintf(hex, HASH_HEX, STR_FMT, STR_ARG(part));
	for (int i = 0; i < 3; i++)
		if (!str_next(&rest, ' ', &part) || !str_to_i64(part, &v[i]))
			return false;
	return v[0] == st->st_size && v[1] == nanoseconds(st->st_mtim) &&
	       nanoseconds(st->st_ctim) <= v[2] && hash_is_hex(hex);
}

static void take_note(int fd, const char *hex)
{
	char text[NOTE_MAX];
	struct stat st;
	int n;

	if (fstat(fd, &st) < 0)
		return;
	/* the kernel's clock of files is coarse and never ahead */
	n = snprintf(text, sizeof text, "%s %lld %lld %lld", hex, (long long)st.st_size,
		(long long)nanoseconds(st.st_mtim), (long long)(clock_wall() + 20 * CLOCK_MS));
	fsetxattr(fd, NOTE, text, (size_t)n, 0);
}

static int read_file_hash(const struct step_env *env, const struct wish *w,
	char hex[static HASH_HEX], struct err *err)
{
	struct stat st;
	AUTO_FD fd = fs_open(env->root, w->path, O_RDONLY | O_NONBLOCK, 0, false, err);

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "cannot look at '%s'", w->path);
	if (!w->always_read && note_holds(fd, &st, hex))
		return 0;
	return hash_fd(fd, hex, err);
}

static int check_absent(
	struct step_env *env, const char *path, struct step_report *rep, struct err *err)
{
	struct stat st;
	const int rc = fs_stat(env->root, path, false, &st, err);

	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	report_differs(rep, "is there");
	report_addf(rep, "remove %s\n", path);
	return 0;
}

static void show_wish(const struct wish *w, const char *now, struct step_report *rep)
{
	AUTO_BUF url;

	buf_init(&url, 4096);
	fetch_show_url(w->order.urls[0], &url);
	if (*now)
		report_addf(rep, "content sha256 %.12s -> %.12s\n", now, w->order.sha256);
	else
		report_addf(rep, "content sha256 %.12s\n", w->order.sha256);
	report_addf(rep, "from %s%s\n", buf_text(&url), w->order.n_urls > 1 ? " or a mirror" : "");
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	char hex[HASH_HEX] = "";
	struct stat st;
	struct wish w;
	int rc = read_args(env, args, &w, rep, err);

	if (rc < 0)
		return rc;
	if (w.absent)
		return check_absent(env, w.path, rep, err);
	rc = fs_stat(env->root, w.path, false, &st, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	if (rc == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return err_set(err, E_CONFLICT, "'%s' is no file", w.path);
	if (rc < 0 || S_ISLNK(st.st_mode)) {
		report_differs(rep, rc < 0 ? "does not exist" : "is a symbolic link");
		show_wish(&w, "", rep);
		return 0;
	}
	rc = read_file_hash(env, &w, hex, err);
	if (rc < 0)
		return rc;
	if (strcmp(hex, w.order.sha256) != 0) {
		report_differs(rep, "other content");
		show_wish(&w, hex, rep);
	}
	attr_compare(env, &w.attr, &st, rep);
	return 0;
}

static int hidden(const char *path, const char *suffix, char out[static PATH_MAX], struct err *err)
{
	const char *name = strrchr(path, '/') + 1;
	const int n = snprintf(
		out, PATH_MAX, "%.*s.%s.stoika-%s", (int)(name - path), path, name, suffix);

	if (n < 0 || n >= PATH_MAX || strlen(strrchr(out, '/') + 1) > NAME_MAX)
		return err_set(err, E_LIMIT, "'%s' is too long a name", path);
	return 0;
}

/* A part of another run is continued; of another run that is still at it, not. */
static int open_part(const struct step_env *env, const char *part, struct err *err)
{
	int fd = fs_open(env->root, part, O_RDWR | O_CREAT, 0600, false, err);

	if (fd == -E_NOTFOUND)
		err_hint(err, "add a 'directory' step for its folder before this one");
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err_set(err, E_BUSY, "another process is downloading '%s'", part);
		close(fd);
		return -E_BUSY;
	}
	return fd;
}

/* Owner and mode as asked for, else as they were. */
static int set_attr(const struct step_env *env, const struct wish *w, int fd, struct err *err)
{
	struct stat old;
	const bool there =
		fs_stat(env->root, w->path, false, &old, NULL) == 0 && S_ISREG(old.st_mode);
	const uid_t uid = w->attr.uid != FS_KEEP_ID ? w->attr.uid : there ? old.st_uid : 0;
	const gid_t gid = w->attr.gid != FS_KEEP_ID ? w->attr.gid : there ? old.st_gid : 0;
	const mode_t mode = w->attr.mode != FS_KEEP_MODE ? w->attr.mode
			    : there                      ? old.st_mode & 07777
							 : 0644;

	if (fchown(fd, uid, gid) < 0 || fchmod(fd, mode) < 0)
		return err_sys(err, errno, "cannot set owner and mode of '%s'", w->path);
	return 0;
}

/* A large file that is replaced stays beside under a second name, for undo. */
static int put_aside(const struct step_env *env, const char *path, struct err *err)
{
	char was[PATH_MAX];
	const char *name;
	struct stat st;
	int rc;

	rc = hidden(path, "was", was, err);
	if (rc == 0)
		rc = fs_remove(env->root, was, false, err);
	if (rc < 0 || fs_stat(env->root, path, false, &st, NULL) < 0 || !S_ISREG(st.st_mode) ||
		st.st_size <= (off_t)KEEP_FILE_MAX)
		return rc;
	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);
	if (parent < 0)
		return parent;
	if (linkat(parent, name, parent, strrchr(was, '/') + 1, 0) < 0)
		return err_sys(err, errno, "cannot keep the old '%s'", path);
	return 0;
}

static int put_in_place(
	const struct step_env *env, const struct wish *w, int fd, const char *part, struct err *err)
{
	const char *name;
	int rc = set_attr(env, w, fd, err);

	fremovexattr(fd, FETCH_MARK);
	if (rc == 0 && fsync(fd) < 0)
		rc = err_sys(err, errno, "cannot write '%s' through to the disk", part);
	if (rc == 0)
		rc = put_aside(env, w->path, err);
	if (rc < 0)
		return rc;
	AUTO_FD parent = fs_open_parent(env->root, w->path, &name, err);
	if (parent < 0)
		return parent;
	if (renameat(parent, strrchr(part, '/') + 1, parent, name) < 0 || fsync(parent) < 0)
		return err_sys(err, errno, "cannot put '%s' in place", w->path);
	take_note(fd, w->order.sha256);
	return 0;
}

static int download(struct step_env *env, const struct wish *w, struct err *err)
{
	char part[PATH_MAX];
	struct fetch_result got;
	int rc = hidden(w->path, "part", part, err);

	if (rc < 0)
		return rc;
	AUTO_FD fd = open_part(env, part, err);
	if (fd < 0)
		return fd;
	rc = staged_take(env, w->order.sha256, fd, err);
	if (rc == 0)
		rc = fetch_get(&w->order, fd, &got, err);
	if (rc < 0) {
		err_wrap(err, "'%s'", w->path);
		/* bytes that are wrong or too many are of no use to the next try */
		if (rc == -E_VERIFY || rc == -E_LIMIT)
			fs_remove(env->root, part, false, NULL);
		return rc;
	}
	return put_in_place(env, w, fd, part, err);
}

/* The file has the content already; only owner or mode may differ. */
static bool is_there(const struct step_env *env, const struct wish *w)
{
	char hex[HASH_HEX] = "";
	struct stat st;

	return fs_stat(env->root, w->path, false, &st, NULL) == 0 && S_ISREG(st.st_mode) &&
	       read_file_hash(env, w, hex, NULL) == 0 && strcmp(hex, w->order.sha256) == 0;
}

static int stage(struct step_env *env, const json_t *const *args, unsigned n,
	struct step_report *rep, struct err *err)
{
	uint64_t bytes = 0, sum = 0;
	struct wish w;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < n; i++) {
		rc = read_args(env, args[i], &w, rep, err);
		if (rc < 0 || w.absent || is_there(env, &w))
			continue;
		rc = staged_fetch(env, &w.order, &bytes, err);
		sum += bytes;
		if (rc < 0)
			err_wrap(err, "'%s'", w.path);
	}
	if (rc == 0)
		snprintf(rep->why, sizeof rep->why, "%" PRIu64 " bytes fetched", sum);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct wish w;
	int rc = read_args(env, args, &w, rep, err);

	if (rc == 0 && w.absent)
		rc = put_aside(env, w.path, err);
	if (rc < 0)
		return rc;
	if (w.absent)
		return fs_remove(env->root, w.path, false, err);
	if (is_there(env, &w))
		return attr_apply(env, w.path, &w.attr, err);
	return download(env, &w, err);
}

static void put_large(const struct stat *st, json_t *into, const char *path)
{
	json_t *o = json_object();

	json_put_str(o, "kind", "large");
	json_put_int(o, "size", st->st_size);
	json_put_int(o, "inode", (int64_t)st->st_ino);
	json_put_int(o, "mtime", nanoseconds(st->st_mtim));
	json_object_set_new(into, path, o);
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	const char *path = json_get_str(args, "path", "");
	AUTO_JSON o = json_object();
	struct stat st;
	int rc = 0;

	if (fs_stat(env->root, path, false, &st, NULL) == 0 && S_ISREG(st.st_mode) &&
		st.st_size > (off_t)KEEP_FILE_MAX)
		put_large(&st, o, path);
	else
		rc = keep_path(env, path, o, err);
	*out = rc < 0 ? NULL : json_incref(o);
	return rc;
}

static bool is_large(const json_t *was, const char *path)
{
	return strcmp(json_get_str(json_get(was, path), "kind", ""), "large") == 0;
}

/* The old file's second name takes the first one's place again. */
static int bring_large_back(const struct step_env *env, const char *path, const json_t *old,
	struct step_report *rep, struct err *err)
{
	char was[PATH_MAX];
	const char *name;
	struct stat st;
	int rc = hidden(path, "was", was, err);

	if (rc < 0)
		return rc;
	if (fs_stat(env->root, path, false, &st, NULL) == 0 &&
		(int64_t)st.st_ino == json_get_int(json_get(old, path), "inode", -1))
		return 0;
	if (fs_stat(env->root, was, false, &st, NULL) < 0 ||
		(int64_t)st.st_ino != json_get_int(json_get(old, path), "inode", -1))
		return err_set(err, E_STATE, "the old '%s' is not kept any more", path);
	AUTO_FD parent = fs_open_parent(env->root, path, &name, err);
	if (parent < 0)
		return parent;
	if (renameat(parent, strrchr(was, '/') + 1, parent, name) < 0 || fsync(parent) < 0)
		return err_sys(err, errno, "cannot bring the old '%s' back", path);
	report_differs(rep, "brought back");
	report_addf(rep, "bring back %s\n", path);
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *old, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const char *path = json_get_str(args, "path", "");
	AUTO_JSON now = NULL;
	int rc;

	if (!is_large(old, path) && !is_large(after, path))
		return keep_undo(env, args, old, after, rep, err);
	rc = before(env, args, &now, err);
	if (rc < 0 || json_equal(now, old))
		return rc;
	if (after && !json_equal(now, after)) {
		err_set(err, E_CONFLICT,
			"'%s' is neither as this step left it nor as it was before", path);
		return err_hint(err, "look at it, and put it right by hand");
	}
	if (is_large(old, path))
		return bring_large_back(env, path, old, rep, err);
	report_differs(rep, "brought back");
	report_addf(rep, "bring back %s\n", path);
	return keep_restore(env, path, old, NULL, err);
}

const struct step_ops STEP_DOWNLOAD = {
	.kind = "download",
	.check = check,
	.apply = apply,
	.stage = stage,
	.before = before,
	.undo = undo,
};
