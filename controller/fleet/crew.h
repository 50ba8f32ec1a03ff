/*
 * crew - nodes that are called up one by one: many orders under way at once, each for one node.
 *
 * What fleet_run does for a set and one order, a crew does node by node, over one loop and one set
 * of links, for a rollout. Every order is part of a run NAME-MODE or NAME-MODE-K of the store (K
 * from 2: tries), made when its first node is called; so journals on nodes, results, events,
 * attach and resume are those of any run. Leases are taken under the crew's own name, when the
 * first order is given, and stay until crew_release: no other run comes between two orders.
 *
 * done is called between turns of the loop only, so anything may be called from it; event and
 * evidence come while links are served, and crew_call, crew_drop and crew_release may be called
 * from them too.
 */
#pragma once

#include "controller/fleet/fleet.h"

struct crew;

struct crew_opts {
	const char *name; /* of the rollout: leases and the names of runs */
	const struct pack_recipe *recipes;
	unsigned n_recipes;
	json_t *params; /* as in fleet_opts */
	const struct secrets *secrets;
	const char *nodes_text, *by;
	int64_t connect_timeout, patience, silence; /* ns, 0: as in fleet_opts */
	bool reboot_asked; /* nodes say that they are to be restarted, and who holds the fence does
			      it */
	const char *kex;
	const struct link_transport *transport; /* NULL: SSH */
	void *ctx;
	/* node: index in nodes. A record of the node's run as it comes. Beside those of agents:
	   {ev: "rebooting", within} and {ev: "back", boot_id} once it answers with another boot id
	   than it had, {ev: "up", boot_id} as long as it answers with the old one. */
	void (*event)(void *ctx, size_t node, enum order_mode mode, const json_t *record);
	/* The order has ended. facts: of ORDER_FACTS, borrowed, else NULL. */
	void (*done)(void *ctx, size_t node, enum order_mode mode, const struct node_result *result,
		const json_t *facts);
	/* A file of ORDER_EVIDENCE. */
	void (*evidence)(void *ctx, size_t node, const char *name, struct str bytes);
};

/*
 * Ends what a killed controller left (fleet_recover) and takes the lock of the name, E_BUSY when
 * another controller drives it, until crew_close. So the rollout's own row is added, or opened
 * again, behind it, and ended before crew_close.
 */
int crew_open(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct crew_opts *o, struct crew **out, struct err *err);
/*
 * Gives the node its order; done is called later, also for what fails at once, never from within.
 * One order a node at a time, and each mode and try once (else E_STATE). try: from 1. again: this
 * very order was given by a controller that died, or dropped: what came of it is asked for first
 * (attach), and it is given only if the node knows of none; a restart that was announced is waited
 * for. reboot_wait: ns, 0: as the step says.
 */
int crew_call(struct crew *c, size_t node, enum order_mode mode, unsigned try, bool again,
	int64_t reboot_wait, struct err *err);
/* Gives up what the node does now: its link is closed, done comes with RESULT_INTERRUPTED. */
void crew_drop(struct crew *c, size_t node);
/* The lease goes. */
int crew_release(struct crew *c, size_t node, struct err *err);
/*
 * Runs the loop until tick, called at least every 100 ms and after each done, says false. What is
 * under way then stays under way on the nodes. Signals end it in order too: *stopped.
 */
int crew_run(struct crew *c, bool (*tick)(void *ctx), void *ctx, bool *stopped, struct err *err);
/* An operation of the caller's in the crew's open group of writes; committed within 100 ms, and
 * before any order is given that follows from it. */
int crew_begin_write(struct crew *c, struct err *err);
/* Commits what is open now. */
int crew_commit(struct crew *c, struct err *err);
/* Ends the store's runs: done, failed, or interrupted when orders are under way; those are told to
 * nobody, and go on by themselves. All leases go. c is no more, also after an error. */
int crew_close(struct crew *c, struct err *err);
