/*
 * space - which units of a rack are free, in halves of a unit, on either face.
 *
 * Unit numbers begin with the rack's first_u. Devices, and reservations when asked,
 * take units; those without a position take none.
 */
#pragma once

#include "inventory/audit/graph.h"

#define SPACE_MAX 200 /* halves; racks of at most 100 U */

struct space {
	unsigned first_u, n; /* n halves */
	bool front[SPACE_MAX], rear[SPACE_MAX];
};

void space_make(const struct graph *g, size_t rack, bool reservations, struct space *out);
/* Marks as taken, or frees; what stands outside of the rack is left out. */
void space_put(struct space *s, const struct device *d, const struct device_type *t, bool taken);
/*
 * The lowest unit where type fits, 0 when there is none. Full-depth needs both
 * faces. best: the longest free run on them in whole units, may be NULL.
 */
unsigned space_find(
	const struct space *s, const struct device_type *t, enum rack_face face, unsigned *best);
/* Whether its units from unit on are free, and inside. */
bool space_fits(
	const struct space *s, const struct device_type *t, enum rack_face face, unsigned unit);
/* Halves that a type is high. */
unsigned space_halves(const struct device_type *t);
/* Whole units taken, free and in the longest free run, on both faces together. */
void space_count(const struct space *s, unsigned *used, unsigned *free_u, unsigned *gap);
/* "1-4, 10-14": runs of free units. */
void space_runs(const struct space *s, char *out, size_t size);
