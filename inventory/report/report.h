/*
 * report - what 'stoika list' prints: racks, nodes, runs, versions.
 *
 * Takes data, writes into a buffer, touches nothing else. An empty list is a
 * sentence for a person and [] in JSON.
 */
#pragma once

#include "inventory/audit/power.h"
#include "inventory/report/table.h"
#include "inventory/store/store.h"

/* Loads of rack_loads_make for m. */
void report_racks(const struct model *m, const struct rack_loads *loads,
	const struct report_opts *o, struct buf *out);
/* now: wall seconds, for "3 min ago". */
void report_nodes(
	const struct node_rows *rows, int64_t now, const struct report_opts *o, struct buf *out);
/* How a run that is a rollout stands: words for people, nodes by state for JSON (borrowed). */
struct run_standing {
	const char *text; /* NULL: the run is none */
	json_t *counts;
};
/* standings: one a row, or NULL when none is a rollout. */
void report_runs(const struct run_rows *rows, const struct run_standing *standings, int64_t now,
	const struct report_opts *o, struct buf *out);
void report_versions(
	const struct store_versions *rows, const struct report_opts *o, struct buf *out);
