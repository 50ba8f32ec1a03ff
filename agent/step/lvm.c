/*
 * lvm - a volume group on given devices, and a logical volume in it.
 *
 * A volume that the device mapper shows with its wanted size is the same without asking lvm. A
 * volume grows, and never shrinks; a device in another group is never taken.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/kinds.h"
#include "agent/step/lvm_report.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"
#include "agent/step/wipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEVICES_MAX 32
#define EXTENT      (UINT64_C(4) << 20) /* lvm's own preset */

struct wish {
	const char *group, *volume, *extents;
	uint64_t bytes; /* 0: by extents */
	unsigned n;
	struct disk disks[DEVICES_MAX];
};

struct plan {
	bool make_group, make_volume, grow_volume;
	unsigned n_add; /* devices that the group lacks */
	const struct disk *add[DEVICES_MAX];
	uint64_t bytes; /* of the volume now */
};

/* "100%FREE", "50%VG", "80%PVS". */
static bool is_share(const char *text)
{
	const char *percent = strchr(text, '%');
	uint64_t v;

	return percent && str_to_u64(str_first(str_of(text), (size_t)(percent - text)), &v) &&
	       v > 0 && v <= 100 &&
	       (!strcmp(percent, "%FREE") || !strcmp(percent, "%VG") || !strcmp(percent, "%PVS"));
}

static int read_size(const json_t *args, struct wish *w, struct err *err)
{
	const char *size = json_get_str(args, "size", NULL);

	if (!w->volume)
		return size || w->extents ? err_set(err, E_SCHEMA, "a size without 'lv'") : 0;
	if (!str_is_name(str_of(w->volume)))
		return err_set(err, E_SCHEMA, "'%.60s' is no name of a volume", w->volume);
	if (size && !lvm_size_read(size, &w->bytes))
		return err_set(err, E_SCHEMA, "'%.40s' is no size such as 100G or 512M", size);
	if (w->extents && !is_share(w->extents))
		return err_set(err, E_SCHEMA, "'%.40s' is no share such as 100%%FREE or 50%%VG",
			w->extents);
	if (!size && !w->extents)
		return err_set(
			err, E_SCHEMA, "neither 'size' nor 'extents' is given for '%s'", w->volume);
	return 0;
}

static int read_args(struct step_env *env, const json_t *args, struct wish *w,
	struct step_report *rep, struct err *err)
{
	const json_t *device;
	size_t i;
	int rc;

	memset(w, 0, sizeof *w);
	w->group = json_get_str(args, "vg", "");
	w->volume = json_get_str(args, "lv", NULL);
	w->extents = json_get_str(args, "extents", NULL);
	if (!str_is_name(str_of(w->group)))
		return err_set(err, E_SCHEMA, "'%.60s' is no name of a volume group", w->group);
	rc = read_size(args, w, err);
	json_array_foreach(json_get(args, "devices"), i, device)
	{
		if (rc == 0 && w->n == DEVICES_MAX)
			rc = err_set(err, E_LIMIT, "more than %d devices", DEVICES_MAX);
		if (rc == 0)
			rc = disk_find(env, json_is_string(device) ? json_string_value(device) : "",
				&w->disks[w->n++], err);
	}
	if (rc == -E_DENIED)
		rep->denied = true;
	return rc;
}

static uint64_t in_extents(uint64_t bytes, uint64_t extent)
{
	return (bytes + extent - 1) / extent * extent;
}

/* The device mapper writes '-' in a name as "--". */
static void mapped_name(const struct wish *w, char out[static 300])
{
	const char *const parts[] = {w->group, w->volume};
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		for (const char *p = parts[i]; *p && n < 296; p++) {
			out[n++] = *p;
			if (*p == '-')
				out[n++] = '-';
		}
		if (i == 0)
			out[n++] = '-';
	}
	out[n] = '\0';
}

/* What the device mapper shows is enough when no device list is to be compared. */
static bool is_shown(const struct step_env *env, const struct wish *w)
{
	char path[320], name[300], text[300];
	struct disk d;
	AUTO_BUF said;

	buf_init(&said, 4096);
	if (!w->volume || w->n > 0)
		return false;
	snprintf(path, sizeof path, "/dev/%.60s/%.60s", w->group, w->volume);
	if (disk_find(env, path, &d, NULL) < 0)
		return false;
	snprintf(path, sizeof path, "/sys/class/block/%s/dm/name", d.name);
	mapped_name(w, name);
	if (fs_read(env->root, path, &said, NULL) < 0)
		return false;
	snprintf(text, sizeof text, STR_FMT, STR_ARG(str_trim(buf_str(&said))));
	return strcmp(text, name) == 0 &&
	       (w->bytes == 0 || d.bytes == in_extents(w->bytes, EXTENT));
}

static int ask(struct step_env *env, const struct wish *w, struct lvm_group *g, struct err *err)
{
	static const char *const ARGV[] = {"lvm", "fullreport", "--reportformat", "json", "--units",
		"b", "--nosuffix", "--all", NULL};
	const struct proc p = {.argv = ARGV};
	struct proc_result res;
	int rc = proc_run(&(struct proc){.argv = ARGV,
				  .root = strcmp(env->root_path, "/") ? env->root_path : NULL,
				  .timeout = TOOL_TIMEOUT},
		&res, err);

	if (rc == -E_NOTFOUND)
		return err_hint(err, "add a 'package' step for 'lvm2' before this one");
	if (rc < 0)
		return rc;
	rc = proc_ok(&res) ? lvm_report_read(buf_str(&res.out), w->group, g, err)
			   : proc_fail(&p, &res, err);
	proc_result_done(&res);
	return rc;
}

