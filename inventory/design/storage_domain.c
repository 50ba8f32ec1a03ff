/* storage_domain - inputs to the formulas of storage.h. */
#include "inventory/design/storage_domain.h"

#include "inventory/design/input.h"
#include "inventory/design/storage.h"

#include <math.h>

#define GIB   1073741824.0
#define FEW   16
#define LEAST 1e-9 /* above zero */

int storage_checkpoint_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct input a = input_of(d, in, err);
	const double params = input_num(&a, "params", 1, 1e16, NAN);
	const double each = input_num(&a, "bytes_per_param", 0.1, 64, STORAGE_CHECKPOINT_BYTES);
	const double writers = input_num(&a, "writers", 1, 1e6, 1);
	const double client = input_num(&a, "client_gbs", LEAST, 1e6, NAN);
	const double nic = input_num(&a, "nic_gbs", LEAST, 1e6, NAN);
	const double keep = input_num(&a, "keep|keep_last", 1, 1e6, NAN);
	const double bytes = storage_checkpoint(params, each);
	double bandwidth[FEW], seconds[FEW];
	bool list;
	const unsigned n = input_nums(&a, "bandwidth_gbs", LEAST, 1e6, bandwidth, FEW, &list);

	if (!a.fault && isnan(params))
		return input_fail(&a, "params", "is needed");
	for (unsigned i = 0; i < n; i++)
		seconds[i] = storage_write_s(bytes, bandwidth[i], writers, client, nic);
	answer_num(out, "checkpoint_bytes", bytes);
	answer_num(out, "checkpoint_gib", bytes / GIB);
	answer_num(out, "checkpoint_gb", bytes / 1e9);
	answer_num(out, "checkpoint_tb", bytes / 1e12);
	answer_num(out, "kept_tb", storage_kept(bytes, keep) / 1e12);
	answer_nums(out, "seconds", seconds, n, list);
	return a.fault;
}

int storage_bandwidth_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	static const char *const names[] = {"good", "better", "best", NULL};
	struct input a = input_of(d, in, err);
	const double units = input_num(&a, "su", LEAST, 1e4, 1);
	const struct yaml_node *levels = input_node(&a, "levels|level");
	const bool list = !levels || levels->kind == YAML_LIST;
	const unsigned n = !levels ? STORAGE_LEVELS : list ? levels->n : 1;
	double v[4][STORAGE_LEVELS];

	if (!a.fault && (n == 0 || n > STORAGE_LEVELS))
		return input_fail(&a, "levels", "must be one to three of good, better, best");
	for (unsigned i = 0; !a.fault && i < n; i++) {
		const struct yaml_node *word = levels && list ? levels->item[i] : levels;
		unsigned at = i;
		struct storage_guide g;

		for (at = word ? 0 : i; word && names[at]; at++)
			if (word->kind == YAML_SCALAR && str_is(word->text, names[at]))
				break;
		if (at >= STORAGE_LEVELS)
			return input_fail(&a, "levels", "must be of good, better, best");
		g = storage_guide_of(units, (enum storage_level)at);
		v[0][i] = g.node_read, v[1][i] = g.node_write, v[2][i] = g.read, v[3][i] = g.write;
	}
	if (a.fault)
		return a.fault;
	answer_nums(out, "node_read", v[0], n, list);
	answer_nums(out, "node_write", v[1], n, list);
	answer_nums(out, "read", v[2], n, list);
	answer_nums(out, "write", v[3], n, list);
	return 0;
}

/* Hours between failures of the cluster: stated, or by the failures of its GPUs. */
static double read_mtbf(struct input *a, double gpus, double gpu_hours)
{
	const double stated = input_num(a, "cluster_mtbf_h", LEAST, 1e9, NAN);

	return isnan(stated) ? gpu_hours / gpus : stated;
}

static double read_write_s(struct input *a)
{
	const double stated = input_num(a, "checkpoint_s", LEAST, 1e9, NAN);
	const double tb = input_num(a, "checkpoint_tb", LEAST, 1e6, NAN);
	const double gbs = input_num(a, "bandwidth_gbs", LEAST, 1e6, NAN);

	return isnan(stated) ? tb * 1e3 / gbs : stated;
}

