/*
 * swap - a swap file or device: made, on, and in fstab.
 *
 * A file's blocks are allocated, and it is renamed when it is whole. What a device
 * or file holds is looked at first; only swap space, or nothing, is overwritten.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/edit.h"
#include "agent/step/kinds.h"
#include "agent/step/mounts.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FSTAB      "/etc/fstab"
#define SWAPS      "/proc/swaps"
#define SIGNATURE  "SWAPSPACE2" /* at the end of the first page, whatever its size */
#define SIZE_MIN   (UINT64_C(1) << 20)
#define SPARE      (UINT64_C(64) << 20)
#define HEAD_BYTES (64u << 10)
#define SLOW       (3600 * CLOCK_SEC) /* swapoff reads back what is swapped out */

struct wish {
	const char *path;
	uint64_t size;    /* 0: a device, or a file as it is */
	int64_t priority; /* -1: not given */
	bool absent, wipe;
};

struct now {
	bool exists, is_file, active, has_swap, is_empty;
	uint64_t size;
};

static bool is_ours(const void *ctx, struct str line)
{
	const struct wish *w = ctx;
	char source[PATH_MAX];

	mounts_unescape(edit_field(line, 0), source, sizeof source);
	return strcmp(source, w->path) == 0 && str_is(edit_field(line, 2), "swap");
}

static bool parse_size(const char *text, uint64_t *out)
{
	static const char UNITS[] = "KMGT";
	struct str s = str_of(text);
	const char *unit = s.n > 0 ? strchr(UNITS, s.p[s.n - 1]) : NULL;
	const unsigned shift = unit && *unit ? 10 * (unsigned)(unit - UNITS + 1) : 0;

	if (shift > 0)
		s.n--;
	if (!str_to_u64(s, out) || *out > (UINT64_C(1) << 50) >> shift)
		return false;
	*out <<= shift;
	return *out >= SIZE_MIN;
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	const char *size = json_get_str(args, "size", NULL);

	*w = (struct wish){.path = json_get_str(args, "path", ""),
		.priority = json_get_int(args, "priority", -1),
		.absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0,
		.wipe = json_get_bool(args, "wipe", false)};
	if (w->path[0] != '/')
		return err_set(err, E_SCHEMA, "'%.80s' is not an absolute path", w->path);
	if (size && !parse_size(size, &w->size)) {
		err_set(err, E_SCHEMA, "'%.40s' is not a size of swap", size);
		return err_hint(err, "such as 512M or 8G, at least 1M");
	}
	if (size && strncmp(w->path, "/dev/", 5) == 0) {
		err_set(err, E_CONFLICT, "'%s' is a device, which has its own size", w->path);
		return err_hint(err, "leave 'size' out");
	}
	if (!size && !w->absent && strncmp(w->path, "/dev/", 5) != 0) {
		err_set(err, E_SCHEMA, "a swap file needs 'size'");
		return err_hint(err, "such as size: 8G");
	}
	if (json_get(args, "priority") && (w->priority < 0 || w->priority > 32767))
		return err_set(err, E_SCHEMA, "'priority' is %lld, expected 0 to 32767",
			(long long)w->priority);
	return 0;
}

static bool is_active(const struct step_env *env, const char *path)
{
	struct str rest, line;
	AUTO_BUF text = {0};
	char here[PATH_MAX];

	buf_init(&text, 64u << 10);
	(void)fs_read(env->root, SWAPS, &text, NULL);
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		mounts_unescape(edit_field(line, 0), here, sizeof here);
		if (strcmp(here, path) == 0)
			return true;
	}
	return false;
}

/* Swap space of any page size, or nothing but zeros at the beginning. */
static int read_head(int fd, const char *path, struct now *out, struct err *err)
{
	char head[HEAD_BYTES];
	ssize_t n;

	n = pread(fd, head, sizeof head, 0);
	if (n < 0)
		return err_sys(err, errno, "cannot read '%s'", path);
	out->is_empty = true;
	for (ssize_t i = 0; i < n; i++)
		out->is_empty = out->is_empty && head[i] == 0;
	for (size_t page = 4096; page <= sizeof head; page *= 2)
		if ((size_t)n >= page &&
			memcmp(head + page - strlen(SIGNATURE), SIGNATURE, strlen(SIGNATURE)) == 0)
			out->has_swap = true;
	return 0;
}

static int look(const struct step_env *env, const struct wish *w, struct now *out, struct err *err)
{
	struct stat st;
	int rc;

	memset(out, 0, sizeof *out);
	out->active = is_active(env, w->path);
	rc = fs_stat(env->root, w->path, true, &st, err);
	if (rc < 0)
		return rc == -E_NOTFOUND ? 0 : rc;
	out->exists = true;
	out->is_file = S_ISREG(st.st_mode);
	out->size = (uint64_t)st.st_size;
	if (!out->is_file && !S_ISBLK(st.st_mode)) {
		err_set(err, E_CONFLICT, "'%s' is neither a file nor a block device", w->path);
		return err_hint(err, "name a file to be made, or a partition");
	}
	AUTO_FD fd = fs_open(env->root, w->path, O_RDONLY, 0, !out->is_file, err);
	return fd < 0 ? fd : read_head(fd, w->path, out, err);
}

