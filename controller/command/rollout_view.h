/*
 * rollout_view - what a person sees of a rollout that this very process drives: the block of 'run
 * watch' on a terminal, a line a move in a pipe, at the end what 'run show' shows.
 */
#pragma once

#include "controller/rollout/world.h"
#include "inventory/report/table.h"

struct rollout_view;

/* s and o are borrowed. */
struct rollout_view *rollout_view_new(struct store *s, const struct report_opts *o);
void rollout_view_free(struct rollout_view *v);

/* For rollout_opts. */
void rollout_view_began(struct rollout_view *v, const char *run);
void rollout_view_moved(
	struct rollout_view *v, const struct node_row *node, const struct drive_move *m);
void rollout_view_turn(struct rollout_view *v);

/* Prints the end to stdout, and gives the exit code that fits: 0 all are done, 3 none was changed
 * because a check said no, 4 none could be reached, else 1; negative with err. */
int rollout_view_finish(struct rollout_view *v, const struct rollout_outcome *out, struct err *err);
