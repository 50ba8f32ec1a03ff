/*
 * disks - block devices in a throw-away root: loop devices of this machine, or made-up ones whose
 * tools are scripts.
 */
#pragma once

#include "agent/base/proc.h"
#include "tests/unit/step/programs.h"
#include "tests/unit/step/tree.h"

#include <sys/mount.h>
#include <sys/sysmacros.h>

#define FAKE_MAJOR 259u
#define FAKE_MINOR 1048000u /* nobody has it: it cannot be opened */

static inline void disks_run(const char *const *argv, char *out, size_t size)
{
	const struct proc p = {.argv = argv};
	struct proc_result res;

	assert_int_equal(proc_run(&p, &res, NULL), 0);
	if (!proc_ok(&res))
		fail_msg("%s: %s", argv[0], buf_text(&res.err));
	if (out)
		snprintf(out, size, STR_FMT, STR_ARG(str_trim(buf_str(&res.out))));
	proc_result_done(&res);
}

static inline void disks_node(const struct tree *t, const char *name, dev_t number)
{
	char path[512];

	tree_path(t, name, path);
	assert_int_equal(mknod(path, S_IFBLK | 0600, number), 0);
}

/* A made-up disk dev/NAME with that link by-id, size in sectors and serial. */
static inline void disks_fake(
	const struct tree *t, const char *name, unsigned n, const char *serial)
{
	char path[256], target[256];

	tree_mkdir(t, "dev/disk/by-id");
	snprintf(path, sizeof path, "dev/%s", name);
	disks_node(t, path, makedev(FAKE_MAJOR, FAKE_MINOR + n));
	snprintf(path, sizeof path, "dev/disk/by-id/fake-%s", name);
	snprintf(target, sizeof target, "../../%s", name);
	tree_link(t, target, path);
	snprintf(path, sizeof path, "sys/class/block/%s/size", name);
	tree_write(t, path, "7814037168\n");
	snprintf(path, sizeof path, "sys/class/block/%s/device/serial", name);
	tree_write(t, path, serial);
	snprintf(path, sizeof path, "sys/class/block/%s/device/model", name);
	tree_write(t, path, "FAKE 4TB\n");
	tree_mkdir(t, "sys/dev/block");
	snprintf(path, sizeof path, "sys/dev/block/%u:%u", FAKE_MAJOR, FAKE_MINOR + n);
	snprintf(target, sizeof target, "../../class/block/%s", name);
	tree_link(t, target, path);
}

/* Tools as scripts: wipefs prints sigs/NAME, and --all empties it. */
static inline void disks_tools(const struct tree *t)
{
	programs_add(t, "/bin/sh", "bin/sh");
	programs_add(t, "/bin/cat", "bin/cat");
	tree_mkdir(t, "usr/sbin");
	tree_mkdir(t, "sigs");
	programs_script(t, "usr/sbin/wipefs",
		"#!/bin/sh\n"
		"for last in \"$@\"; do :; done\n"
		"case $1 in --all) : >/sigs/${last##*/} ;; esac\n"
		"[ ! -s /sigs/${last##*/} ] || cat /sigs/${last##*/}\n");
}

/* A loop device of this machine over a new file, in the tree as dev/loopN; false: none here. */
static inline bool disks_loop(struct tree *t, char name[static 32])
{
	char file[512], device[64], path[64];
	const char *const argv[] = {"losetup", "--find", "--show", file, NULL};
	const struct proc p = {.argv = argv};
	struct proc_result res;
	struct stat st;
	int fd;

	snprintf(file, sizeof file, "%s.loop%d", t->path,
		rand_r(&(unsigned){(unsigned)getpid()}) % 1000);
	fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 64 << 20) < 0 || proc_run(&p, &res, NULL) < 0)
		return false;
	close(fd);
	snprintf(device, sizeof device, STR_FMT, STR_ARG(str_trim(buf_str(&res.out))));
	proc_result_done(&res);
	if (stat(device, &st) < 0)
		return false;
	snprintf(name, 32, "%.31s", device + strlen("/dev/"));
	snprintf(path, sizeof path, "dev/%s", name);
	tree_mkdir(t, "dev");
	disks_node(t, path, st.st_rdev);
	return true;
}

static inline void disks_unloop(const char *name)
{
	char device[64];
	const char *const argv[] = {"losetup", "--detach", device, NULL};

	snprintf(device, sizeof device, "/dev/%s", name);
	disks_run(argv, NULL, 0);
}

static inline void disks_bind(const struct tree *t, const char *from)
{
	char to[512];

	tree_mkdir(t, from + 1);
	tree_path(t, from + 1, to);
	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
		skip();
}

static inline void disks_unbind(const struct tree *t, const char *from)
{
	char to[512];

	tree_path(t, from + 1, to);
	assert_int_equal(umount2(to, MNT_DETACH), 0);
}
