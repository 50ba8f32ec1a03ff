/*
 * graph - what hangs on what: cord, outlet, bank, PDU, feed, panel, UPS, as indexes.
 *
 * Built once for a model, in linear time. Everything that carries current is an
 * element; its number is the base of its level plus its row in the model. PDUs may
 * hang on outlets of other PDUs, panels and UPSs on each other. Owned by the arena
 * given; the model must outlive it.
 */
#pragma once

#include "agent/base/arena.h"
#include "inventory/audit/policy.h"

#include <stdint.h>

#define GRAPH_DEPTH_MAX 32 /* elements above a cord; more is a loop */
#define GRAPH_NONE      UINT32_MAX

#define GRAPH_UPS_EFFICIENCY 0.95 /* assumed, of 0.94 to 0.97 */

enum level {
	LEVEL_OUTLET,
	LEVEL_BANK,
	LEVEL_PDU,
	LEVEL_FEED,
	LEVEL_PANEL,
	LEVEL_UPS,
	LEVEL_N
};

struct element {
	enum level level;
	uint32_t row, parent; /* parent GRAPH_NONE at the top */
	uint8_t phases;       /* 1 or 3 */
	uint8_t up;           /* enum phase of its load in its parent; PHASE_UNSTATED: as here */
	bool by_phase;        /* loads on it state their phases */
	double gain;          /* what its load becomes in its parent: 1 / efficiency of a UPS */
	double volts;         /* of the circuit, line to line for three phases; NaN: not known */
	uint32_t first, n;    /* in below: the cords that hang on it */
};

struct graph {
	const struct model *m;
	uint32_t base[LEVEL_N + 1]; /* the last one: how many elements there are */
	struct element *at;
	uint32_t *below;       /* cords by element */
	uint8_t *cord_phase;   /* by cord: enum phase of its load inside its outlet */
	uint32_t *cord_device; /* by cord */
	uint32_t *device_first,
		*device_cords; /* cords of device d: device_cords[device_first[d]] .. */
	uint32_t *rack_first, *rack_devices; /* the same for the devices of a rack */
	uint32_t *outlet_cord;               /* GRAPH_NONE: free */
};

/* E_CONFLICT when elements feed each other in a loop. */
int graph_make(struct arena *a, const struct model *m, const struct policy *p, struct graph *out,
	struct err *err);
static inline uint32_t graph_element(const struct graph *g, enum level level, size_t row)
{
	return g->base[level] + (uint32_t)row;
}
/* The lowest element above the cord: its outlet. */
static inline uint32_t graph_outlet(const struct graph *g, uint32_t cord)
{
	return g->base[LEVEL_OUTLET] + (uint32_t)g->m->cords.at[cord].outlet;
}
/* The feed that a cord ends at, GRAPH_NONE when it is not known. */
uint32_t graph_feed(const struct graph *g, uint32_t cord);
/* The device's type; one that states nothing when it has none. */
const struct device_type *graph_type(const struct model *m, size_t device);
double graph_ups_efficiency(const struct ups *u);
/* Volts between the conductors of a load on such a phase of an element. */
double graph_load_volts(const struct element *e, enum phase phase, bool ul);
