/*
 * fix - the cheapest change that makes a rack pass, tried before it is offered.
 *
 * Each candidate is made on a copy of the model and audited again; it is offered
 * when the rack's verdict gets better and no other rack and nothing of the site
 * gets worse. Cheapest first: prove a cap, move a cord, sequence outlets, move a
 * box inside the rack, cap GPUs, move a box to another rack, a further feed.
 */
#pragma once

#include "inventory/audit/audit.h"

#define FIX_MAX 8 /* offered for a rack */

enum fix_kind {
	FIX_PROVE_CAP, /* enforce the cap at boot and read it back */
	FIX_MOVE_CORD, /* what: the port; to: an outlet */
	FIX_SEQUENCE,  /* what: the PDU */
	FIX_MOVE_UNIT, /* what: the device, inside its rack to unit */
	FIX_CAP,       /* what: the rack; watts: of each GPU */
	FIX_MOVE_RACK, /* what: the device; to: a rack, at unit */
	FIX_ADD_FEED,  /* what: the rack; a further feed as good as the others */
	FIX_REMOVE,    /* what: the device, out of the rack */
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
 * Fixes for one rack of an audit, FIX_MAX at most; text in a. o as the audit was
 * run. 0 also when none helps.
 */
int fix_find(struct arena *a, const struct audit *audit, const struct audit_opts *o, size_t rack,
	struct audit_fixes *out, struct err *err);