/* Does the group have the device, under whatever name? */
static bool has_device(const struct step_env *env, const struct lvm_group *g, const struct disk *d)
{
	const json_t *name;
	struct stat st;
	size_t i;

	json_array_foreach(g->devices, i,
		name) if (fs_stat(env->root, json_string_value(name), true, &st, NULL) == 0 &&
			  st.st_rdev == d->number) return true;
	return false;
}

static int plan_volume(
	const struct wish *w, const struct lvm_group *g, struct plan *p, struct err *err)
{
	const uint64_t wanted = w->bytes ? in_extents(w->bytes, g->extent ? g->extent : EXTENT) : 0;
	struct lvm_volume v;

	if (!w->volume)
		return 0;
	p->make_volume = !lvm_report_volume(g, w->volume, &v);
	p->bytes = v.bytes;
	if (p->make_volume || wanted == 0 || wanted == v.bytes)
		return 0;
	if (wanted < v.bytes) {
		err_set(err, E_CONFLICT,
			"volume '%s/%s' has %" PRIu64 " bytes, expected %" PRIu64
			": it is never made smaller",
			w->group, w->volume, v.bytes, wanted);
		return err_hint(err, "state its real size, or shrink it by hand");
	}
	p->grow_volume = true;
	return 0;
}

static int plan(struct step_env *env, const struct wish *w, struct plan *p, struct err *err)
{
	struct lvm_group g;
	int rc;

	memset(p, 0, sizeof *p);
	if (is_shown(env, w))
		return 0;
	rc = ask(env, w, &g, err);
	if (rc < 0)
		return rc;
	p->make_group = !g.there;
	for (unsigned i = 0; i < w->n; i++)
		if (!has_device(env, &g, &w->disks[i]))
			p->add[p->n_add++] = &w->disks[i];
	if (p->make_group && w->n == 0)
		rc = err_set(err, E_NOTFOUND,
			"there is no volume group '%s', and no 'devices' to make "
			"it of",
			w->group);
	if (rc == 0)
		rc = plan_volume(w, &g, p, err);
	lvm_report_done(&g);
	return rc;
}

static int judge(struct step_env *env, const json_t *args, const struct plan *p,
	struct step_report *rep, struct err *err)
{
	struct wipe wipe;
	int rc = 0;

	wipe_init(&wipe);
	for (unsigned i = 0; rc == 0 && i < p->n_add; i++)
		rc = wipe_add(env, p->add[i], &wipe, err);
	if (rc == 0)
		rc = wipe_judge(args, &wipe, rep, err);
	wipe_done(&wipe);
	return rc;
}

static void show(const struct wish *w, const struct plan *p, struct step_report *rep)
{
	for (unsigned i = 0; i < p->n_add; i++)
		report_addf(rep, "%s group %s %s %s\n", p->make_group ? "make" : "extend", w->group,
			p->make_group ? "of" : "by", p->add[i]->path);
	if (p->n_add > 0)
		report_differs(
			rep, p->make_group ? "no group %s" : "group %s lacks devices", w->group);
	if (!p->make_volume && !p->grow_volume)
		return;
	report_differs(rep, p->make_volume ? "no volume %s" : "volume %s is smaller", w->volume);
	if (w->bytes)
		report_addf(rep, "volume %s/%s: %" PRIu64 " -> %" PRIu64 " bytes\n", w->group,
			w->volume, p->bytes, w->bytes);
	else
		report_addf(rep, "make volume %s/%s of %s\n", w->group, w->volume, w->extents);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct plan p;
	struct wish w;
	int rc = read_args(env, args, &w, rep, err);

	if (rc == -E_NOTFOUND && env->dry) {
		report_unknown(rep, "a device of group '%s' is not there yet", w.group);
		return 0;
	}
	if (rc == 0)
		rc = plan(env, &w, &p, err);
	if (rc == 0)
		rc = judge(env, args, &p, rep, err);
	if (rc == 0)
		show(&w, &p, rep);
	return rc;
}

static int add_devices(
	struct step_env *env, const struct wish *w, const struct plan *p, struct err *err)
{
	char paths[DEVICES_MAX][80];
	const char *argv[DEVICES_MAX + 6] = {
		p->make_group ? "vgcreate" : "vgextend", "--yes", w->group};
	size_t n = 3;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < p->n_add; i++) {
		snprintf(paths[i], sizeof paths[i], "/dev/%s", p->add[i]->name);
		argv[n++] = paths[i];
		rc = wipe_device(env, p->add[i], err);
	}
	argv[n] = NULL;
	return rc < 0 || p->n_add == 0 ? rc : tool_must(env, argv, err);
}

static int set_volume(
	struct step_env *env, const struct wish *w, const struct plan *p, struct err *err)
{
	char size[40], path[160];
	const char *const make[] = {"lvcreate", "--yes", "--wipesignatures", "y", "--name",
		w->volume, w->bytes ? "--size" : "--extents", w->bytes ? size : w->extents,
		w->group, NULL};
	const char *const grow[] = {"lvextend", "--size", size, path, NULL};

	snprintf(size, sizeof size, "%" PRIu64 "b", w->bytes);
	snprintf(path, sizeof path, "%.70s/%.70s", w->group, w->volume ? w->volume : "");
	if (p->make_volume)
		return tool_must(env, make, err);
	return p->grow_volume ? tool_must(env, grow, err) : 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct plan p;
	struct wish w;
	int rc = read_args(env, args, &w, rep, err);

	if (rc == 0)
		rc = plan(env, &w, &p, err);
	if (rc == 0)
		rc = judge(env, args, &p, rep, err);
	if (rc == 0)
		rc = add_devices(env, &w, &p, err);
	return rc < 0 ? rc : set_volume(env, &w, &p, err);
}

const struct step_ops STEP_LVM = {.kind = "lvm", .check = check, .apply = apply};
