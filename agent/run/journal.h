/*
 * journal - STATE/runs/RUN.journal: what a run meant to do and what it did.
 *
 * Opened lazily at the first record that must be durable; an unchanged run
 * writes one end record without fsync. Reading tolerates a torn last line.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/json.h"

struct err;
struct journal;

int journal_open(int state, const char *run, struct journal **out, struct err *err);
void journal_close(struct journal *j);
/* Adds seq and at to record, appends it; durable: fdatasync before returning. */
int journal_add(struct journal *j, json_t *record, bool durable, struct err *err);

/* Calls see for each record with seq > after. E_NOTFOUND when there is no such run. */
int journal_read(int state, const char *run, int64_t after,
	int (*see)(void *ctx, const json_t *record, struct err *err), void *ctx, struct err *err);

/* What an unfinished earlier run left: its id, the step it was in, handlers still due. */
struct journal_left {
	const char *run, *recipe, *step; /* NULL when there is none */
	unsigned n_handlers;
	struct {
		const char *recipe, *handler;
	} handlers[32];
};
int journal_unfinished(int state, struct arena *a, struct journal_left *out, struct err *err);
/* Removes the oldest beyond keep. */
int journal_trim(int state, unsigned keep, struct err *err);

/* The node's lock: one run at a time. E_BUSY with the holder in *holder (new reference). */
int journal_lock(int state, const json_t *holder, int *fd, json_t **other, struct err *err);
