#include "agent/unpack/writer.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEPTH_MAX 128

struct level {
	int fd;
	size_t end; /* of its name in path */
};

struct folder {
	char *path;
	uint32_t mode, uid, gid, mtime_ns;
	int64_t mtime;
};

struct writer {
	int dirfd, file; /* file: the one that further pieces go to, -1: none */
	bool owners;
	char path[PATH_MAX]; /* of the deepest open level */
	unsigned depth;
	struct level levels[DEPTH_MAX];
	struct folder_list vec(struct folder) folders;
	char name[PATH_MAX]; /* of the file, for messages */
};

struct writer *writer_new(int dirfd, bool owners)
{
	struct writer *w = xcalloc(1, sizeof *w);

	w->dirfd = dirfd;
	w->owners = owners;
	w->file = -1;
	return w;
}

static void leave_to(struct writer *w, unsigned depth)
{
	while (w->depth > depth)
		close(w->levels[--w->depth].fd);
	w->path[depth ? w->levels[depth - 1].end : 0] = '\0';
}

void writer_free(struct writer *w)
{
	leave_to(w, 0);
	mem_close_fd(&w->file);
	vec_each(&w->folders, struct folder, f)
		free(f->path);
	vec_done(&w->folders);
	free(w);
}

/* How many of the open levels lead to the folder name[0..n). */
static unsigned shared_levels(const struct writer *w, const char *name, size_t n)
{
	unsigned depth = 0;

	while (depth < w->depth && w->levels[depth].end <= n &&
		memcmp(w->path, name, w->levels[depth].end) == 0 &&
		(w->levels[depth].end == n || name[w->levels[depth].end] == '/'))
		depth++;
	return depth;
}

static int open_part(int at, const char *part, struct err *err)
{
	int fd = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && (mkdirat(at, part, 0755) == 0 || errno == EEXIST))
		fd = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return err_set(err, E_VERIFY,
			"'%.200s' is a folder in the archive and was something else "
			"before",
			part);
	return fd < 0 ? err_sys(err, errno, "cannot make folder '%.200s'", part) : fd;
}

static int enter_part(struct writer *w, const char *name, size_t from, size_t to, struct err *err)
{
	char part[NAME_MAX + 1];
	int fd;

	if (w->depth == DEPTH_MAX || to - from > NAME_MAX)
		return err_set(err, E_LIMIT, "the archive nests deeper than %d folders", DEPTH_MAX);
	memcpy(part, name + from, to - from);
	part[to - from] = '\0';
	fd = open_part(w->depth ? w->levels[w->depth - 1].fd : w->dirfd, part, err);
	if (fd < 0)
		return fd;
	memcpy(w->path, name, to);
	w->path[to] = '\0';
	w->levels[w->depth++] = (struct level){fd, to};
	return 0;
}

/* The open parent of name, and its last part. */
static int enter(struct writer *w, const char *name, const char **leaf, struct err *err)
{
	const char *slash = strrchr(name, '/');
	const size_t n = slash ? (size_t)(slash - name) : 0;
	size_t from;
	int rc = 0;

	*leaf = slash ? slash + 1 : name;
	leave_to(w, shared_levels(w, name, n));
	from = w->depth ? w->levels[w->depth - 1].end + 1 : 0;
	while (rc == 0 && from < n) {
		const char *next = memchr(name + from, '/', n - from);
		const size_t to = next ? (size_t)(next - name) : n;

		rc = enter_part(w, name, from, to, err);
		from = to + 1;
	}
	if (rc < 0)
		return rc;
	return w->depth ? w->levels[w->depth - 1].fd : w->dirfd;
}

/* Of the same archive, an earlier entry of that name; the later one counts. */
static int out_of_the_way(int at, const char *leaf)
{
	return errno == EEXIST && unlinkat(at, leaf, 0) == 0;
}

static int set_owner(struct writer *w, int fd, const struct item *r, struct err *err)
{
	if (!w->owners || (r->uid == 0 && r->gid == 0))
		return 0;
	if (fchown(fd, r->uid, r->gid) < 0)
		return err_sys(err, errno, "cannot set the owner of '%s'", w->name);
	return 0;
}

int writer_file(struct writer *w, const struct item *r, struct err *err)
{
	const char *name = r->name;
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	const char *leaf;
	const int at = enter(w, name, &leaf, err);
	int rc;

	if (at < 0)
		return at;
	w->file = openat(at, leaf, flags, r->mode & 0777);
	if (w->file < 0 && out_of_the_way(at, leaf))
		w->file = openat(at, leaf, flags, r->mode & 0777);
	if (w->file < 0)
		return err_sys(err, errno, "cannot make '%s'", name);
	snprintf(w->name, sizeof w->name, "%s", name);
	rc = set_owner(w, w->file, r, err);
	/* a change of owner takes set-uid away, so the mode comes after it */
	if (rc == 0 && (r->mode & 07000) && fchmod(w->file, r->mode) < 0)
		rc = err_sys(err, errno, "cannot set the mode of '%s'", name);
	return rc;
}

int writer_add(struct writer *w, struct str bytes, struct err *err)
{
	const int rc = fs_write_all(w->file, bytes, err);

	if (rc < 0)
		err_wrap(err, "'%s'", w->name);
	return rc;
}

