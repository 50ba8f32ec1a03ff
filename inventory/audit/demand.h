/*
 * demand - what each device draws and how many of its PSUs it needs, looked up once.
 *
 * Watts come from power_of and from nowhere else. Two figures: without caps, and
 * with those GPU caps that are proven (enforced at boot and read back). Facts that
 * are absent are assumed as the fields say and marked.
 */
#pragma once

#include "inventory/audit/graph.h"
#include "inventory/audit/power.h"

enum audit_pass {
	PASS_PLAIN,
	PASS_CAPPED,
	PASS_N
};

struct demand {
	double watts[PASS_N]; /* 0 when not known */
	bool known, capped, hot_spare;
	bool assumed;        /* power_of's figure is */
	bool assumed_needed; /* half of two PSUs, all but one of more */
	bool assumed_least;  /* one */
	uint8_t cords, psus, needed, least;
};

/* One for each device. */
struct demand *demand_make(
	struct arena *a, const struct graph *g, enum power_basis basis, bool *any_capped);
/* Whether the device's GPU cap is one that may be relied on. */
bool demand_cap_proven(const struct device *d);
/* W at the inlets with alive PSUs, from watts with all of them. */
double demand_after(
	const struct device_type *t, const struct demand *d, double watts, unsigned alive);
/* Whether demand_after knows how the PSUs' efficiency falls. */
bool demand_has_curve(const struct device_type *t);
