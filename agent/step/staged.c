/* staged - how: a file is whole when its bytes have the hash that is its name; what is fetched only
 * in part is gone on with. */
#include "agent/step/staged.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/xattr.h>
#include <unistd.h>

#define KEPT      (INT64_C(30) * 24 * 3600) /* seconds */
#define PATH_LEN  128
#define COPY_MOST (1u << 30)

static void path_of(const char *sha256, char out[static PATH_LEN])
{
	snprintf(out, PATH_LEN, STAGED_FOLDER "/%.64s", sha256);
}

static void drop_old(const struct step_env *env)
{
	const int64_t now = clock_wall() / CLOCK_SEC;
	DIR *dir = fs_dir_open(env->root, STAGED_FOLDER, NULL);
	const struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir)))
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode) && st.st_mtime + KEPT < now)
			(void)unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
}

static int open_for_fetch(const struct step_env *env, const char *path, struct err *err)
{
	int fd = fs_mkdirs(env->root, STAGED_FOLDER, 0700, err);

	if (fd < 0)
		return fd;
	drop_old(env);
	fd = fs_open(env->root, path, O_RDWR | O_CREAT, 0600, false, err);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return err_set(err, E_BUSY, "another process is fetching '%s'", path);
	}
	return fd;
}

static bool holds(int fd, const char *sha256)
{
	char hex[HASH_HEX];

	return lseek(fd, 0, SEEK_SET) == 0 && hash_fd(fd, hex, NULL) == 0 &&
	       strcmp(hex, sha256) == 0;
}

int staged_fetch(
	const struct step_env *env, const struct fetch_order *o, uint64_t *bytes, struct err *err)
{
	struct fetch_result got;
	char path[PATH_LEN];
	int rc;

	*bytes = 0;
	path_of(o->sha256, path);
	AUTO_FD fd = open_for_fetch(env, path, err);
	if (fd < 0)
		return fd;
	if (holds(fd, o->sha256))
		return 0;
	rc = fetch_get(o, fd, &got, err);
	if (rc == -E_VERIFY || rc == -E_LIMIT)
		fs_remove(env->root, path, false, NULL);
	if (rc < 0)
		return rc;
	fremovexattr(fd, FETCH_MARK);
	*bytes = got.bytes - got.resumed;
	return fsync(fd) < 0 ? err_sys(err, errno, "cannot write '%s' through to the disk", path)
			     : 0;
}

static int copy(int from, int to, struct err *err)
{
	off_t at = 0;
	ssize_t n;

	if (ftruncate(to, 0) < 0 || lseek(to, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "cannot begin the file anew");
	while ((n = sendfile(to, from, &at, COPY_MOST)) > 0) {
	}
	return n < 0 ? err_sys(err, errno, "cannot copy what was fetched ahead") : 0;
}

int staged_take(const struct step_env *env, const char *sha256, int fd, struct err *err)
{
	char path[PATH_LEN];
	struct stat st;
	int rc;

	path_of(sha256, path);
	if (fs_stat(env->root, path, false, &st, NULL) < 0)
		return 0;
	AUTO_FD from = fs_open(env->root, path, O_RDONLY, 0, false, err);
	if (from < 0)
		return from;
	rc = copy(from, fd, err);
	if (rc < 0)
		return rc;
	if (!holds(fd, sha256))
		return 0;
	fs_remove(env->root, path, false, NULL);
	return 1;
}
