/*
 * warm - links that stay open, for a run that is repeated: a check every 30 seconds, the daemon.
 *
 * The first turn connects and gives each node its whole order; later ones say
 * "again" on the links that are still there, and connect the others anew. Each
 * turn is a run of its own with one row a node in the store. Orders that only
 * look take no lease between turns, so a run of others may come between.
 */
#pragma once

#include "controller/fleet/fleet.h"

struct warm;

/* nodes, o and what they point to must outlive it. */
int warm_open(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct warm **out, struct err *err);
/* One run over all nodes; as fleet_run. */
int warm_turn(struct warm *w, struct fleet_outcome *out, struct err *err);
/* How many nodes have a link that is open now. */
unsigned warm_links(const struct warm *w);
void warm_close(struct warm *w); /* NULL is fine */
