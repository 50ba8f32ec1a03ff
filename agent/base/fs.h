/*
 * fs - files below a directory descriptor; every write is all or nothing.
 *
 * Paths are relative to dirfd (a leading '/' means dirfd itself is the root, so
 * that "/etc/motd" below a throw-away root works unchanged). Parents that are
 * symbolic links are followed only inside dirfd (openat2, RESOLVE_IN_ROOT).
 *
 * fs_replace: exclusive temporary beside the target (name starts with
 * FS_TMP_PREFIX), write, owner, mode, fsync, rename, fsync of the directory. On
 * any failure the old file is untouched and no temporary stays; a temporary
 * left by a crash is recognised by its prefix and removed by the next
 * fs_replace of the same name.
 */
#pragma once

#include "agent/base/str.h"

#include <sys/stat.h>
#include <sys/types.h>

#define FS_TMP_PREFIX ".stoika-tmp."

struct buf;
struct err;

#define FS_KEEP_ID   ((uid_t)-1)
#define FS_KEEP_MODE ((mode_t)-1)

/* Opens with O_CLOEXEC below dirfd; never follows a final symlink unless follow. */
int fs_open(int dirfd, const char *path, int flags, mode_t mode, bool follow, struct err *err);
/* The directory that holds path, and the last part of path in *name (points into path). */
int fs_open_parent(int dirfd, const char *path, const char **name, struct err *err);
/* lstat or stat; E_NOTFOUND when it is not there. */
int fs_stat(int dirfd, const char *path, bool follow, struct stat *st, struct err *err);
/* The whole file, at most the cap of out; E_LIMIT when longer. */
int fs_read(int dirfd, const char *path, struct buf *out, struct err *err);
/* Mode and owner FS_KEEP_* keep those of the old file, or 0644 and root for a new one. */
int fs_replace(int dirfd, const char *path, struct str content, mode_t mode, uid_t uid, gid_t gid,
	struct err *err);
/* The same with the bytes of an open file (for large bodies); reads from its current offset to the
 * end. */
int fs_replace_from(
	int dirfd, const char *path, int from, mode_t mode, uid_t uid, gid_t gid, struct err *err);
/* Creates the directory and its missing parents (mode for all that are made); existing ones stay as
 * they are. */
int fs_mkdirs(int dirfd, const char *path, mode_t mode, struct err *err);
/* Removes a file, link or (recursive) a tree, never crossing into another file system; absent is
 * success. */
int fs_remove(int dirfd, const char *path, bool recursive, struct err *err);
/* Appends and, if sync, fdatasyncs. */
int fs_append(int fd, struct str bytes, bool sync, struct err *err);
/* The whole of bytes, EINTR and short writes handled. */
int fs_write_all(int fd, struct str bytes, struct err *err);
/* Free bytes and inodes where path lives. */
int fs_free_space(int dirfd, const char *path, uint64_t *bytes, uint64_t *inodes, struct err *err);