static int judge_what_is_there(const struct wish *w, const struct now *now, struct err *err)
{
	if (!now->exists || now->has_swap || now->is_empty || now->active || w->wipe)
		return 0;
	err_set(err, E_CONFLICT, "'%s' holds something that is not swap space", w->path);
	return err_hint(err, "see 'file -s %s'; say 'wipe: true' if nobody needs it", w->path);
}

static int plan_fstab(
	const struct step_env *env, const struct wish *w, struct edit *e, struct err *err)
{
	AUTO_BUF line = {0};
	int rc = edit_open(env, FSTAB, e, err);

	if (rc < 0)
		return rc;
	if (w->absent)
		return edit_line(e, is_ours, w, (struct str){NULL, 0}, err);
	buf_init(&line, 4 * PATH_MAX);
	mounts_escape(w->path, &line);
	buf_add_text(&line, "\tnone\tswap\tsw");
	if (w->priority >= 0)
		buf_addf(&line, ",pri=%lld", (long long)w->priority);
	buf_add_text(&line, "\t0 0");
	return edit_line(e, is_ours, w, buf_str(&line), err);
}

static bool has_size(const struct wish *w, const struct now *now)
{
	return !w->size || (now->exists && now->size == w->size);
}

static void compare(const struct wish *w, const struct now *now, struct step_report *rep)
{
	if (w->absent) {
		if (now->active || (now->exists && now->is_file)) {
			report_differs(rep, now->active ? "is on" : "the file is there");
			report_addf(rep, "swap off and away: %s\n", w->path);
		}
		return;
	}
	if (!has_size(w, now)) {
		report_differs(rep, now->exists ? "has another size" : "does not exist");
		report_addf(
			rep, "%s: %" PRIu64 " -> %" PRIu64 " bytes\n", w->path, now->size, w->size);
	} else if (!now->has_swap && !now->active) {
		report_differs(rep, "is no swap space yet");
		report_addf(rep, "make swap space: %s\n", w->path);
	}
	if (!now->active) {
		report_differs(rep, "is off");
		report_addf(rep, "swap on: %s\n", w->path);
	}
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT fstab = {0};
	struct now now;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = plan_fstab(env, &w, &fstab, err);
	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc == 0 && !now.exists && !w.absent && !w.size) {
		if (env->dry)
			report_unknown(rep, "'%.120s' does not exist yet", w.path);
		else
			rc = err_set(err, E_NOTFOUND, "there is no device '%s'", w.path);
	}
	if (rc == 0)
		rc = judge_what_is_there(&w, &now, err);
	if (rc < 0 || rep->state == STEP_UNKNOWN)
		return rc;
	compare(&w, &now, rep);
	edit_show(&fstab, rep);
	return 0;
}

static int swapoff(const struct step_env *env, const char *path, struct err *err)
{
	const char *const argv[] = {"swapoff", path, NULL};
	const struct proc p = {.argv = argv, .timeout = SLOW};
	struct proc_result res;
	int rc = tool_run(env, argv, NULL, SLOW, &res, err);

	if (rc < 0)
		return rc;
	if (!proc_ok(&res)) {
		rc = proc_fail(&p, &res, err);
		err_hint(err, "is there memory for what is swapped out? see 'free -m'");
	}
	proc_result_done(&res);
	return rc;
}

static int judge_space(const struct step_env *env, const struct wish *w, struct err *err)
{
	char folder[PATH_MAX];
	uint64_t bytes, inodes;
	int rc;

	snprintf(
		folder, sizeof folder, "%.*s", (int)(strrchr(w->path, '/') - w->path + 1), w->path);
	rc = fs_free_space(env->root, folder, &bytes, &inodes, err);
	if (rc < 0 || bytes >= w->size + SPARE)
		return rc;
	err_set(err, E_NOSPACE,
		"'%s' needs %" PRIu64 " MiB and %" PRIu64 " MiB to spare, and %" PRIu64
		" MiB are free",
		w->path, w->size >> 20, SPARE >> 20, bytes >> 20);
	return err_hint(err, "free some space or give it a smaller 'size'");
}

/* In pieces that are really written, where a file system cannot allocate: no holes. */
static int write_zeros(int fd, uint64_t size, const char *path, struct err *err)
{
	static const char ZEROS[256u << 10];
	uint64_t done = 0;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "cannot write '%s'", path);
	while (done < size) {
		const size_t n = size - done < sizeof ZEROS ? (size_t)(size - done) : sizeof ZEROS;
		const int rc = fs_write_all(fd, (struct str){ZEROS, n}, err);

		if (rc < 0)
			return rc;
		done += n;
	}
	return 0;
}

static int put_in_place(int parent, const char *name, struct err *err)
{
	char beside[NAME_MAX + sizeof FS_TMP_PREFIX];

	snprintf(beside, sizeof beside, FS_TMP_PREFIX "%s", name);
	if (renameat(parent, beside, parent, name) < 0)
		return err_sys(err, errno, "cannot put '%s' in place", name);
	return fsync(parent) < 0 ? err_sys(err, errno, "cannot sync the folder of '%s'", name) : 0;
}

