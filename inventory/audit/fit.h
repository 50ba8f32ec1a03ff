/*
 * fit - how many more devices of a type the site takes, where, and what stops the next one.
 *
 * Rack by rack the type is placed and audited until a rule fails; then all placed
 * together are audited on the whole site, and what its panels, UPSs and zones do
 * not carry is given back. A rack that fails already takes none.
 */
#pragma once

#include "inventory/audit/audit.h"

struct fit_rack {
	size_t rack;
	unsigned n;               /* fit */
	enum audit_verdict after; /* the rack's verdict with them */
	enum audit_rule limit; /* what stops the next one; RULE_N: nothing did, enough are placed */
	double value, bound;   /* of that */
	const char *unit, *text;
	size_t move; /* a device whose move inside the rack makes room; MODEL_NONE */
	unsigned move_from, move_to, then_at;
};

struct fit_place {
	size_t rack;
	unsigned unit;
	unsigned n_outlets;
	const size_t *outlets; /* of the model */
};

struct fit {
	struct arena *arena;
	const struct model *model;
	size_t type;
	unsigned asked, total;               /* asked 0: as many as go */
	struct vec(struct fit_rack) racks;   /* those asked about, in the model's order */
	struct vec(struct fit_place) places; /* total of them */
	unsigned given_back;                 /* places that the racks had, but not the site */
	enum audit_rule site_limit;          /* RULE_N when given_back is 0 */
	const char *site_text;
};

/* o: policy, basis, racks as for audit_run. */
int fit_find(const struct model *m, const struct audit_opts *o, size_t type, unsigned count,
	struct fit *out, struct err *err);
void fit_done(struct fit *f);
