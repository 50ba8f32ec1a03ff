/*
 * mounts - what is mounted where, from /proc/self/mountinfo and nothing else.
 *
 * No mount point is ever looked at: behind one may be a server that is dead.
 */
#pragma once

#include "agent/base/buf.h"

#include <limits.h>

struct err;
struct step_env;

struct mount_entry {
	char path[PATH_MAX], root[PATH_MAX]; /* root: which part of its file system */
	char type[64], source[PATH_MAX];
	char options[256]; /* of this mount: "rw,nosuid" */
	char super[1024];  /* of the file system: "rw,size=1024k" */
};

/* The text, for the two below; E_NOTFOUND where there is no /proc. */
int mounts_read(const struct step_env *env, struct buf *out, struct err *err);
/* The topmost mount at path. */
bool mounts_find(struct str text, const char *path, struct mount_entry *out);
/* The mount that path lies on, the root's at worst. */
bool mounts_find_above(struct str text, const char *path, struct mount_entry *out);
/* A file system whose server may not answer. */
bool mounts_is_remote(const char *type);
/* fstab and mountinfo write blanks and backslashes as \\040; out has room for PATH_MAX. */
void mounts_unescape(struct str field, char *out, size_t size);
void mounts_escape(const char *text, struct buf *out);
