/*
 * limit - what an element may carry by the policy. Pure.
 *
 * A feed: min(k * breaker * k_temp * k_group, plug); its own max_utilization is its k.
 * A panel: k * main breaker. A PDU: its rating, which its maker derated. A bank: its
 * breaker (0.8 of it by UL). An outlet: its type's. A UPS, in W: the smaller of kW
 * and kVA * power factor.
 */
#pragma once

#include "inventory/audit/graph.h"

/* A; W of a UPS. NaN when none is known. */
double limit_get(const struct graph *g, const struct policy *p, uint32_t element, bool failover);
/* The same as a text that can be checked: "0.80 x 63 A = 50.40 A". */
const char *limit_text(struct arena *a, const struct graph *g, const struct policy *p,
	uint32_t element, bool failover);
/* What trips: a breaker's rating after heat and neighbours, a UPS's W; NaN when nothing does. */
double limit_rating(const struct graph *g, const struct policy *p, uint32_t element);
/* A that a connector of such a type carries all day; NaN for one that is not known. */
double limit_connector(const struct policy *p, const char *type);
