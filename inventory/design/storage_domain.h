/* storage_domain - the questions 'storage.*' and 'video.archive'; see domain.h. */
#pragma once

#include "inventory/design/domain.h"

/* params, bytes_per_param (14), bandwidth_gbs (one or a list), writers, client_gbs, nic_gbs, keep
 */
int storage_checkpoint_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
/* su, levels (good, better, best) */
int storage_bandwidth_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
/* gpus, days, unexpected_interruptions; checkpoint_s or bytes and bandwidth; cluster_mtbf_h;
 * interval_s; restart_s; target_loss_pct */
int storage_goodput_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
/* arrays, disks, disk_tb, level or parity, groups_per_array, spares; or data and parity (k+m) */
int storage_raid_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
/* cameras, mbps or codec with fps and width, height; days, hours_per_day, motion, overhead, reserve
 */
int storage_archive_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
