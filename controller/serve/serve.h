/*
 * serve - the daemon: looks at nodes when their turn comes, for as long as it is let.
 *
 * One per database (a lock file beside it). It holds no transaction between looks, and
 * takes the same leases as any command, so both may work beside each other. What was
 * looked at is in the store, so a killed daemon goes on where it was. SIGTERM and SIGINT
 * end it in order, also within a look; SIGHUP looks at the schedule anew at once (it is
 * read from the inventory before each turn anyway). Log lines go to stderr.
 */
#pragma once

#include "controller/serve/look.h"

struct serve_opts {
	const char *by;
	unsigned parallel;
	bool once;     /* look at all that are due now, without splay, and end */
	bool rollouts; /* unless once: drive on those that lost their driver */
};
/* 0 after SIGTERM, or with once when all was looked at; E_BUSY when one serves already. */
int serve_run(struct store *s, const struct keys *k, const struct serve_opts *o, struct err *err);

/* When each node that has recipes is due; started: wall seconds. */
struct turn {
	const struct node_row *node;
	int64_t last, due; /* wall seconds; last 0: never */
	unsigned failed;
};
struct turns vec(struct turn);
/* Soonest first. Rows live in a. */
int serve_turns(struct store *s, struct arena *a, int64_t started, struct node_rows *rows,
	struct turns *out, struct err *err);
