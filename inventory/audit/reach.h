/*
 * reach - which panels and UPSs can never trip, so that parts below them are apart. Pure.
 *
 * A rack's findings depend on its part (model/part.h) and on what trips above it. What
 * cannot carry too much, whatever fails, does not trip; then other parts do not count.
 */
#pragma once

#include "inventory/audit/graph.h"
#include "inventory/model/part.h"

/* One of each panel and UPS, in the order of the elements. Owned by the arena. */
int reach_make(
	struct arena *a, const struct model *m, struct reach **out, size_t *n, struct err *err);
/* The same on a graph that is there, on one basis. */
struct reach *reach_on(struct arena *a, const struct graph *g, enum power_basis basis, size_t *n);
/* Whether so much would trip it; m has the panels and UPSs. */
bool reach_trips(const struct model *m, const struct policy *p, const struct reach *r,
	enum power_basis basis);
/* Whether so much is within what the policy allows, also after a loss. */
bool reach_fits(const struct model *m, const struct policy *p, const struct reach *r,
	enum power_basis basis);
/* The elements that matter for these racks: their parts, and those joined by what may trip. */
bool *reach_elements(struct arena *a, const struct graph *g, const struct policy *p,
	enum power_basis basis, const size_t *racks, size_t n);
