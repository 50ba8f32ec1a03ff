/* html_audit_priv - the page of an audit: the site's part writes racks one after another. */
#pragma once

#include "inventory/report/html.h"
#include "inventory/report/view.h"

/* A rack's section, with its own id: "rack-3". */
void html_audit_rack(
	const struct html *h, const struct audit_report *r, const struct audit_rack *of);
/* What does not pass, the worst first: scenario, arithmetic, what was assumed, what helps. */
void html_audit_findings(const struct html *h, const struct audit *a, size_t first, size_t n);
/* Rules that hold, a row each. */
void html_audit_passed(const struct html *h, const struct audit *a, size_t first, size_t n);
