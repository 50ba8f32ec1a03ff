/* elevation_priv - where the units of a rack are in its pictures, and a box as it is drawn. */
#pragma once

#include "inventory/report/elevation.h"
#include "inventory/report/svg.h"

#define ELEVATION_TOP    24.0 /* the words above the rack */
#define ELEVATION_LABELS 24.0 /* the numbers beside it */
#define ELEVATION_WIDTH  216.0

struct elevation {
	const struct view_rack *v;
	const struct model *m;
	enum text_lang lang;
	struct buf *out;
	double left, unit; /* left edge of the rack's inside, height of a unit */
	unsigned first_u, units;
	bool rear;
};

void elevation_make(struct elevation *e, const struct view_rack *v, enum text_lang lang,
	struct buf *out, bool rear);
/* The frame, the numbers, free units; ends with the devices' boxes. */
void elevation_body(const struct elevation *e);
double elevation_height(const struct elevation *e);
/* Where a device is drawn; false when it has no position inside the rack. */
bool elevation_place(const struct elevation *e, size_t device, struct svg_box *out);
