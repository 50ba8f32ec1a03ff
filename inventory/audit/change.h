/*
 * change - one change of a copy, made alike on a part and on the whole. Pure but for the copy.
 *
 * Rows are those of the model it is made on; change_map turns a change of a part
 * into the same of the whole.
 */
#pragma once

#include "inventory/audit/fix.h"
#include "inventory/audit/part.h"

#define CHANGE_CORDS_MAX 16

struct change {
	enum fix_kind kind;
	size_t rack, device, to_rack;
	unsigned unit;
	double watts;
	unsigned n; /* cords: ports[i] goes to outlets[i] */
	size_t ports[CHANGE_CORDS_MAX], outlets[CHANGE_CORDS_MAX];
};

void change_make(struct model *m, const struct change *c);
struct change change_map(const struct part *p, const struct change *c);
/* The next usual size of a breaker, 0 beyond the last. */
double change_next_size(double amps);
/* How a device's watts leave a rack: no units, no cords. */
void change_take_out(struct model *m, size_t device);
