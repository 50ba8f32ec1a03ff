/*
 * part - which racks, feeds and PDUs hang together by their devices. Pure, in linear time.
 *
 * Two are of one part when a device has cords to both, stands in one and is fed by
 * the other, or one feeds the other. Panels and UPSs above feeds join nothing: what
 * happens in another part reaches this one only through them.
 */
#pragma once

#include "inventory/model/index.h"
#include "inventory/model/model.h"

/* Numbers from 0 to n, by row. Owned by the arena. */
struct model_parts {
	size_t *racks, *feeds, *pdus;
	size_t n;
};
void model_parts(struct arena *a, const struct model *m, struct model_parts *out);

/*
 * The most that can ever be on a panel or UPS, whatever is lost: each device below it
 * with all of its watts on every phase it has a cord to.
 */
struct reach {
	enum model_noun noun; /* NOUN_PANEL, NOUN_UPS */
	size_t row;
	double volts; /* of the circuit, line to line for three phases; NaN: not known */
	unsigned phases;
	double total[BASIS_N];          /* W; each device once */
	double watts[BASIS_N][PHASE_N]; /* W by phase of the load */
};
