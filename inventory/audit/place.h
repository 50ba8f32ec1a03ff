/*
 * place - puts a device of a type into a rack of a copy: a run of units, an outlet for each PSU.
 *
 * PSUs are spread evenly over the rack's feeds, each on the free outlet of its type
 * whose bank and line carry least. Nothing is judged here; audit the copy afterwards.
 */
#pragma once

#include "inventory/audit/audit.h"

#define PLACE_PSUS_MAX 16

struct place {
	size_t device; /* in the copy */
	unsigned unit;
	unsigned n; /* outlets */
	size_t outlets[PLACE_PSUS_MAX];
};

/* Why nothing was placed. */
struct place_fault {
	enum audit_rule rule; /* RULE_CONTIGUOUS_U, RULE_CORDS */
	double value, limit;
	const char *text; /* in the copy's arena */
};

/* a: the audit of m as it is. False with the fault filled; then m is as it was. */
bool place_device(struct model *m, const struct audit *a, size_t rack, size_t type,
	struct place *out, struct place_fault *fault);
