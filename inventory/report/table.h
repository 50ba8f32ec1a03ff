/*
 * table - rows of text for a person, or the same rows as JSON.
 *
 * On a terminal a table fits its width: columns marked COL_TRUNC or COL_WRAP give
 * way. Elsewhere nothing is cut. Text is made printable on the way in.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/json.h"
#include "inventory/report/text.h"

enum column_flags {
	COL_RIGHT = 1, /* numbers */
	COL_TRUNC = 2,
	COL_WRAP = 4
};

struct column {
	const char *key; /* of the JSON object */
	enum text_key head;
	unsigned flags;
};

struct report_opts {
	bool json;
	unsigned width; /* of the terminal; 0: not a terminal, nothing is cut */
	enum text_lang lang;
};

struct table;

struct table *table_new(const struct column *columns, unsigned n, const struct report_opts *o);
void table_free(struct table *t);
void table_row(struct table *t); /* starts the next row; its cells are empty */
/* The cell of the current row: what a person reads, and the JSON value. */
void table_text(struct table *t, unsigned col, const char *text); /* NULL or "": empty, null */
void table_int(struct table *t, unsigned col, int64_t v);
void table_num(struct table *t, unsigned col, double v, int decimals); /* NaN: "-", null */
/* Shown as text, in JSON as the value (a new reference, stolen; NULL: null). */
void table_value(struct table *t, unsigned col, const char *text, json_t *value);
/* Only in JSON: a key that has no column (the value stolen as above). */
void table_extra(struct table *t, const char *key, json_t *value);
/* JSON: an array, one object per row, and a line end. */
void table_print(struct table *t, struct buf *out);
