/*
 * rollout_view - what a person sees of a rollout that is driven: on a terminal one line for the
 * nodes of each state, kept up to date on stderr; in a pipe one line a move; at the end a table.
 * With --json one document at the end:
 *
 *	{run, state, paused, took_ms, counts {state: nodes}, nodes [{node, state, reason, hint}]}
 */
#pragma once

#include "controller/rollout/world.h"

struct rollout_view;

struct rollout_view *rollout_view_new(bool json);
void rollout_view_free(struct rollout_view *v);

/* For rollout_opts. */
void rollout_view_began(struct rollout_view *v, const char *run, const struct node_refs *nodes,
	const struct rollout_policy *policy, const struct drive *d);
void rollout_view_moved(
	struct rollout_view *v, const struct node_row *node, const struct drive_move *m);
void rollout_view_turn(struct rollout_view *v, const struct drive *d);

/* Prints the end to stdout, and gives the exit code that fits: 0 all are done, 3 none was changed
 * because a check said no, 4 none could be reached, else 1. */
int rollout_view_finish(struct rollout_view *v, const struct rollout_outcome *out);
