/*
 * part - which racks, feeds and PDUs hang together by their devices. Pure, in linear time.
 *
 * Two are of one part when a device has cords to both, stands in one and is fed by
 * the other, or one feeds the other. Panels and UPSs above feeds join nothing: what
 * happens in another part reaches this one only through them.
 */
#pragma once

#include "inventory/model/model.h"

/* Numbers from 0 to n, by row. Owned by the arena. */
struct model_parts {
	size_t *racks, *feeds, *pdus;
	size_t n;
};
void model_parts(struct arena *a, const struct model *m, struct model_parts *out);
