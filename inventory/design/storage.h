/*
 * storage - checkpoints, goodput, RAID, the video archive. Pure; bytes, GB/s decimal, seconds.
 *
 * Source: sizing book 3; Young 1974, Daly 2006; Llama 3 (arXiv 2407.21783); MLPerf Storage v2.0;
 * DGX SuperPOD H100 RA-11333 V11.
 */
#pragma once

#include <stdbool.h>

#define STORAGE_CHECKPOINT_BYTES 14.0    /* a parameter: bf16 weights 2, fp32 master, m, v 12 */
#define STORAGE_GPU_HOURS        50676.0 /* between failures of one GPU: 16,384 * 54 d / 419 */
#define STORAGE_KEEP_ROOM        1.15    /* free room beside the checkpoints kept */
#define STORAGE_TIB              1.099511627776 /* TB in a TiB */

/* Bytes of a checkpoint. [sizing 3.1; P * 14; bytes] */
double storage_checkpoint(double params, double bytes_per_param);
/* Bytes for those kept. [sizing 3.1; S * n * 1.15; bytes] */
double storage_kept(double checkpoint_bytes, double kept);
/* S / min(file system, writers * client, NIC); NaN bandwidths do not limit. [3.2; s] */
double storage_write_s(
	double bytes, double fs_gbs, double writers, double client_gbs, double nic_gbs);

/* GPU hours of a failure. [3.3; n * days * 24 / failures; h] */
double storage_gpu_hours(double gpus, double days, double failures);
/* Young's interval, sqrt(2 * delta * M). [3.3; Young 1974; s] */
double storage_interval_s(double write_s, double mtbf_s);
/* Share of time lost: delta/T + T/(2M) + R/M. [3.3; Daly 2006, first order; 0..1] */
double storage_loss(double write_s, double interval_s, double mtbf_s, double restart_s);
/* The longest write that keeps the loss at Young's interval under a share: (loss - R/M)^2 * M / 2;
 * negative when the restarts alone cost more. [3.3, solved for delta; s] */
double storage_write_for(double loss, double mtbf_s, double restart_s);

enum storage_level {
	STORAGE_GOOD,
	STORAGE_BETTER,
	STORAGE_BEST,
	STORAGE_LEVELS
};
struct storage_guide {
	double node_read, node_write; /* GB/s of one node */
	double read, write;           /* of all scalable units */
};
/* [RA-11333 V11, storage performance guideline, by units, rounded down; GB/s] */
struct storage_guide storage_guide_of(double units, enum storage_level level);

struct raid {
	double arrays, disks, disk_tb;
	double parity, groups, spares; /* of each array; parity of each group */
	double mirror;                 /* copies of everything; 1: none */
	double fs_share;               /* what the file system leaves */
};
/* Usable, (disks - spares - parity * groups) / copies * size. [3.6; TB] */
double storage_usable_tb(const struct raid *r);
/* Disks of the widest group. [3.6; disks] */
double storage_group(const struct raid *r);
double storage_rebuild_h(double disk_tb, double mb_s); /* size / rate [3.6; h] */

struct archive {
	double cameras, mbps, days;
	double hours;    /* recorded of a day */
	double motion;   /* share of it in which something moves, 0..1 */
	double overhead; /* container, index: 0.03 .. 0.05 */
	double reserve;  /* night noise: 0.2 */
};
/* cams * Mbit/s * 86400 * days / 8e6. [3.5; TB] */
double storage_archive_tb(const struct archive *a);
double storage_archive_mb_s(const struct archive *a); /* cams * Mbit/s / 8 [3.5; MB/s] */
/*
 * Mean Mbit/s of a camera: H.264 at 1080p by frames a second, linear between the table's rows,
 * H.265 times 0.7, by pixels for other sizes; NaN for another codec. [3.5; unifore.net; Mbit/s]
 */
double storage_mbps(const char *codec, double fps, double pixels);
