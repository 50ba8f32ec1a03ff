/*
 * audit_report - an audit for people and for programs: terminal, JSON, HTML, Markdown, XLSX.
 *
 * All take the same data and say the same. README.md here describes the JSON. The
 * HTML page needs nothing from outside and prints: a page break before each rack.
 */
#pragma once

#include "inventory/audit/fix.h"
#include "inventory/report/table.h"

/* All borrowed. */
struct audit_report {
	const struct audit *audit;
	const struct audit_fix *fixes; /* of any racks, in any order */
	size_t n_fixes;
	const char *when; /* "2026-11-30 17:00 UTC"; NULL: not printed */
};

/* For a terminal; with o->json as JSON. */
void report_audit(const struct audit_report *r, const struct report_opts *o, struct buf *out);
void report_audit_json(const struct audit_report *r, struct buf *out);
void report_audit_html(const struct audit_report *r, enum text_lang lang, struct buf *out);
void report_audit_md(const struct audit_report *r, enum text_lang lang, struct buf *out);
/* Replaces the file as a whole. E_IO and the like. */
int report_audit_xlsx(
	const struct audit_report *r, enum text_lang lang, const char *path, struct err *err);

enum report_kind {
	REPORT_HTML,
	REPORT_MD,
	REPORT_XLSX,
	REPORT_JSON
};
/* Any of them into a file, relative to the working directory or absolute. */
int report_audit_write(enum report_kind kind, const struct audit_report *r, enum text_lang lang,
	const char *path, struct err *err);
