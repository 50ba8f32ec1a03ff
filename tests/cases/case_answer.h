/* case_answer - the parts of audit cases about fixes and fitting. */
#pragma once

#include "inventory/audit/audit.h"
#include "tests/cases/cases.h"

/* want: a list; the fixes of the audit's first rack. */
void case_fixes(struct tally *t, const char *name, const struct yaml_node *want,
	const struct audit *audit, const struct audit_opts *o);
/* want: {type, count, total, limit, ...}; of the first rack and the site. */
void case_fit(struct tally *t, const char *name, const struct yaml_node *want,
	const struct model *m, const struct audit_opts *o);
