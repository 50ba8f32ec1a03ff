/*
 * fabric_export - a planned fabric as files for those who run it: opensm, Slurm, NCCL. Pure.
 *
 * Slurm: all rail leaves of a scalable unit are one switch, since each node is on all of them; a
 * spine group is the next level. GUIDs are known only when the hardware is there: what has none is
 * left out and counted.
 */
#pragma once

#include "inventory/design/cableplan.h"

/* The GUID of a device by its name, 0 when it is not known. */
typedef uint64_t fabric_guid(void *user, const char *name);

/* topology.conf: SwitchName=..., 64 characters at most. [Slurm manual] */
void fabric_write_slurm_conf(const struct fabric *f, struct buf *out);
/* topology.yaml of 25.05 and later: a tree. [Slurm manual] */
void fabric_write_slurm_yaml(const struct fabric *f, struct buf *out);
/* Roots of ftree: cores, or spines, or the only switch; one GUID a line. Returns those without. */
unsigned fabric_write_root_guids(
	const struct fabric *f, fabric_guid *guid, void *user, struct buf *out);
/* GUID "name" of every switch, for ibnetdiscover and opensm. Returns those without. */
unsigned fabric_write_name_map(
	const struct fabric *f, fabric_guid *guid, void *user, struct buf *out);
/* /etc/nccl.conf. [sizing 2.4; NCCL manual: NCCL_IB_HCA, NCCL_CROSS_NIC, NCCL_IB_GID_INDEX,
 * NCCL_IB_TC] */
void fabric_write_nccl(const struct fabric *f, bool roce, struct buf *out);
