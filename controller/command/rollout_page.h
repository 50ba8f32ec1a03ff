/*
 * rollout_page - one node of a rollout for a person who has to act: why it is where it is, how it
 * stands now, what happened, what was found, and numbered commands to look, to mend, to try again
 * and to give it back. Nothing else need be known.
 */
#pragma once

#include "controller/command/rollout_past.h"

#define REMEDIES_MAX 24

struct remedy {
	enum text_key part; /* RO_DO_LOOK ... */
	const char *command;
	enum text_key why;
};

struct rollout_page {
	const struct rollout_past *p;
	const struct past_node *n;
	const struct node_row *node; /* NULL: the inventory has it no longer */
	struct rollout_moves moves;
	struct rollout_orders orders;
	struct rollout_events events;
	struct evidence_rows evidence;
	const char **telling; /* of each file: lines, or NULL when it cannot be read */
	json_t *fence;        /* what the scheduler said before us; NULL: nothing */
	bool seen[STATE_N];   /* it was in that state */
	struct node_rows all;
};

/* n is of p; texts live in a. */
int rollout_page_load(struct store *s, struct arena *a, const struct rollout_past *p,
	const struct past_node *n, struct rollout_page *out, struct err *err);
void rollout_page_done(struct rollout_page *g);

void rollout_page_text(
	const struct rollout_page *g, struct arena *a, enum text_lang lang, struct buf *out);
json_t *rollout_page_json(const struct rollout_page *g, struct arena *a); /* new reference */

/* What to do, in order; how many. */
size_t rollout_remedies(
	const struct rollout_page *g, struct arena *a, struct remedy out[static REMEDIES_MAX]);
/* Text for people, which is not told elsewhere: no facts, no journal, no list of the files. */
bool rollout_page_is_log(const struct evidence_row *e);
/* The scheduler's jobs are kept off it by us, or it was so when it came to rest. */
bool rollout_page_is_ours(const struct rollout_page *g);
/* It was closed by somebody else before us. */
bool rollout_page_is_foreign(const struct rollout_page *g);
/* Where the change is on its disk, and its restart, as words. */
enum text_key rollout_page_disk(const struct rollout_page *g);
