/*
 * rollout_watch - a rollout while it goes on, seen from beside its driver by the rows of the store.
 *
 * On a terminal a block of lines that is drawn anew: the whole, a bar for each stage, what is
 * waited for and which limit holds, who failed. Elsewhere a line a move, or with JSON an object a
 * line: {at, node, from, event, to, why, hint}, and {at, rollout, state, paused, reason} for the
 * whole.
 */
#pragma once

#include "controller/command/rollout_past.h"

/* Until it ends or nobody drives it. The exit code, negative with err. */
int rollout_watch(
	struct store *s, const struct run_row *r, const struct report_opts *o, struct err *err);
/* The block, at most rows lines of o->width characters. */
void rollout_watch_lines(
	const struct rollout_past *p, const struct report_opts *o, unsigned rows, struct buf *out);
/* That block on the terminal, in the place of the *drawn lines of the one before. */
void rollout_watch_draw(const struct rollout_past *p, const struct report_opts *o, unsigned *drawn);
/* A move as a line. */
void rollout_watch_move(
	struct buf *out, enum text_lang lang, const char *node, const struct rollout_move *m);
