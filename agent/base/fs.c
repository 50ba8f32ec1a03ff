/*
 * fs - how: openat2 does the walking; on a kernel without it the parts are walked one by one and
 * any symbolic link is refused. A living temporary is held by flock, so that only those of the
 * dead are swept away. Extended attributes and ACLs of a replaced file are not carried over.
 */
#include "agent/base/fs.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COPY_CHUNK    (128u << 10)
#define TMP_RANDOM    16  /* hex digits at the end of a temporary's name */
#define TMP_NAME_MAX  200 /* of the target's name; longer ones are cut there */
#define REMOVE_DEPTH  400 /* one descriptor per level */
#define REMOVE_PASSES 3   /* readdir may skip entries while they go away */
#define OPENAT2_TRIES 64  /* EAGAIN: somebody renames above us */

/* Where the bytes of a replacement come from: text, or from if >= 0. */
struct source {
	struct str text;
	int from;
};

static const char *strip_root(const char *path)
{
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

/* The next part of *path into part; false at the end. */
static bool next_part(const char **path, char part[static NAME_MAX + 1])
{
	const char *p = *path;
	while (*p == '/')
		p++;
	size_t n = strcspn(p, "/");
	if (!n)
		return false;
	size_t keep = n > NAME_MAX ? NAME_MAX : n;
	memcpy(part, p, keep);
	part[keep] = '\0';
	*path = p + n;
	return true;
}

static bool is_real_root(int dirfd)
{
	struct stat root, st;
	return fstat(dirfd, &st) == 0 && stat("/", &root) == 0 && st.st_dev == root.st_dev &&
	       st.st_ino == root.st_ino;
}

/*
 * For kernels before 5.6. Nothing can lead out of the process's own root; below another one every
 * link and ".." is refused, so it can only be too strict.
 */
static int walk_below(int dirfd, const char *path, int flags, mode_t mode)
{
	char part[NAME_MAX + 1];
	AUTO_FD at = -1;
	int from = dirfd;
	if (is_real_root(dirfd)) {
		int fd = openat(dirfd, path, flags, mode);
		return fd < 0 ? -errno : fd;
	}
	while (next_part(&path, part)) {
		bool last = !path[strspn(path, "/")];
		if (strcmp(part, "..") == 0)
			return -EXDEV;
		int fd = last ? openat(from, part, flags | O_NOFOLLOW, mode)
			      : openat(from, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return errno == ENOTDIR && !last ? -ELOOP : -errno;
		if (last)
			return fd;
		mem_close_fd(&at);
		at = from = fd;
	}
	int fd = openat(dirfd, ".", flags, mode);
	return fd < 0 ? -errno : fd;
}

/* A descriptor, or -errno. */
static int open_below(int dirfd, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode & 07777 : 0,
		.resolve = RESOLVE_IN_ROOT,
	};
	path = strip_root(path);
	for (int i = 0; i < OPENAT2_TRIES; i++) {
		long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
		if (fd >= 0)
			return (int)fd;
		if (errno == ENOSYS)
			return walk_below(dirfd, path, flags | O_CLOEXEC, mode);
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return -errno;
}

int fs_open(int dirfd, const char *path, int flags, mode_t mode, bool follow, struct err *err)
{
	int fd = open_below(dirfd, path, follow ? flags : flags | O_NOFOLLOW, mode);
	if (fd < 0)
		return err_sys(err, -fd, "cannot open '%s'", path);
	return fd;
}

int fs_open_parent(int dirfd, const char *path, const char **name, struct err *err)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	char parent[PATH_MAX];
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return err_set(err, E_SCHEMA, "'%s' does not end in the name of a file", path);
	if (strlen(last) > NAME_MAX || n >= sizeof parent)
		return err_sys(err, ENAMETOOLONG, "cannot open the folder of '%s'", path);
	memcpy(parent, path, n);
	parent[n] = '\0';
	int fd = open_below(dirfd, parent, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return err_sys(err, -fd, "cannot open the folder of '%s'", path);
	*name = last;
	return fd;
}

int fs_stat(int dirfd, const char *path, bool follow, struct stat *st, struct err *err)
{
	AUTO_FD fd = open_below(dirfd, path, O_PATH | (follow ? 0 : O_NOFOLLOW), 0);
	if (fd < 0)
		return err_sys(err, -fd, "cannot look at '%s'", path);
	struct stat found;
	if (fstat(fd, &found))
		return err_sys(err, errno, "cannot look at '%s'", path);
	*st = found;
	return 0;
}

static ssize_t read_some(int fd, void *p, size_t n)
{
	ssize_t got;
	do
		got = read(fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static int read_all(int fd, const char *path, struct buf *out, struct err *err)
{
	for (;;) {
		char probe;
		size_t left = out->cap > out->n ? out->cap - out->n : 0;
		size_t want = left < COPY_CHUNK ? left : COPY_CHUNK;
		void *room = want ? buf_room(out, want) : NULL;
		ssize_t got = read_some(fd, room ? room : &probe, room ? want : 1);
		if (got < 0)
			return err_sys(err, errno, "cannot read '%s'", path);
		if (got == 0)
			return 0;
		if (!room)
			return err_set(err, E_LIMIT, "'%s' is longer than the %zu bytes allowed",
				path, out->cap);
		buf_grew(out, (size_t)got);
	}
}

int fs_read(int dirfd, const char *path, struct buf *out, struct err *err)
{
	/* not blocking: somebody may have put a pipe where a file is expected */
	AUTO_FD fd = fs_open(dirfd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0, true, err);
	if (fd < 0)
		return fd;
	struct stat st;
	if (fstat(fd, &st))
		return err_sys(err, errno, "cannot look at '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_STATE, "'%s' is not a regular file", path);
	return read_all(fd, path, out, err);
}

int fs_write_all(int fd, struct str bytes, struct err *err)
{
	while (bytes.n) {
		ssize_t put = write(fd, bytes.p, bytes.n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_sys(err, errno, "cannot write");
		bytes.p += put;
		bytes.n -= (size_t)put;
	}
	return 0;
}

int fs_append(int fd, struct str bytes, bool sync, struct err *err)
{
	int rc = fs_write_all(fd, bytes, err);
	if (rc)
		return rc;
	if (sync && fdatasync(fd))
		return err_sys(err, errno, "cannot write through to the disk");
	return 0;
}

static int copy_from(int to, int from, struct err *err)
{
	AUTO_STR chunk = xmalloc(COPY_CHUNK);
	for (;;) {
		ssize_t got = read_some(from, chunk, COPY_CHUNK);
		if (got < 0)
			return err_sys(err, errno, "cannot read what goes there");
		if (got == 0)
			return 0;
		int rc = fs_write_all(to, (struct str){chunk, (size_t)got}, err);
		if (rc)
			return rc;
	}
}

/* ".stoika-tmp.NAME." - what all temporaries for this target begin with. */
static size_t tmp_stem(const char *name, char out[static NAME_MAX + 1])
{
	int n = snprintf(out, NAME_MAX + 1, "%s%.*s.", FS_TMP_PREFIX, TMP_NAME_MAX, name);
	return (size_t)n;
}

static bool is_leftover(const char *entry, const char *stem, size_t n)
{
	return strncmp(entry, stem, n) == 0 && strlen(entry + n) == TMP_RANDOM &&
	       strspn(entry + n, "0123456789abcdef") == TMP_RANDOM;
}

/* Removes a temporary unless its maker still holds it. */
static void sweep_one(int dir, const char *entry)
{
	AUTO_FD fd = openat(dir, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, entry, 0);
}

/* Best effort: what cannot be removed now will be found by the next replacement. */
static void sweep_leftovers(int dir, const char *name)
{
	char stem[NAME_MAX + 1];
	size_t n = tmp_stem(name, stem);
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		mem_close_fd(&fd);
		return;
	}
	for (struct dirent *e; (e = readdir(list)) != NULL;)
		if (is_leftover(e->d_name, stem, n))
			sweep_one(dir, e->d_name);
	closedir(list);
}

static int open_tmp(int dir, const char *name, char tmp[static NAME_MAX + 1], struct err *err)
{
	size_t n = tmp_stem(name, tmp);
	uint64_t random;
	if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
		return err_sys(err, errno, "cannot get random bytes");
	snprintf(tmp + n, NAME_MAX + 1 - n, "%016llx", (unsigned long long)random);
	int fd = openat(dir, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "cannot make a temporary file beside it");
	flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static int set_owner(int fd, uid_t uid, gid_t gid, struct err *err)
{
	struct stat st;
	if (fstat(fd, &st))
		return err_sys(err, errno, "cannot look at the temporary file");
	if (st.st_uid == uid && st.st_gid == gid)
		return 0;
	if (fchown(fd, uid, gid))
		return err_sys(err, errno, "cannot give it to user %u, group %u", uid, gid);
	return 0;
}

/* Writes the temporary and puts it in place; the caller removes it when this fails. */
static int fill_and_rename(int dir, int fd, const char *tmp, const char *name,
	const struct source *src, struct err *err)
{
	int rc = src->from >= 0 ? copy_from(fd, src->from, err) : fs_write_all(fd, src->text, err);
	if (rc)
		return rc;
	if (fsync(fd))
		return err_sys(err, errno, "cannot write through to the disk");
	if (renameat(dir, tmp, dir, name))
		return err_sys(err, errno, "cannot put the new file in place");
	return 0;
}

static int replace_in(
	int dir, const char *name, const struct source *src, const struct stat *as, struct err *err)
{
	char tmp[NAME_MAX + 1];
	sweep_leftovers(dir, name);
	AUTO_FD fd = open_tmp(dir, name, tmp, err);
	if (fd < 0)
		return fd;
	int rc = set_owner(fd, as->st_uid, as->st_gid, err);
	/* after the owner, since a change of owner drops set-uid */
	if (!rc && fchmod(fd, as->st_mode))
		rc = err_sys(err, errno, "cannot set mode %04o", as->st_mode);
	if (!rc)
		rc = fill_and_rename(dir, fd, tmp, name, src, err);
	if (rc) {
		unlinkat(dir, tmp, 0);
		return rc;
	}
	if (fsync(dir))
		return err_sys(err, errno, "it is written, but its folder cannot be synced");
	return 0;
}

static int replace(int dirfd, const char *path, const struct source *src, const struct stat *want,
	struct err *err)
{
	const char *name = path;
	struct stat old = {0}, as = *want;
	AUTO_FD dir = fs_open_parent(dirfd, path, &name, err);
	if (dir < 0)
		return dir;
	bool is_there = fstatat(dir, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	if (is_there && S_ISDIR(old.st_mode))
		return err_set(err, E_STATE, "'%s' is a folder, a file was expected", path);
	bool keep = is_there && S_ISREG(old.st_mode);
	if (as.st_mode == FS_KEEP_MODE)
		as.st_mode = keep ? old.st_mode : 0644;
	as.st_mode &= 07777;
	if (as.st_uid == FS_KEEP_ID)
		as.st_uid = keep ? old.st_uid : geteuid();
	if (as.st_gid == (gid_t)FS_KEEP_ID)
		as.st_gid = keep ? old.st_gid : getegid();
	int rc = replace_in(dir, name, src, &as, err);
	if (rc)
		err_wrap(err, "cannot write '%s'", path);
	return rc;
}

int fs_replace(int dirfd, const char *path, struct str content, mode_t mode, uid_t uid, gid_t gid,
	struct err *err)
{
	struct source src = {content, -1};
	struct stat want = {.st_mode = mode, .st_uid = uid, .st_gid = gid};
	return replace(dirfd, path, &src, &want, err);
}

int fs_replace_from(
	int dirfd, const char *path, int from, mode_t mode, uid_t uid, gid_t gid, struct err *err)
{
	struct source src = {.from = from};
	struct stat want = {.st_mode = mode, .st_uid = uid, .st_gid = gid};
	return replace(dirfd, path, &src, &want, err);
}

/* A folder that is not there yet, with exactly this mode whatever the umask; synced. */
static int make_dir(int parent, const char *part, mode_t mode)
{
	if (mkdirat(parent, part, mode & 07777))
		return -errno;
	AUTO_FD made = openat(parent, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made < 0 || fchmod(made, mode & 07777) || fsync(parent))
		return -errno;
	return 0;
}

int fs_mkdirs(int dirfd, const char *path, mode_t mode, struct err *err)
{
	char part[NAME_MAX + 1], upto[PATH_MAX];
	const char *rest = path;
	AUTO_FD at = open_below(dirfd, path, O_RDONLY | O_DIRECTORY, 0);
	if (at >= 0)
		return 0;
	if (at != -ENOENT || strlen(path) >= sizeof upto)
		return err_sys(
			err, at == -ENOENT ? ENAMETOOLONG : -at, "cannot make folder '%s'", path);
	at = open_below(dirfd, ".", O_RDONLY | O_DIRECTORY, 0);
	while (at >= 0 && next_part(&rest, part)) {
		size_t n = (size_t)(rest - path);
		memcpy(upto, path, n);
		upto[n] = '\0';
		/* from the root each time: a part may be a link to anywhere below it */
		int fd = open_below(dirfd, upto, O_RDONLY | O_DIRECTORY, 0);
		int rc = fd == -ENOENT ? make_dir(at, part, mode) : 0;
		if (rc == 0 || rc == -EEXIST)
			fd = fd >= 0 ? fd : open_below(dirfd, upto, O_RDONLY | O_DIRECTORY, 0);
		else
			fd = rc;
		if (fd < 0)
			return err_sys(err, -fd, "cannot make folder '%s'", upto);
		mem_close_fd(&at);
		at = fd;
	}
	return at < 0 ? err_sys(err, -at, "cannot open the root of '%s'", path) : 0;
}

static bool same_mount(int dir, const char *name, const struct statx *top)
{
	struct statx st;
	unsigned mask = STATX_BASIC_STATS | STATX_MNT_ID;
	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, &st))
		return false;
	if (st.stx_dev_major != top->stx_dev_major || st.stx_dev_minor != top->stx_dev_minor)
		return false;
	return !(st.stx_mask & top->stx_mask & STATX_MNT_ID) || st.stx_mnt_id == top->stx_mnt_id;
}

static int remove_tree(
	int parent, const char *name, const struct statx *top, int depth, struct err *err);

/* One pass over the entries of an open folder. */
static int remove_entries(DIR *list, const struct statx *top, int depth, struct err *err)
{
	rewinddir(list);
	for (struct dirent *e; (e = readdir(list)) != NULL;) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		int rc = remove_tree(dirfd(list), e->d_name, top, depth + 1, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A folder and all below it; the entries first. */
static int remove_folder(
	int parent, const char *name, const struct statx *top, int depth, struct err *err)
{
	if (depth > REMOVE_DEPTH)
		return err_set(
			err, E_LIMIT, "'%s' lies more than %d folders deep", name, depth - 1);
	if (!same_mount(parent, name, top))
		return err_set(err, E_BUSY, "'%s' is another file system, unmount it first", name);
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		mem_close_fd(&fd);
		return err_sys(err, errno, "cannot open folder '%s'", name);
	}
	int rc = -1, sys = ENOTEMPTY;
	for (int i = 0; i < REMOVE_PASSES && sys == ENOTEMPTY; i++) {
		rc = remove_entries(list, top, depth, err);
		if (rc)
			break;
		sys = unlinkat(parent, name, AT_REMOVEDIR) ? errno : 0;
	}
	closedir(list);
	if (!rc && sys && sys != ENOENT)
		rc = err_sys(err, sys, "cannot remove folder '%s'", name);
	return rc;
}

static int remove_tree(
	int parent, const char *name, const struct statx *top, int depth, struct err *err)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_sys(err, errno, "cannot remove '%s'", name);
	struct stat st;
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode))
		return err_sys(err, EPERM, "cannot remove '%s'", name);
	return remove_folder(parent, name, top, depth, err);
}

int fs_remove(int dirfd, const char *path, bool recursive, struct err *err)
{
	const char *name = path;
	struct statx top;
	struct err why = {0};
	AUTO_FD dir = fs_open_parent(dirfd, path, &name, &why);
	if (dir == -E_NOTFOUND)
		return 0;
	if (dir < 0) {
		if (err)
			*err = why;
		return dir;
	}
	if (!recursive) {
		if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
			return 0;
		if ((errno != EISDIR && errno != EPERM) || unlinkat(dir, name, AT_REMOVEDIR))
			return errno == ENOENT ? 0
					       : err_sys(err, errno, "cannot remove '%s'", path);
		return 0;
	}
	if (statx(dir, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &top))
		return err_sys(err, errno, "cannot look at the folder of '%s'", path);
	int rc = remove_tree(dir, name, &top, 0, err);
	if (rc)
		err_wrap(err, "cannot remove all of '%s'", path);
	return rc;
}

int fs_free_space(int dirfd, const char *path, uint64_t *bytes, uint64_t *inodes, struct err *err)
{
	char near[PATH_MAX];
	struct statvfs st;
	if (strlen(path) >= sizeof near)
		return err_sys(err, ENAMETOOLONG, "cannot look at '%s'", path);
	memcpy(near, path, strlen(path) + 1);
	AUTO_FD fd = open_below(dirfd, near, O_PATH, 0);
	/* what is not there yet will live where its nearest parent does */
	while (fd == -ENOENT && *near) {
		char *slash = strrchr(near, '/');
		*(slash ? slash : near) = '\0';
		fd = open_below(dirfd, near, O_PATH, 0);
	}
	if (fd < 0)
		return err_sys(err, -fd, "cannot look at '%s'", path);
	if (fstatvfs(fd, &st))
		return err_sys(err, errno, "cannot tell the free space at '%s'", path);
	*bytes = (uint64_t)st.f_bavail * st.f_frsize;
	*inodes = st.f_files ? st.f_favail : UINT64_MAX; /* btrfs counts none */
	return 0;
}
