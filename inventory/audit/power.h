/*
 * power - the one look-up of watts, and what a rack's feeds carry. Pure.
 *
 * Power follows cords: a device's load is shared evenly by its PSUs whose cord
 * goes to a living outlet. Volt-amperes are watts over the site's power factor,
 * POWER_FACTOR (assumed) when it states none. A feed may carry volts * amps (three
 * phases: * sqrt 3 of the voltage between them) * its max_utilization,
 * POWER_UTILIZATION when not stated; a PDU what it is rated for, derated already.
 * Devices count whatever their status: what is planned or off can be switched on.
 */
#pragma once

#include "inventory/model/model.h"

#define POWER_FACTOR      0.95 /* assumed: active PFC at half load and above */
#define POWER_UTILIZATION 0.80 /* strict80: continuous load on a breaker */
#define POWER_HIGH        0.90 /* of the limit; above it a verdict is HIGH */

struct power {
	double watts;           /* MODEL_UNSET when nothing at all is stated */
	enum power_basis basis; /* what was found; may be another than asked for */
	enum fact_origin origin;
	const char *source; /* NULL */
};

/*
 * The device's watts on a basis. When it is not stated:
 *	measured   the device's, the type's, then as capped
 *	capped     the device's enforced cap, max less what its GPUs' cap saves, the type's, then as
 *max max        the type's, then nameplate nameplate  the type's, then max so a fall-back is never
 *lower than what was asked for could be.
 */
struct power power_of(const struct model *m, size_t device, enum power_basis basis);

enum rack_verdict {
	VERDICT_UNKNOWN, /* no feed reaches the rack, or a device's watts are not stated */
	VERDICT_OK,
	VERDICT_HIGH,
	VERDICT_OVER
};
const char *rack_verdict_name(enum rack_verdict v); /* "UNKNOWN", "OK" ... */

struct feed_load {
	size_t feed;
	double limit_va;   /* what it may carry by the site's policy, also after a loss */
	double load_va;    /* with every feed alive; of all racks it feeds; by its fullest line */
	double worst_va;   /* after the worst single loss of another feed, the same way */
	size_t worst_loss; /* that feed, MODEL_NONE when none makes it worse */
	enum rack_verdict verdict;
};

struct rack_load {
	size_t rack;
	unsigned units_used, units_free, units_gap; /* kept units are used; gap: largest free run */
	unsigned devices;
	double watts[BASIS_N];  /* sums over the devices in it whose watts are known */
	unsigned watts_unknown; /* devices without any figure */
	unsigned no_cord;       /* devices that draw power and have no cord to a feed */
	unsigned down,
		degraded; /* devices that the loss of a feed takes down, leaves short of PSUs */
	double kg;        /* devices, PDUs, cables, door; as far as it is stated */
	unsigned kg_unknown;
	bool too_heavy;
	struct vec(struct feed_load) feeds;
	double worst_share; /* the highest worst / limit of its feeds, PDUs and their banks */
	size_t worst_pdu;   /* the PDU that share is of, MODEL_NONE when it is a feed's */
	enum rack_verdict verdict;
};
struct rack_loads vec(struct rack_load);

/* Volt-amperes of a circuit of that many amps. */
double power_circuit_va(const struct feed *f, double amps);
/* What the feed may carry all day; MODEL_UNSET when volts or amps are not stated. */
double power_feed_limit(const struct feed *f);

/*
 * All racks in the model's order, on one basis, as the audit computes them
 * (rack_load.c plays the losses of feeds). Free with rack_loads_done.
 */
void rack_loads_make(const struct model *m, enum power_basis basis, struct rack_loads *out);
void rack_loads_done(struct rack_loads *l);
