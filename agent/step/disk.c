#include "agent/step/disk.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SECTOR   512u
#define TEXT_MAX (4u << 20)

/* The first line of a small file below /sys, trimmed. */
static bool read_line(const struct step_env *env, const char *path, char *out, size_t size)
{
	struct str s;
	AUTO_BUF text;

	buf_init(&text, 4096);
	if (fs_read(env->root, path, &text, NULL) < 0)
		return false;
	s = str_trim(str_first(buf_str(&text), str_find(buf_str(&text), '\n')));
	snprintf(out, size, STR_FMT, STR_ARG(s));
	return s.n > 0;
}

static bool link_name(const struct step_env *env, const char *path, char out[static 64])
{
	char target[PATH_MAX];
	const char *name, *last;
	ssize_t n;
	AUTO_FD parent = fs_open_parent(env->root, path, &name, NULL);

	if (parent < 0)
		return false;
	n = readlinkat(parent, name, target, sizeof target - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	return snprintf(out, 64, "%.63s", last) > 0;
}

/* Calls each with the names in a folder; stops when it says so. */
static bool each_name(const struct step_env *env, const char *folder,
	bool (*each)(void *ctx, const char *name), void *ctx)
{
	DIR *d = fs_dir_open(env->root, folder, NULL);
	const struct dirent *e;
	bool stopped = false;

	if (!d)
		return false;
	while (!stopped && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			stopped = each(ctx, e->d_name);
	closedir(d);
	return stopped;
}

struct search {
	const struct step_env *env;
	const struct disk *disk;
	char found[256];
	const char *serial;
	char (*out)[64];
	unsigned n, max;
};

static bool is_stable_link(void *ctx, const char *name)
{
	struct search *s = ctx;
	char path[320], target[64];

	snprintf(path, sizeof path, "/dev/disk/by-id/%.200s", name);
	if (!link_name(s->env, path, target) || strcmp(target, s->disk->name) != 0)
		return false;
	snprintf(s->found, sizeof s->found, "%.255s", path);
	return true;
}

static bool name_stays(const char *path)
{
	static const char *const STABLE[] = {
		"/dev/disk/by-", "/dev/mapper/", "/dev/md/", "/dev/loop", "/dev/zvol/", NULL};
	const char *rest;

	for (const char *const *s = STABLE; *s; s++)
		if (str_starts(str_of(path), *s))
			return true;
	/* /dev/VG/LV */
	rest = str_starts(str_of(path), "/dev/") ? path + strlen("/dev/") : "";
	return strchr(rest, '/') != NULL && !str_starts(str_of(rest), "disk/");
}

static int refuse_name(const struct step_env *env, const struct disk *d, struct err *err)
{
	struct search s = {.env = env, .disk = d};

	err_set(err, E_DENIED, "'%s' may be another disk after the next boot", d->path);
	if (each_name(env, "/dev/disk/by-id", is_stable_link, &s))
		return err_hint(err, "now it is '%s'", s.found);
	return err_hint(err, "name it as in /dev/disk/by-id or by-path: 'ls -l /dev/disk/by-*'");
}

/* The folder of the whole disk of a partition. */
static void whole_folder(const struct step_env *env, const char *name, char out[static 128])
{
	char path[192], target[PATH_MAX];
	const char *leaf;
	struct stat st;
	ssize_t n;

	snprintf(out, 128, "/sys/class/block/%.63s", name);
	snprintf(path, sizeof path, "%s/partition", out);
	if (fs_stat(env->root, path, true, &st, NULL) < 0)
		return;
	AUTO_FD parent = fs_open_parent(env->root, out, &leaf, NULL);
	n = parent < 0 ? -1 : readlinkat(parent, leaf, target, sizeof target - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	/* .../block/sda/sda1 */
	if (strrchr(target, '/'))
		*strrchr(target, '/') = '\0';
	if (strrchr(target, '/'))
		snprintf(out, 128, "/sys/class/block/%.63s", strrchr(target, '/') + 1);
}

static void read_serial(const struct step_env *env, const char *whole, char out[static 64])
{
	static const char *const NAMES[] = {"device/serial", "serial", "device/wwid", "wwid", NULL};
	char path[256];

	for (const char *const *n = NAMES; *n; n++) {
		snprintf(path, sizeof path, "%s/%s", whole, *n);
		if (read_line(env, path, out, 64))
			return;
	}
	out[0] = '\0';
}

void disk_describe(const struct step_env *env, struct disk *d)
{
	char path[256], whole[128], text[64];
	uint64_t sectors;

	snprintf(path, sizeof path, "/sys/class/block/%s/size", d->name);
	if (read_line(env, path, text, sizeof text) && str_to_u64(str_of(text), &sectors) &&
		sectors < UINT64_MAX / SECTOR)
		d->bytes = sectors * SECTOR;
	whole_folder(env, d->name, whole);
	read_serial(env, whole, d->serial);
	snprintf(path, sizeof path, "%s/device/model", whole);
	if (!read_line(env, path, d->model, sizeof d->model))
		d->model[0] = '\0';
}

static bool has_serial(void *ctx, const char *name)
{
	struct search *s = ctx;
	char folder[128], whole[128], serial[64];

	snprintf(folder, sizeof folder, "/sys/class/block/%.63s", name);
	whole_folder(s->env, name, whole);
	/* partitions are their disk */
	if (strcmp(folder, whole) != 0 || str_starts(str_of(name), "dm-") ||
		str_starts(str_of(name), "md"))
		return false;
	read_serial(s->env, whole, serial);
	if (strcmp(serial, s->serial) == 0 && s->n++ == 1)
		snprintf(s->found, sizeof s->found, "%s", name);
	return s->n > 1;
}

/* Cheap disks of one lot share a serial, and then a name by-id means any of them. */
static int judge_serial(const struct step_env *env, const struct disk *d, struct err *err)
{
	struct search s = {.env = env, .disk = d, .serial = d->serial};

	if (!*d->serial || !str_starts(str_of(d->path), "/dev/disk/by-id/") ||
		!each_name(env, "/sys/class/block", has_serial, &s))
		return 0;
	err_set(err, E_CONFLICT, "two disks of this node have the serial '%s', '%s' may be either",
		d->serial, d->path);
	return err_hint(err, "name it by its place: /dev/disk/by-path");
}

int disk_find(const struct step_env *env, const char *path, struct disk *out, struct err *err)
{
	char sys[96];
	struct stat st;
	int rc;

	memset(out, 0, sizeof *out);
	if (strlen(path) >= sizeof out->path)
		return err_set(err, E_LIMIT, "'%.60s...' is too long a name", path);
	snprintf(out->path, sizeof out->path, "%s", path);
	rc = fs_stat(env->root, path, true, &st, err);
	if (rc == -E_NOTFOUND)
		return err_set(err, E_NOTFOUND, "this node has no device '%s'", path);
	if (rc < 0)
		return rc;
	if (!S_ISBLK(st.st_mode))
		return err_set(err, E_SCHEMA, "'%s' is no block device", path);
	out->number = st.st_rdev;
	snprintf(sys, sizeof sys, "/sys/dev/block/%u:%u", major(st.st_rdev), minor(st.st_rdev));
	if (!link_name(env, sys, out->name))
		return err_set(err, E_STATE, "the kernel does not know '%s'", path);
	if (!name_stays(path))
		return refuse_name(env, out, err);
	disk_describe(env, out);
	return judge_serial(env, out, err);
}

static bool take_partition(void *ctx, const char *name)
{
	struct search *s = ctx;
	char path[256];
	struct stat st;

	snprintf(path, sizeof path, "/sys/class/block/%.63s/%.63s/partition", s->disk->name, name);
	if (strlen(name) < 64 && fs_stat(s->env->root, path, true, &st, NULL) == 0)
		snprintf(s->out[s->n++], 64, "%.63s", name);
	return s->n == s->max;
}

unsigned disk_partitions(
	const struct step_env *env, const char *name, char (*out)[64], unsigned max)
{
	struct disk d = {.number = 0};
	struct search s = {.env = env, .disk = &d, .out = out, .max = max};
	char folder[128];

	snprintf(d.name, sizeof d.name, "%.63s", name);
	snprintf(folder, sizeof folder, "/sys/class/block/%s", d.name);
	each_name(env, folder, take_partition, &s);
	/* the kernel lists them in no order */
	for (unsigned i = 1; i < s.n; i++)
		for (unsigned k = i; k > 0 && strcmp(out[k - 1], out[k]) > 0; k--) {
			char t[64];

			memcpy(t, out[k], 64);
			memcpy(out[k], out[k - 1], 64);
			memcpy(out[k - 1], t, 64);
		}
	return s.n;
}

static bool has_number(const struct step_env *env, struct str path, dev_t number)
{
	char text[PATH_MAX];
	struct stat st;

	if (path.n == 0 || path.p[0] != '/' || path.n >= sizeof text)
		return false;
	snprintf(text, sizeof text, STR_FMT, STR_ARG(path));
	return fs_stat(env->root, text, true, &st, NULL) == 0 && S_ISBLK(st.st_mode) &&
	       st.st_rdev == number;
}

/* "36 35 98:0 / /srv rw,noatime - ext4 /dev/sda1 rw" */
static bool line_mounts(
	const struct step_env *env, const struct disk *d, struct str line, struct str *where)
{
	struct str part = {"", 0}, source = {"", 0}, rest = line;
	char number[32];
	bool found = false;

	snprintf(number, sizeof number, "%u:%u", major(d->number), minor(d->number));
	for (int i = 0; i < 5 && str_next(&rest, ' ', &part); i++)
		if (i == 2)
			found = str_is(part, number);
	*where = part;
	while (str_next(&rest, ' ', &part) && !str_is(part, "-"))
		;
	/* a btrfs of several devices has a number of its own, but names one of them */
	if (!found && str_next(&rest, ' ', &part) && str_next(&rest, ' ', &source))
		found = has_number(env, source, d->number);
	return found;
}

static bool is_mounted(const struct step_env *env, const struct disk *d, struct buf *who)
{
	struct str rest, line, where;
	bool found = false;
	AUTO_BUF text;

	buf_init(&text, TEXT_MAX);
	if (fs_read(env->root, "/proc/self/mountinfo", &text, NULL) < 0)
		return false;
	rest = buf_str(&text);
	while (!found && str_line(&rest, &line))
		found = line_mounts(env, d, line, &where);
	if (found) {
		buf_add_text(who, "mounted on '");
		buf_add_printable(who, where);
		buf_add_text(who, "'");
	}
	return found;
}

static bool is_swap(const struct step_env *env, const struct disk *d, struct buf *who)
{
	struct str rest, line;
	AUTO_BUF text;

	buf_init(&text, TEXT_MAX);
	if (fs_read(env->root, "/proc/swaps", &text, NULL) < 0)
		return false;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		if (has_number(env, str_first(line, str_find(line, ' ')), d->number)) {
			buf_add_text(who, "used as swap");
			return true;
		}
	return false;
}

static bool take_holder(void *ctx, const char *name)
{
	struct search *s = ctx;

	snprintf(s->found, sizeof s->found, "%s", name);
	return true;
}

bool disk_is_used(const struct step_env *env, const struct disk *d, struct buf *who)
{
	struct search s = {.env = env, .disk = d};
	char path[128];
	int fd;

	if (is_mounted(env, d, who) || is_swap(env, d, who))
		return true;
	snprintf(path, sizeof path, "/sys/class/block/%s/holders", d->name);
	if (each_name(env, path, take_holder, &s)) {
		buf_addf(who, "used by %s", s.found);
		return true;
	}
	/* the kernel's own word: whoever holds it exclusively makes this fail */
	snprintf(path, sizeof path, "/dev/%s", d->name);
	fd = fs_open(env->root, path, O_RDONLY | O_EXCL | O_NONBLOCK, 0, true, NULL);
	if (fd == -E_BUSY) {
		buf_add_text(who, "held by the kernel or a program");
		return true;
	}
	mem_close_fd(&fd);
	return false;
}

void disk_format_size(uint64_t bytes, char out[static 24])
{
	static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	double v = (double)bytes;
	unsigned u = 0;

	while (v >= 999.5 && u < 5) {
		v /= 1000;
		u++;
	}
	snprintf(out, 24, u > 0 && v < 9.95 ? "%.1f %s" : "%.0f %s", v, UNITS[u]);
}
