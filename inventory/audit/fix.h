/*
 * fix - the cheapest change that makes a rack pass, tried before it is offered.
 *
 * Each candidate is made on a copy of the model and audited again; it is offered
 * when the rack's verdict gets better (or, with several failures, fewer are left)
 * and no other rack and nothing of the site gets worse. Cheapest first, in the
 * order of the kinds; one of a kind.
 */
#pragma once

#include "inventory/audit/audit.h"

enum fix_kind {
	FIX_PROVE_CAP, /* enforce the caps at boot and read them back */
	FIX_MOVE_CORD, /* what: the port, to: an outlet; or what: a device whose cords change lines
			*/
	FIX_SEQUENCE,  /* what: the PDU, watts: milliseconds between outlets */
	FIX_MOVE_UNIT, /* what: the device, inside its rack to unit */
	FIX_CAP,       /* what: the rack, watts: of each GPU */
	FIX_MOVE_RACK, /* what: the device, to: a rack, at unit */
	FIX_ADD_FEED,  /* what: the rack; a further feed as good as the others */
	FIX_LARGER_FEED, /* what: the rack, watts: amps of its feeds */
	FIX_DOOR,        /* what: the rack, watts: a rear-door exchanger takes */
	FIX_REMOVE,      /* what: a device, unit: how many of its type leave the rack */
	FIX_N
};

struct audit_fix {
	enum fix_kind kind;
	size_t rack;
	struct audit_subject what, to; /* noun NOUN_N: none */
	unsigned unit;                 /* 0: none */
	double watts;                  /* MODEL_UNSET: none */
	enum audit_verdict before, after;
	const char *text; /* "move the cord of 'gpu1/psu2' to outlet 'pdu-b/4'" */
};
struct audit_fixes vec(struct audit_fix);

const char *fix_kind_name(enum fix_kind k); /* stable: "move_cord" */
/*
 * Fixes for one rack of an audit; text in a. Nothing is offered for a rack at PASS.
 * o as the audit was run.
 */
int fix_find(struct arena *a, const struct audit *audit, const struct audit_opts *o, size_t rack,
	struct audit_fixes *out, struct err *err);
