/* fix_priv - a rack being repaired, for the kinds that need files of their own. */
#pragma once

#include "inventory/audit/change.h"

struct fix_score {
	enum audit_verdict rack;
	unsigned at_worst; /* findings at the rack's verdict */
	unsigned others;   /* sum of the verdicts of other racks, WARN not counted */
	unsigned site;     /* failures of the site */
};

struct fixer {
	struct arena *arena;
	const struct audit *audit; /* of the whole */
	const struct audit_opts *o;
	size_t rack; /* of the whole */
	struct part part;
	struct audit now; /* of the part as it is */
	struct fix_score before;
	bool judged; /* whole is known, for a move to judged_to */
	size_t judged_to;
	struct fix_score whole; /* of the whole as it is */
	bool alone;             /* nothing is shared above the feeds: the part says all */
	struct audit_fixes *out;
};

struct fix_score fix_judge(const struct audit *a, size_t rack);
int fix_audit(const struct fixer *k, const struct model *m, struct audit *out);
/* Whether a change of the part makes its rack better. */
bool fix_helps(struct fixer *k, const struct change *c, struct fix_score *now);
/* Confirms on the whole and adds; false when it does not hold there. */
bool fix_offer(
	struct fixer *k, const struct change *c, const struct fix_score *now, struct audit_fix f);
struct audit_fix fix_about(const struct fixer *k, const char *text);
struct change fix_change(const struct fixer *k, enum fix_kind kind);

void fix_try_cords(struct fixer *k);
void fix_try_racks(struct fixer *k);
void fix_try_removal(struct fixer *k);
