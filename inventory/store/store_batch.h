/*
 * store_batch - many rows by one statement.
 *
 * A CHECK with a list of words and a RETURNING each open a table of their own per
 * statement; so 32 rows go by one. Statements are made at first use.
 */
#pragma once

#include "inventory/store/store_priv.h"

#define BATCH_ROWS 32

struct batch {
	enum model_noun noun; /* its statements' place in PART_BATCH */
	/* "INSERT INTO t (a, b, ord) VALUES ", "(?, ?, ?)", " ON CONFLICT ... " or "" */
	void (*sql)(const struct batch *b, struct buf *head, struct buf *tuple, struct buf *tail);
	/* Row i, from column *col on, which moves on. */
	void (*bind)(struct put *p, const struct batch *b, struct query *q, int *col, size_t i);
	size_t n;
	const bool *skip; /* rows that are there already; NULL: none */
	int64_t *ids;     /* gets the ids; NULL: nobody asks */
	bool update;      /* tail ends in RETURNING id, ord; else the table only grows */
};
int put_batch(struct put *p, const struct batch *b, struct err *err);
