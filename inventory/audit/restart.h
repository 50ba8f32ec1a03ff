/*
 * restart - in which order devices are switched on again after a blackout. Pure.
 *
 * What others need comes first: switches, management, storage, then the rest, GPU
 * boxes last. Devices of one batch may start at once: on every bank and feed what
 * runs already and the batch's inrush stay below what the breaker's magnetic trip
 * surely holds (curve C where none is stated). A device that is too much alone is
 * a batch of its own, and marked.
 */
#pragma once

#include "inventory/audit/audit.h"

struct restart_step {
	size_t device;
	unsigned batch; /* from 1 */
	bool trips;     /* its own inrush is above what a breaker holds */
};

struct restart_plan {
	struct vec(struct restart_step) steps; /* by batch, then by name */
	unsigned batches;
};

/* Devices with cords and watts, of the audit's racks. */
void restart_make(const struct audit *a, struct restart_plan *out);
void restart_done(struct restart_plan *p);
