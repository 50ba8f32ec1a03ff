/* storage - closed forms; see the header for sources. */
#include "inventory/design/storage.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define PIXELS_1080P (1920.0 * 1080.0)
#define H265_SHARE   0.7 /* of H.264's rate: between vendors' 0.5 and tests' 0.8 */

double storage_checkpoint(double params, double bytes_per_param)
{
	return params * bytes_per_param;
}

double storage_kept(double checkpoint_bytes, double kept)
{
	return checkpoint_bytes * kept * STORAGE_KEEP_ROOM;
}

double storage_write_s(
	double bytes, double fs_gbs, double writers, double client_gbs, double nic_gbs)
{
	/* fmin passes over a NaN */
	return bytes / (1e9 * fmin(fmin(fs_gbs, writers * client_gbs), nic_gbs));
}

double storage_gpu_hours(double gpus, double days, double failures)
{
	return gpus * days * 24 / failures;
}

double storage_interval_s(double write_s, double mtbf_s)
{
	return sqrt(2 * write_s * mtbf_s);
}

double storage_loss(double write_s, double interval_s, double mtbf_s, double restart_s)
{
	return write_s / interval_s + interval_s / (2 * mtbf_s) + restart_s / mtbf_s;
}

double storage_write_for(double loss, double mtbf_s, double restart_s)
{
	const double left = loss - restart_s / mtbf_s;

	return left > 0 ? left * left * mtbf_s / 2 : -1;
}

struct storage_guide storage_guide_of(double units, enum storage_level level)
{
	static const struct storage_guide one[STORAGE_LEVELS] = {
		[STORAGE_GOOD] = {4, 2, 15, 7.5},
		[STORAGE_BETTER] = {8, 4, 40, 20},
		[STORAGE_BEST] = {40, 20, 125, 62.5},
	};
	struct storage_guide g = one[level];

	g.read = floor(g.read * units);
	g.write = floor(g.write * units);
	return g;
}

double storage_usable_tb(const struct raid *r)
{
	const double data = r->disks - r->spares - r->parity * r->groups;

	return data > 0 ? r->arrays * data * r->disk_tb / r->mirror * r->fs_share : 0;
}

double storage_group(const struct raid *r)
{
	return ceil((r->disks - r->spares) / r->groups);
}

double storage_rebuild_h(double disk_tb, double mb_s)
{
	return disk_tb * 1e6 / mb_s / 3600;
}

double storage_archive_tb(const struct archive *a)
{
	return a->cameras * a->mbps * 86400 * a->days / 8e6 * (a->hours / 24) * a->motion *
	       (1 + a->overhead) * (1 + a->reserve);
}

double storage_archive_mb_s(const struct archive *a)
{
	return a->cameras * a->mbps / 8;
}

double storage_mbps(const char *codec, double fps, double pixels)
{
	static const double at[][2] = {
		{3, 0.5}, {5, 1}, {10, 2}, {15, 3}, {20, 4}, {30, 4}}; /* fps, Mbit/s */
	const size_t last = sizeof at / sizeof at[0] - 1;
	const int newer = strcasecmp(codec, "h265") == 0 || strcasecmp(codec, "hevc") == 0;
	double rate = at[last][1];

	if (!newer && strcasecmp(codec, "h264") != 0)
		return NAN;
	if (fps <= at[0][0])
		rate = at[0][1];
	for (size_t i = 1; i <= last; i++)
		if (fps > at[i - 1][0] && fps <= at[i][0])
			rate = at[i - 1][1] + (at[i][1] - at[i - 1][1]) * (fps - at[i - 1][0]) /
						      (at[i][0] - at[i - 1][0]);
	return rate * (newer ? H265_SHARE : 1) * pixels / PIXELS_1080P;
}
