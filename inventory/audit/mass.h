/* mass - what stands in a rack weighs, as far as it is stated. */
#pragma once

#include "inventory/audit/graph.h"

#define MASS_LIFT_KG 100.0 /* a box heavier than this needs a lift */

struct mass {
	double devices, rest;  /* kg; rest: PDUs, cables, door; the rack itself apart */
	double placed, moment; /* of what has a position: kg, kg times units above the lowest */
	unsigned unknown;      /* devices without a weight */
	unsigned heavy;        /* boxes over MASS_LIFT_KG */
};

struct mass mass_of_rack(const struct graph *g, size_t rack);