static int mkswap(const struct step_env *env, const char *path, struct err *err)
{
	const char *const argv[] = {"mkswap", "--force", path, NULL};

	return tool_must(env, argv, err);
}

static int allocate(const struct step_env *env, const char *path, uint64_t size, struct err *err)
{
	int rc = 0;

	AUTO_FD fd = fs_open(env->root, path, O_RDWR | O_CREAT | O_EXCL, 0600, false, err);
	if (fd < 0)
		return fd;
	if (fallocate(fd, 0, 0, (off_t)size) < 0)
		rc = errno == EOPNOTSUPP ? write_zeros(fd, size, path, err)
					 : err_sys(err, errno, "cannot allocate '%s'", path);
	if (rc == 0 && fsync(fd) < 0)
		rc = err_sys(err, errno, "cannot sync '%s'", path);
	return rc;
}

/* Made beside, with the old one untouched until the new one is whole. */
static int make_file(const struct step_env *env, const struct wish *w, bool active, struct err *err)
{
	char beside[PATH_MAX];
	const char *name = strrchr(w->path, '/') + 1;
	int rc = judge_space(env, w, err);

	snprintf(beside, sizeof beside, "%.*s" FS_TMP_PREFIX "%s", (int)(name - w->path), w->path,
		name);
	if (rc == 0)
		rc = fs_remove(env->root, beside, false, err);
	if (rc == 0)
		rc = allocate(env, beside, w->size, err);
	if (rc == 0)
		rc = mkswap(env, beside, err);
	if (rc == 0 && active)
		rc = swapoff(env, w->path, err);
	if (rc == 0) {
		AUTO_FD parent = fs_open_parent(env->root, w->path, &name, err);

		rc = parent < 0 ? parent : put_in_place(parent, name, err);
	}
	if (rc < 0)
		(void)fs_remove(env->root, beside, false, NULL);
	return rc;
}

static int swapon(const struct step_env *env, const struct wish *w, struct err *err)
{
	char priority[16];
	const char *const plain[] = {"swapon", w->path, NULL};
	const char *const with[] = {"swapon", "-p", priority, w->path, NULL};

	snprintf(priority, sizeof priority, "%lld", (long long)w->priority);
	if (tool_must(env, w->priority >= 0 ? with : plain, err) == 0)
		return 0;
	return err_hint(err, "swap needs a kernel of its own (no container) and a file without "
			     "holes or copy on write");
}

static int make(const struct step_env *env, const struct wish *w, struct now *now, struct err *err)
{
	int rc = 0;

	if (!has_size(w, now)) {
		rc = make_file(env, w, now->active, err);
		*now = (struct now){.exists = true, .is_file = true, .has_swap = true};
	}
	if (rc == 0 && !now->has_swap && !now->active)
		rc = mkswap(env, w->path, err);
	return rc < 0 || now->active ? rc : swapon(env, w, err);
}

static int take_away(
	const struct step_env *env, const struct wish *w, const struct now *now, struct err *err)
{
	int rc = now->active ? swapoff(env, w->path, err) : 0;

	return rc == 0 && now->exists && now->is_file ? fs_remove(env->root, w->path, false, err)
						      : rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT fstab = {0};
	struct now now;
	struct wish w;
	int rc = read_args(args, &w, err);

	(void)rep;
	if (rc == 0)
		rc = plan_fstab(env, &w, &fstab, err);
	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc == 0)
		rc = judge_what_is_there(&w, &now, err);
	if (rc == 0)
		rc = w.absent ? take_away(env, &w, &now, err) : make(env, &w, &now, err);
	return rc < 0 ? rc : edit_save(env, &fstab, err);
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct now now;
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = {FSTAB, EDIT_MAX, is_ours, &w};

	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc == 0)
		rc = edit_keep_lines(env, &ours, out, err);
	if (rc < 0)
		return rc;
	json_put_bool(*out, "file", now.exists && now.is_file);
	json_put_bool(*out, "active", now.active);
	json_put_int(*out, "size", (int64_t)now.size);
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	const bool was_active = json_get_bool(before, "active", false);
	const bool was_file = json_get_bool(before, "file", false);
	struct now now;
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = {FSTAB, EDIT_MAX, is_ours, &w};

	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc < 0)
		return rc;
	w.size = was_file ? (uint64_t)json_get_int(before, "size", 0) : 0;
	if (now.active != was_active || (now.is_file && !was_file) || !has_size(&w, &now))
		report_differs(rep, "brought back");
	if (was_active)
		rc = make(env, &w, &now, err);
	else if (!was_file)
		rc = take_away(env, &w, &now, err);
	else if (now.active)
		rc = swapoff(env, w.path, err);
	return rc < 0 ? rc : edit_restore_lines(env, &ours, past, rep, err);
}

const struct step_ops STEP_SWAP = {
	.kind = "swap", .check = check, .apply = apply, .before = before, .undo = undo};
