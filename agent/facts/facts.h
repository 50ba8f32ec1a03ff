/*
 * facts - what a node says of itself, one group per source, gathered when asked.
 *
 * Groups: os {id version_id codename family packages experimental closed name kernel arch systemd},
 * cpu {model sockets cores threads}, memory {total_bytes swap_bytes}, disks [{name size_bytes model
 * serial rotational}], net [{name mac mtu state speed_mbps addresses []}], pci [{slot vendor device
 * class}], gpus [{index name uuid memory_bytes serial pci_slot driver fabric ecc remap_pending
 * power_limit_w}], nvidia {loaded open} (of the kernel module), gpu {driver {loaded on_disk user
 * nvml nvml_error} holders [{pid program device unit}] count uuids}, kernel {running boot headers
 * {running boot} dkms [{module version kernel state}] xids xid [{code slot switch text}]} (boot:
 * the kernel that the next boot starts; state: added, built, installed or failed; xids: how many
 * this boot told of, xid the last 20), boot {id at next_kernel}, time {synchronized offset_ms
 * max_error_ms source}, host {name machine_id}. A value that cannot be read is absent, never
 * guessed. A GPU that has an index but cannot be opened is {index error}. IPv4 addresses are told
 * only of this process's own root.
 */
#pragma once

#include "agent/base/json.h"

struct err;

struct facts_env {
	int root;         /* "/" or a throw-away tree with etc, proc, sys */
	const char *self; /* path of this program, for the NVML child; NULL: no GPUs */
	json_t *gpus;     /* of group gpu: what group gpus gave; NULL: it is asked for */
};

extern const char *const FACT_GROUPS[]; /* NULL-terminated */

/* A new reference in *out; E_NOTFOUND for a group that does not exist. */
int facts_group(const struct facts_env *env, const char *group, json_t **out, struct err *err);
/* All groups as one object; a group that fails is {"error": text}. */
json_t *facts_all(const struct facts_env *env);

/* The NVML child's body: prints the gpus group as JSON, returns the exit status. */
int facts_gpu_probe(void);
