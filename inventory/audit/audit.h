/*
 * audit - is a site's power, cooling and space right, now and after any single loss? Pure.
 *
 * Findings are plain data in the order of the racks, the site's own behind them.
 * For each rack and rule there is the finding that comes nearest to its limit, and
 * every one that is no PASS (the first AUDIT_LIST_MAX; the last of those says how
 * many more). rule.h has the rules; reports take their words from there.
 *
 * A figure that no one stated is assumed where a convention exists, and the finding
 * says so; without one the rule is not judged, or is WARN where silence would read
 * as "plenty".
 */
#pragma once

#include "inventory/audit/policy.h"
#include "inventory/audit/power.h"
#include "inventory/audit/rule.h"
#include "inventory/audit/scenario.h"

#define AUDIT_LIST_MAX 8
#define AUDIT_LOSE_MAX 8 /* lost at once */

struct finding {
	enum audit_rule rule;
	enum audit_verdict verdict;
	size_t rack;                  /* MODEL_NONE: the site's */
	struct audit_subject subject; /* what it is about */
	struct audit_subject loss;    /* noun NOUN_N: in normal operation */
	double value, limit;          /* MODEL_UNSET where there is none */
	const char *unit;             /* "A", "W", "kg" ..., "" */
	const char *line;             /* "L1", NULL */
	const char *assumes;          /* what was assumed, NULL: nothing */
	const char *text;             /* the arithmetic, to be checked by hand */
	unsigned more;                /* subjects with this rule that are not listed */
};

struct audit_rack {
	size_t rack;
	enum audit_verdict verdict;
	size_t first, n; /* in findings */
	size_t binding; /* the finding that decides: worst verdict, nearest its limit; MODEL_NONE */
	double watts;   /* on the basis, caps counted where proven */
	double heat_w, room_w, liquid_w; /* heat: of all; room: what the air must take */
	double cfm, kg, floor_kpa;       /* floor_kpa MODEL_UNSET without a footprint */
	unsigned devices, units_used, units_free, units_gap;
};

struct audit {
	struct arena *arena;
	const struct model *model; /* borrowed */
	struct policy policy;
	enum power_basis basis;
	struct vec(struct finding) findings;
	struct vec(struct audit_rack) racks;
	struct vec(struct audit_subject) losses; /* by number; 0 is normal operation */
	size_t site_first, site_n;               /* the site's own findings */
	enum audit_verdict verdict;
	unsigned count[AUDIT_VERDICT_N]; /* racks by verdict */
	/* when certain things are lost at once: those; what of the racks' devices goes down */
	const struct audit_subject *lost;
	size_t n_lost;
	unsigned devices, down;
	/* for pictures: by element of graph, on the basis */
	struct graph graph;
	const struct demand *demands;
	struct sim_result loads;
};

struct audit_opts {
	const char *policy; /* NULL: the site's */
	enum power_basis basis;
	const size_t *racks; /* only those; n_racks 0: all */
	size_t n_racks;
	bool racks_only; /* the rules of the site are not asked: the model may be a part of it */
	const struct audit_subject *lose; /* these at once; n_lose 0: each single thing */
	size_t n_lose;
};

/* 0 with *out, which the caller gives to audit_done. E_NOTFOUND, E_SCHEMA, E_CONFLICT. */
int audit_run(
	const struct model *m, const struct audit_opts *o, struct audit *out, struct err *err);
void audit_done(struct audit *a); /* NULL, {0} and twice are fine */

/* What an element may carry, in A; of a UPS in W. NaN when no limit is known. */
double audit_limit(const struct audit *a, uint32_t element, bool failover);
/* "feed 'A1'", "outlet 'pdu-a/3'", "normal operation". */
const char *audit_name(struct arena *a, const struct model *m, struct audit_subject what);
/* What a name means: "A1", "pdu-a/2" (a bank or an outlet), a UPS, a panel, a cooling unit. */
int audit_find(const struct model *m, const char *name, struct audit_subject *out, struct err *err);