int writer_close(struct writer *w, const struct item *r, struct err *err)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_NOW}, {.tv_sec = r->mtime, .tv_nsec = r->mtime_ns}};
	int rc;

	if (futimens(w->file, times) < 0)
		return err_sys(err, errno, "cannot set the times of '%s'", w->name);
	rc = close(w->file);
	w->file = -1;
	return rc < 0 ? err_sys(err, errno, "cannot write '%s'", w->name) : 0;
}

int writer_folder(struct writer *w, const struct item *r, struct err *err)
{
	const char *name = r->name;
	const char *leaf;
	const int at = enter(w, name, &leaf, err);
	struct folder *f;
	struct stat st;

	if (at < 0)
		return at;
	if (mkdirat(at, leaf, 0700) < 0 &&
		(errno != EEXIST || fstatat(at, leaf, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISDIR(st.st_mode)))
		return err_sys(err, errno, "cannot make folder '%s'", name);
	f = vec_push(&w->folders);
	*f = (struct folder){xstrdup(name), r->mode, r->uid, r->gid, r->mtime_ns, r->mtime};
	return 0;
}

int writer_link(struct writer *w, const struct item *r, const char *target, struct err *err)
{
	const char *name = r->name;
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_NOW}, {.tv_sec = r->mtime, .tv_nsec = r->mtime_ns}};
	const char *leaf;
	const int at = enter(w, name, &leaf, err);

	if (at < 0)
		return at;
	if (symlinkat(target, at, leaf) < 0 &&
		(!out_of_the_way(at, leaf) || symlinkat(target, at, leaf) < 0))
		return err_sys(err, errno, "cannot make link '%s'", name);
	if (w->owners && (r->uid || r->gid) &&
		fchownat(at, leaf, r->uid, r->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, errno, "cannot set the owner of '%s'", name);
	utimensat(at, leaf, times, AT_SYMLINK_NOFOLLOW);
	return 0;
}

/* Landlock of older kernels lets no second name be made in another folder: then it is a copy. */
static int copy_file(int from_at, const char *from_leaf, int at, const char *leaf, struct err *err)
{
	AUTO_FD from = openat(from_at, from_leaf, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD to = -1;
	struct stat st;
	ssize_t n;

	if (from < 0 || fstat(from, &st) < 0)
		return err_sys(err, errno, "cannot read '%s'", from_leaf);
	to = openat(
		at, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, st.st_mode & 0777);
	if (to < 0)
		return err_sys(err, errno, "cannot make '%s'", leaf);
	do
		n = copy_file_range(from, NULL, to, NULL, 1u << 30, 0);
	while (n > 0);
	return n < 0 ? err_sys(err, errno, "cannot copy '%s'", leaf) : 0;
}

int writer_hard(struct writer *w, const char *name, const char *target, struct err *err)
{
	const char *leaf, *old_leaf;
	struct stat st;
	int at = enter(w, target, &old_leaf, err), rc;

	if (at < 0)
		return at;
	AUTO_FD old = fcntl(at, F_DUPFD_CLOEXEC, 6);
	if (old < 0 || fstatat(old, old_leaf, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, errno, "hard link '%s' to '%s'", name, target);
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_VERIFY, "hard link '%s' points to '%s', which is no file",
			name, target);
	at = enter(w, name, &leaf, err);
	if (at < 0)
		return at;
	rc = linkat(old, old_leaf, at, leaf, 0);
	if (rc < 0 && out_of_the_way(at, leaf))
		rc = linkat(old, old_leaf, at, leaf, 0);
	if (rc < 0 && errno == EXDEV)
		return copy_file(old, old_leaf, at, leaf, err);
	return rc < 0 ? err_sys(err, errno, "cannot make hard link '%s'", name) : 0;
}

int writer_device(struct writer *w, const struct item *r, struct err *err)
{
	const char *name = r->name;
	const char *leaf;
	const int at = enter(w, name, &leaf, err);

	if (at < 0)
		return at;
	if (mknodat(at, leaf, r->mode, (dev_t)r->device) < 0 ||
		fchownat(at, leaf, r->uid, r->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, errno, "cannot make device '%s'", name);
	return 0;
}

/* Deepest last in the archive, so from the end: a folder is closed before what it lies in. */
int writer_finish(struct writer *w, struct err *err)
{
	for (size_t i = w->folders.n; i > 0; i--) {
		const struct folder *f = &w->folders.at[i - 1];
		const struct timespec times[2] = {
			{.tv_nsec = UTIME_NOW}, {.tv_sec = f->mtime, .tv_nsec = f->mtime_ns}};
		const char *leaf;
		const int at = enter(w, f->path, &leaf, err);

		if (at < 0)
			return at;
		if (w->owners && (f->uid || f->gid) && fchownat(at, leaf, f->uid, f->gid, 0) < 0)
			return err_sys(err, errno, "cannot set the owner of '%s'", f->path);
		if (fchmodat(at, leaf, f->mode, 0) < 0)
			return err_sys(err, errno, "cannot set the mode of '%s'", f->path);
		utimensat(at, leaf, times, AT_SYMLINK_NOFOLLOW);
	}
	return 0;
}
