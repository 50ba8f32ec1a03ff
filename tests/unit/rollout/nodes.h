/*
 * nodes - simulated nodes for tests of rollouts: each with an agent, a state and a journal in
 *files.
 *
 * DIR/NODE.set is the installed set ("A" without the file), DIR/NODE.boot its boot number,
 * DIR/NODE.run.RUN what became of a run that acted, DIR/NODE.log a line "RUN MODE" for each order
 * that was begun (not for those that were only asked after). DIR/NODE.does has words on how it
 * behaves:
 *
 *	reboots        its apply restarts it; asked not to, it waits for the scheduler
 *	stays-down     ... and it never answers again
 *	apply-fails    a step of the apply fails, half of it done
 *	check-fails    its validator fails while set B is installed
 *	undo-fails     so does the way back
 *	held           process 4711 'python3' holds a GPU
 *	no-stage       a package cannot be fetched
 *	loses-gpu      after the way back one GPU is gone
 *	silent         it cannot be reached
 *	slow           its apply takes half a second
 */
#pragma once

#include "controller/ssh/link.h"

/* For rollout_opts; dir is borrowed. One process serves each connection. */
const struct link_transport *nodes_transport(const char *dir);
/* How many orders of that mode the node began. */
unsigned nodes_count(const char *dir, const char *node, const char *mode);
/* Whether any run was begun twice on any node of those named, "" or its line. */
const char *nodes_twice(const char *dir, const char *node);
void nodes_put(const char *dir, const char *node, const char *suffix, const char *text);
/* The file's first line without its end; "" when it is not there. */
const char *nodes_get(const char *dir, const char *node, const char *suffix);
