/*
 * mount_options - the options of fstab against those of a mount.
 *
 * Only what the kernel shows in the same words can be compared: flags, and
 * size, mode, uid, gid and nr_inodes. Others count as they are.
 */
#pragma once

#include "agent/step/mounts.h"

/* The first wanted option that the mount does not have, into what; false when all are there. */
bool mount_options_differ(const char *wanted, const struct mount_entry *now, struct buf *what);
/* Without those that are for fstab's readers only: noauto, nofail, x-..., comment=...; for
   mount(8). */
void mount_options_for_mount(const char *wanted, struct buf *out);
bool mount_options_have(const char *options, const char *name);
