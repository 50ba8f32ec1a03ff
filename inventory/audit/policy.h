/*
 * policy - the factors an audit judges by; every report prints them.
 *
 * strict80 (the default): 80 % of a breaker, always. iec100: all of it, WARN above
 * 95 %. Any other name is the site's own and needs its factors in the site's
 * terms. What a site leaves out of its own policy is strict80's.
 */
#pragma once

#include "inventory/model/model.h"

struct err;

struct policy {
	const char *name;
	double k_cont;     /* of a breaker, all day long */
	double failover_k; /* of a breaker, after a loss */
	double near_limit; /* of a limit, above it WARN; 0: none */
	double ups_share;  /* of a UPS after a loss, above it WARN */
	double imbalance;  /* per cent, above it WARN */
	double light_load; /* of a limit, below it imbalance and power factor mean nothing */
	double power_factor, altitude_m, floor_kpa;
	double tile_kn; /* MODEL_UNSET: not judged */
	bool ul;        /* ratings of connectors and banks as UL has them, else IEC */
	bool assumed_power_factor, assumed_floor, assumed_region;
};

extern const char *const POLICY_NAMES[]; /* the built-in ones, NULL-terminated */

/* name NULL: the site's, else strict80. E_NOTFOUND, E_SCHEMA. */
int policy_make(const struct model *m, const char *name, struct policy *out, struct err *err);
