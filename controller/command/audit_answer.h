/* audit_answer - answers to --fit, --restart and of 'audit diff', for a person in 80 columns or as
 * JSON. */
#pragma once

#include "inventory/audit/diff.h"
#include "inventory/audit/fit.h"
#include "inventory/audit/restart.h"
#include "inventory/report/table.h"

struct buf;

void answer_print_fit(const struct fit *f, const struct report_opts *o, struct buf *out);
void answer_print_restart(const struct model *m, const struct restart_plan *p,
	const struct report_opts *o, struct buf *out);
void answer_print_diff(const struct audit_diff *d, const struct report_opts *o, struct buf *out);
