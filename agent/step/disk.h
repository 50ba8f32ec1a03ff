/*
 * disk - a block device by a name that stays, and who uses it.
 *
 * /dev/sda is another disk after the next boot, so only names that udev, the device mapper or md
 * keep are taken. Everything comes from /dev, /sys and /proc of the root.
 */
#pragma once

#include "agent/step/step.h"

#include <sys/types.h>

#define DISK_PARTS_MAX 128

struct disk {
	char path[256]; /* as asked for */
	char name[64];  /* the kernel's: nvme0n1p1 */
	dev_t number;
	uint64_t bytes;
	char serial[64], model[64]; /* of the whole disk, "" unknown */
};

/* E_NOTFOUND, E_DENIED for a name that does not stay, E_CONFLICT when two disks claim to be it. */
int disk_find(const struct step_env *env, const char *path, struct disk *out, struct err *err);
/* One of its partitions, or what is not a partition, by the kernel's name. */
void disk_describe(const struct step_env *env, struct disk *d);
/* The kernel's names of its partitions. */
unsigned disk_partitions(
	const struct step_env *env, const char *name, char (*out)[64], unsigned max);
/* Who uses it (not its partitions): "mounted on '/srv'", "used by md127"; false: nobody. */
bool disk_is_used(const struct step_env *env, const struct disk *d, struct buf *who);
/* "3.2 TB" */
void disk_format_size(uint64_t bytes, char out[static 24]);
