/*
 * journal - STATE/runs/RUN.journal: what a run meant to do and what it did.
 *
 * The file is made at the first record that must be durable; its start record
 * goes first, records added before follow. From then on STATE/runs/unfinished
 * is a link to it, until it ends with nothing left to do. As long as a run has
 * not ended, its order lies beside it as RUN.order (0600), so that it can be gone
 * on with. An unchanged run writes its end record without fsync. Readers pass
 * over half a line.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/json.h"

struct err;
struct journal;

/*
 * start becomes the first record (seq 1) of a file that has to be durable; a
 * reference is kept. state -1: records are numbered and dated, never written.
 * E_EXISTS when this run was already executed here.
 */
int journal_open(int state, const char *run, json_t *start, struct journal **out, struct err *err);
/* The journal of a run that never ended, to go on with it: half a line at its end is cut off. */
int journal_reopen(int state, const char *run, struct journal **out, struct err *err);
/* What goes into RUN.order with the first durable record; a reference is kept. */
void journal_keep_order(struct journal *j, json_t *papers);
/* What was kept; E_NOTFOUND when there is nothing. A new reference. */
int journal_read_order(int state, const char *run, json_t **papers, struct err *err);
/* The sequence number of the last record. */
int64_t journal_seq(const struct journal *j);
/* Frees it; what was not made durable or ended is lost on purpose. */
void journal_close(struct journal *j);
/* Adds seq and at to record, appends it; durable: fdatasync before returning. */
int journal_add(struct journal *j, json_t *record, bool durable, struct err *err);
/* True once the file exists and the link names it. */
bool journal_is_durable(const struct journal *j);
/*
 * The last record. left: handlers are still due, so the link must stay.
 * Durable when the journal is; then the link is removed.
 */
int journal_end(struct journal *j, json_t *record, bool left, struct err *err);

/* Calls see for each record with seq > after. E_NOTFOUND when there is no such run. */
int journal_read(int state, const char *run, int64_t after,
	int (*see)(void *ctx, const json_t *record, struct err *err), void *ctx, struct err *err);

/* Record by record, also of a run that still writes. */
struct journal_reader;
int journal_reader_open(
	int state, const char *run, int64_t after, struct journal_reader **out, struct err *err);
/* 1: *record is a new reference; 0: no whole record there now; negative: E_IO, E_LIMIT. */
int journal_reader_next(struct journal_reader *r, json_t **record, struct err *err);
void journal_reader_close(struct journal_reader *r);

struct journal_due {
	const char *recipe, *handler;
};

/* What an unfinished earlier run left: its id, the step it was in, handlers still due. */
struct journal_left {
	const char *run;           /* NULL: nothing is left */
	const char *recipe, *step; /* where it was; NULL when between steps or ended */
	bool ended;                /* it came to its end; then only handlers can be left */
	unsigned n_handlers;
	struct journal_due *handlers;
};
int journal_unfinished(int state, struct arena *a, struct journal_left *out, struct err *err);
/* Removes the link when it names run and the run is superseded. */
int journal_forget_unfinished(int state, const char *run, struct err *err);
/* Removes the oldest beyond keep, never the unfinished one; and orders that nobody goes on with. */
int journal_trim(int state, unsigned keep, struct err *err);

/* The node's lock: one run at a time. E_BUSY with the holder in *other (new reference, may be
 * NULL). holder is written into the file; the lock lives as long as a descriptor is open. */
int journal_lock(int state, const json_t *holder, int *fd, json_t **other, struct err *err);
/* Writes another holder into a lock that is held. */
int journal_lock_tell(int fd, const json_t *holder, struct err *err);
/* 1 and the holder (new reference, may be NULL) when somebody holds it, else 0. */
int journal_lock_holder(int state, json_t **other, struct err *err);
