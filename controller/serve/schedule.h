/*
 * schedule - when a node is to be looked at next. Pure: time comes from the caller.
 *
 * A node has a place of its own in each period, by the hash of its name, so that nodes
 * are spread and a restart changes nothing. One that was never looked at, or whose
 * turn passed while nobody was there, comes within the splay. A look that could not be
 * done is tried again after a minute, two, four ... but not later than the period says.
 * What falls outside of the window waits for it, and is spread there.
 */
#pragma once

#include "inventory/model/period.h"

struct schedule {
	int64_t every, splay; /* seconds; splay is at most every */
	struct window window;
};
#define SCHEDULE_EVERY INT64_C(21600) /* unless the site says otherwise */
#define SCHEDULE_SPLAY INT64_C(300)

/* From the words of a site or role; "" or NULL take the presets, as does what is no period. */
struct schedule schedule_make(const char *every, const char *window, const char *splay);

struct last_look {
	int64_t at;      /* wall seconds, 0: never */
	unsigned failed; /* looks in a row that could not be done */
};
struct moment {
	int64_t now, started; /* wall seconds; started: since when somebody looks */
	int64_t offset;       /* of local time from UTC */
};
/* Wall seconds; what is due already gives now, unless it has to wait for the window. */
int64_t next_due(
	const struct schedule *s, const char *node, struct last_look last, const struct moment *m);
