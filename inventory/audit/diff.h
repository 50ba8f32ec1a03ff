/*
 * diff - what changed between two audits, of two files or two dates. Pure.
 *
 * Racks and subjects are matched by name. Told are racks that came or went, racks
 * whose verdict changed, findings that are no PASS on one side or changed their
 * verdict, and those whose figure moved by more than half a per cent.
 */
#pragma once

#include "inventory/audit/audit.h"

#define DIFF_SHARE 0.005 /* of a figure; less is no change */

enum diff_kind {
	DIFF_RACK_NEW,
	DIFF_RACK_GONE,
	DIFF_RACK, /* its verdict */
	DIFF_NEW,  /* a finding that is no PASS */
	DIFF_GONE, /* it passes now, or its subject is gone */
	DIFF_VERDICT,
	DIFF_VALUE,
	DIFF_N
};

struct audit_change {
	enum diff_kind kind;
	const char *rack;     /* its name, NULL: the site */
	const char *subject;  /* as audit_name, NULL for racks */
	enum audit_rule rule; /* RULE_N for racks */
	enum audit_verdict before, after;
	double was, is;          /* MODEL_UNSET where there is none */
	const char *unit, *text; /* text: the later arithmetic, the earlier when it is gone */
};

struct audit_diff {
	struct arena *arena;
	struct vec(struct audit_change) changes; /* racks in natural order, the site last */
	unsigned better, worse;                  /* racks */
	enum audit_verdict before, after;
};

const char *diff_kind_name(enum diff_kind k); /* stable: "rack_new" */
/* Both audits may be done away with afterwards. */
void diff_make(const struct audit *before, const struct audit *after, struct audit_diff *out);
void diff_done(struct audit_diff *d);
