/* disks - block devices with hardware behind them, from /sys/block. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define SECTOR 512 /* of the size file, whatever the device's own is */

/* Not disks: what is inside memory, files or other disks, and drives for media. */
static const char *const OTHERS[] = {"loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd", NULL};

static bool is_disk(int root, const char *name, const char *folder)
{
	char device[PATH_MAX];

	for (const char *const *o = OTHERS; *o; o++)
		if (str_starts(str_of(name), *o))
			return false;
	/* the boot areas of an eMMC chip */
	if (str_starts(str_of(name), "mmcblk") && strstr(name, "boot"))
		return false;
	snprintf(device, sizeof device, "%s/device", folder);
	return source_exists(root, device);
}

/* The unit serial number page of SCSI: four bytes of header, then the number. */
static bool put_scsi_serial(json_t *disk, int root, const char *folder)
{
	char path[PATH_MAX];
	struct str serial;
	AUTO_BUF page;

	buf_init(&page, 1024);
	snprintf(path, sizeof path, "%s/device/vpd_pg80", folder);
	if (!source_file(root, path, &page) || page.n <= 4)
		return false;
	serial = str_trim(str_from(buf_str(&page), 4));
	serial = str_first(serial, str_find(serial, '\0'));
	if (serial.n == 0)
		return false;
	json_put_text(disk, "serial", serial);
	return true;
}

static void put_serial(json_t *disk, int root, const char *folder)
{
	if (put_scsi_serial(disk, root, folder))
		return;
	source_put_text(disk, "serial", root, folder, "device/serial");
	if (!json_get(disk, "serial"))
		source_put_text(disk, "serial", root, folder, "serial");
}

static json_t *read_disk(int root, const char *name)
{
	char folder[NAME_MAX + 16];
	json_t *disk;
	int64_t n;

	if (strlen(name) > NAME_MAX)
		return NULL;
	snprintf(folder, sizeof folder, "/sys/block/%s", name);
	if (!is_disk(root, name, folder))
		return NULL;
	disk = json_object();
	json_put_str(disk, "name", name);
	if (source_number(root, folder, "size", &n) && n >= 0 && n <= INT64_MAX / SECTOR)
		json_put_int(disk, "size_bytes", n * SECTOR);
	source_put_text(disk, "model", root, folder, "device/model");
	put_serial(disk, root, folder);
	if (source_number(root, folder, "queue/rotational", &n))
		json_put_bool(disk, "rotational", n != 0);
	return disk;
}

int facts_disks(const struct facts_env *env, json_t **out, struct err *err)
{
	json_t *names = source_list(env->root, "/sys/block"), *disks, *name;
	size_t i;

	if (!names)
		return err_set(err, E_IO, "cannot list '/sys/block'");
	disks = json_array();
	json_array_foreach(names, i, name)
	{
		json_t *disk = read_disk(env->root, json_string_value(name));

		if (disk)
			json_array_append_new(disks, disk);
	}
	json_decref(names);
	*out = disks;
	return 0;
}
