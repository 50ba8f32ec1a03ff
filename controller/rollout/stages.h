/*
 * stages - the states of one node in a rollout, and the only ways between them.
 *
 * One table, written so that it can be drawn: facts/recipes, section 2.1. What is
 * not in it cannot happen: no node returns whose validators did not pass, and one
 * that did not come back from its reboot is never handed on.
 */
#pragma once

#include <stdbool.h>

struct buf;

enum node_state {
	STATE_ELIGIBLE,  /* in the set; nothing was done */
	STATE_PREFLIGHT, /* looked at, nothing changed */
	STATE_STAGED,    /* packages are there, nothing installed */
	STATE_CORDONED,  /* takes no new jobs */
	STATE_WAIT_JOBS, /* until what runs has ended */
	STATE_DRAINED,
	STATE_QUIESCED,  /* nobody holds the GPUs */
	STATE_INSTALLED, /* the new set is on the disk */
	STATE_REBOOTING,
	STATE_SERVICES, /* they come up again */
	STATE_VERIFY,   /* validators */
	STATE_RETURNED, /* given back to its scheduler */
	STATE_SOAK,
	STATE_DONE,
	STATE_REJECTED, /* preflight said no: nothing was changed */
	STATE_RELEASED, /* drained in vain, given back unchanged */
	STATE_ROLLBACK,
	STATE_UNDONE,      /* the earlier set, proven, given back */
	STATE_QUARANTINED, /* stays drained, with its evidence: a person is needed */
	STATE_UNREACHABLE, /* did not come back */
	STATE_ABORTED,
	STATE_N
};

enum node_event {
	EVENT_OK,
	EVENT_FAILED,
	EVENT_TIMEOUT,
	EVENT_ABORT, /* a person's; only where turning back is safe */
	EVENT_SKIP,  /* the step is not needed: no reboot, no scheduler */
	EVENT_N
};

struct node_edge {
	enum node_state from;
	enum node_event on;
	enum node_state to;
	const char *why;
};

extern const struct node_edge NODE_EDGES[]; /* ended by why NULL */
extern const char *const NODE_STATES[], *const NODE_EVENTS[];

/* STATE_N: there is no such way. */
enum node_state node_next(enum node_state from, enum node_event on);
bool node_is_terminal(enum node_state s);
/* The scheduler is kept off the node in this state. */
bool node_is_fenced(enum node_state s);
/* The table as a Graphviz drawing. */
void node_draw(struct buf *out);
