/* drift_view - reports on drift as a person reads them, and as JSON. */
#pragma once

#include "agent/base/buf.h"
#include "controller/command/session.h"
#include "inventory/report/text.h"

struct drift_style {
	enum text_lang lang;
	bool diffs; /* the heads of the diffs too */
};

/* A row per node, what differs beside it. now: wall seconds. */
void drift_view_table(const struct drift_reports *reports, int64_t now,
	const struct drift_style *style, struct buf *out);
/* "3 nodes: 1 ok, 1 drift, 1 unreachable". */
void drift_view_sum(const struct drift_reports *reports, enum text_lang lang, struct buf *out);
/* A new reference. */
json_t *drift_view_json(const struct drift_report *r);
/* By the node's name, in natural order. */
void drift_view_sort(struct drift_reports *reports);
/* 'stoika list drift [NODES]'. */
int drift_view_list(const struct invocation *inv, struct store *s, enum text_lang lang,
	struct buf *out, struct err *err);
