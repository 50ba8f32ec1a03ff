/*
 * merge_want - what a merge asks of a file, key by key, and how a text becomes so.
 *
 * wants come from a step's arguments, or from what before remembered (undo).
 */
#pragma once

#include "agent/step/merge_doc.h"

#define MERGE_WANTS_MAX 2000

enum merge_op {
	MERGE_SET,
	MERGE_GONE,
	MERGE_CONTAINS, /* value: the items */
	MERGE_WITHOUT
};

struct merge_want {
	enum merge_op op;
	struct merge_path path;
	json_t *value; /* borrowed; NULL for MERGE_GONE */
	unsigned keep; /* MERGE_GONE: empty maps above it go too, but for these many parts */
	bool if_empty; /* MERGE_GONE: only a map or list with nothing in it */
};

struct merge_wants {
	struct arena *arena;
	const struct merge_format *format;
	struct merge_want *at;
	unsigned n, room;
	json_t *made; /* values that were made here */
};

/* From values, absent, lists and state. E_SCHEMA, E_CONFLICT (two of them about one key). */
int merge_wants_read(const json_t *args, struct merge_wants *w, struct err *err);
struct merge_want *merge_wants_add(struct merge_wants *w, enum merge_op op,
	const struct merge_path *path, json_t *value, struct err *err);
void merge_wants_done(struct merge_wants *w);

/* text with all wants fulfilled into out (the same bytes when they are). file is for messages. */
int merge_text(const struct merge_wants *w, const char *file, struct str text, struct buf *out,
	struct err *err);

/*
 * What is at the keys of w now, for undo: {"a.b": {...}}. It holds no value that w wants, so no
 * secret of the arguments. Text that cannot be parsed is an error.
 */
int merge_remember(const struct merge_wants *w, const char *file, struct str text, json_t *into,
	struct err *err);
/*
 * The wants that bring keys back which are still as left (what merge_remember said after the last
 * apply); *theirs: a key that somebody else changed since, or NULL. w has its format and arena.
 */
int merge_wants_back(struct merge_wants *w, const char *file, struct str text, json_t *before,
	const json_t *left, const char **theirs, struct err *err);
