/*
 * wipe - what would be lost on devices, shown before it is asked for, and asked for before it is
 * done.
 *
 * A plan lists disks with size and serial, their partitions, every signature (file systems,
 * partition tables, md, LVM, ZFS: whatever wipefs knows) and who uses them. Nothing that is used is
 * ever wiped. What is there is wiped only with 'wipe: true', and with 'wipe_plan' only when the
 * plan is still the one that was shown.
 */
#pragma once

#include "agent/step/disk.h"

#define WIPE_TEXT_MAX (32u << 10)
#define WIPE_ID       13 /* with the NUL */

struct wipe {
	struct buf text; /* the plan, a line each */
	unsigned found;  /* signatures */
	bool used;
	char who[256]; /* the first use: "'sda1' is mounted on '/srv'" */
	char id[WIPE_ID];
};

void wipe_init(struct wipe *w);
void wipe_done(struct wipe *w);
/* Adds one device to the plan; wipe_close after the last. */
int wipe_add(struct step_env *env, const struct disk *d, struct wipe *w, struct err *err);
/*
 * 0: may go on (nothing is there, or it is allowed to go); the plan is in the report then. Else
 * E_BUSY, E_DENIED (report->denied) or E_CONFLICT, with the plan in the report too.
 */
int wipe_judge(const json_t *args, struct wipe *w, struct step_report *rep, struct err *err);
/* Takes all signatures from the device and its partitions, and looks whether they are gone. */
int wipe_device(struct step_env *env, const struct disk *d, struct err *err);
/* What wipefs says of one device, as JSON. */
int wipe_signatures(struct step_env *env, const char *name, struct buf *out, struct err *err);
