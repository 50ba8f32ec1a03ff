/*
 * run_view - what a person sees of a run: progress as it goes, then per node and per answer.
 *
 * It collects what fleet_run tells. On a terminal one status line is kept up
 * to date on stderr; in a pipe each node is one line when it is done. With
 * --json nothing is shown until the one document at the end:
 *
 *	{run, mode, plan_hash, took_ms, counts {state: nodes},
 *	 nodes [{node, state, counts, plan_hash, reason, hint, took_ms, events [record]}],
 *	 groups [{nodes, plan_hash}]}
 */
#pragma once

#include "controller/fleet/fleet.h"
#include "inventory/report/text.h"

struct run_view;

struct run_view *run_view_new(enum order_mode mode, const struct node_refs *nodes, bool json);
void run_view_free(struct run_view *v);
/* What the command is called, and its option that takes the hash of a preview. */
void run_view_verb(struct run_view *v, const char *verb, const char *option);
/* What nodes say of themselves (why, reason, hint) stays as they say it. */
void run_view_lang(struct run_view *v, enum text_lang lang);

/* For fleet_opts: ctx is the view. */
void run_view_event(void *ctx, const struct node_row *node, const json_t *record);
void run_view_done(void *ctx, const struct node_row *node, const struct node_result *result);

/* Prints the end to stdout and returns the exit code that fits. settings are the --set options as
 * one types them again, each after a blank. */
int run_view_finish(struct run_view *v, const struct fleet_outcome *out, const char *recipes,
	const char *nodes, const char *settings);

/* One step, handler or check record as lines of text, with its diff; unchanged ones give nothing.
 */
void run_view_record(
	struct buf *out, const json_t *record, enum order_mode mode, enum text_lang lang);
/* A node's state as a word for text_state: nothing was changed in a plan, but "differs". */
const char *run_view_state(enum step_result r, enum order_mode mode);
/* "3 changed, 12 ok" of a node's steps. */
void run_view_counts(
	struct buf *out, const struct result_counts *c, enum order_mode mode, enum text_lang lang);
