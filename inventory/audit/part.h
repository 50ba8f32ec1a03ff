/*
 * part - copies of a model that may be changed and audited again.
 *
 * A copy's arrays are its own; its texts are those of the model it was made of,
 * which must outlive it. Free with model_free.
 */
#pragma once

#include "inventory/audit/graph.h"

/* Everything. */
struct model *part_copy(const struct model *m);

/* Rows of the part (by place) as rows of the whole. Owned by the arena given. */
struct part {
	struct model *m;
	size_t rack; /* the one asked for, in m */
	size_t *racks, *devices, *ports, *outlets, *pdus, *feeds;
};

/*
 * A rack with all that shares a feed with it: devices, their cords, PDUs with all
 * outlets. Panels, UPSs and zones are there with the part's load alone, so what
 * holds in the part is to be confirmed on the whole.
 */
void part_make(struct arena *a, const struct graph *g, size_t rack, struct part *out);
/* "fix-1", a name that no text of the part has to be freed with. */
const char *part_name(struct model *m, const char *stem, size_t n);