int storage_goodput_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct input a = input_of(d, in, err);
	const double gpus = input_num(&a, "gpus", 1, 1e8, NAN);
	const double days = input_num(&a, "days", LEAST, 1e6, NAN);
	const double failures = input_num(&a, "unexpected_interruptions|failures", 1, 1e9, NAN);
	const double measured = storage_gpu_hours(gpus, days, failures);
	const double hours = input_num(&a, "gpu_hours_per_failure", 1, 1e12,
		isnan(measured) ? STORAGE_GPU_HOURS : measured);
	const double mtbf = read_mtbf(&a, gpus, hours), write_s = read_write_s(&a);
	const double restart = input_num(&a, "restart_s", 0, 1e7, 0);
	const double target = input_num(&a, "target_loss_pct|loss_pct", LEAST, 100, NAN) / 100;
	const double size = input_num(&a, "checkpoint_tb", LEAST, 1e6, NAN);
	const double interval =
		input_num(&a, "interval_s", LEAST, 1e9, storage_interval_s(write_s, mtbf * 3600));
	const double longest = storage_write_for(target, mtbf * 3600, restart);

	if (!a.fault && isnan(mtbf))
		return input_fail(&a, "cluster_mtbf_h", "or 'gpus' is needed");
	answer_num(out, "gpu_hours_per_failure", hours);
	answer_num(out, "cluster_mtbf_h", mtbf);
	answer_num(out, "interval_s", interval);
	answer_num(out, "loss_pct", 100 * storage_loss(write_s, interval, mtbf * 3600, restart));
	if (isnan(target))
		return a.fault;
	if (longest < 0)
		return input_fail(&a, "target_loss_pct",
			"cannot be reached: restarts alone cost %.2f %%",
			100 * restart / (mtbf * 3600));
	answer_num(out, "write_s_at_most", longest);
	answer_num(out, "bandwidth_gbs_at_least", size * 1e3 / longest);
	return a.fault;
}

/* Parity and copies by the level's name; what is stated counts. */
static void read_level(struct input *a, struct raid *r)
{
	static const char *const names[] = {
		"raid0", "raid1", "raid5", "raid6", "raid10", "raidz1", "raidz2", "raidz3", NULL};
	static const struct {
		double parity, mirror;
	} means[] = {{0, 1}, {0, 2}, {1, 1}, {2, 1}, {0, 2}, {1, 1}, {2, 1}, {3, 1}};
	const int level = input_word(a, "level", names, 3);

	r->mirror = means[level].mirror;
	r->parity = input_num(a, "parity", 0, 1e3, means[level].parity);
}

int storage_raid_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct input a = input_of(d, in, err);
	struct raid r = {
		.arrays = input_num(&a, "arrays", 1, 1e6, 1),
		.disks = input_count(&a, "disks|disks_per_array", 100000, 0),
		.disk_tb = input_num(&a, "disk_tb", 1e-3, 1e4, NAN),
		.groups = input_num(&a, "groups_per_array", 1, 1e5, 1),
		.spares = input_num(&a, "spares|spares_per_array", 0, 1e5, 0),
		.fs_share = input_num(&a, "fs_share", 0.1, 1, 1),
	};
	const double rate = input_num(&a, "rebuild_mb_s", LEAST, 1e6, 100);
	double usable;

	read_level(&a, &r);
	if (!a.fault && (r.disks < 1 || isnan(r.disk_tb)))
		return input_fail(
			&a, r.disks < 1 ? "disks" : "disk_tb", "is needed, and above zero");
	usable = storage_usable_tb(&r);
	if (!a.fault && usable <= 0)
		return input_fail(&a, "disks", "are too few: %g, for %g of parity and %g spares",
			r.disks, r.parity * r.groups, r.spares);
	answer_num(out, "raw_tb", r.arrays * r.disks * r.disk_tb);
	answer_num(out, "usable_tb", usable);
	answer_num(out, "usable_tib", usable / STORAGE_TIB);
	answer_num(out, "group_disks", storage_group(&r));
	answer_num(out, "rebuild_h", storage_rebuild_h(r.disk_tb, rate));
	return a.fault;
}

int storage_archive_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct input a = input_of(d, in, err);
	const char *codec = input_text(&a, "codec");
	const double fps = input_num(&a, "fps|stream_fps", 0.1, 240, 25);
	const double width = input_num(&a, "width", 1, 16384, 1920);
	const double height = input_num(&a, "height", 1, 16384, 1080);
	struct archive v = {
		.cameras = input_num(&a, "cameras", 1, 1e6, NAN),
		.days = input_num(&a, "days", LEAST, 1e5, NAN),
		.hours = input_num(&a, "hours_per_day", LEAST, 24, 24),
		.motion = input_num(&a, "motion", LEAST, 1, 1),
		.overhead = input_num(&a, "overhead", 0, 1, 0),
		.reserve = input_num(&a, "reserve", 0, 10, 0),
	};
	double tb;

	v.mbps = input_num(
		&a, "mbps", LEAST, 1e4, codec ? storage_mbps(codec, fps, width * height) : NAN);
	if (!a.fault && isnan(v.mbps))
		return input_fail(&a, codec ? "codec" : "mbps",
			codec ? "must be h264, h265 or hevc" : "or 'codec' with 'fps' is needed");
	if (!a.fault && (isnan(v.cameras) || isnan(v.days)))
		return input_fail(&a, isnan(v.cameras) ? "cameras" : "days", "is needed");
	tb = storage_archive_tb(&v);
	answer_num(out, "mbps", v.mbps);
	answer_num(out, "tb", tb);
	answer_num(out, "tib", tb / STORAGE_TIB);
	answer_num(out, "write_mb_s", storage_archive_mb_s(&v));
	return a.fault;
}
