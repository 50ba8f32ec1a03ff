/*
 * origin - where a piece of text came from, so that errors point into the recipe.
 *
 * Places are worked out only when there is an error: for a YAML scalar that
 * means walking its source again (quotes, escapes, folded lines, indentation).
 * Columns count characters, not bytes.
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/str.h"

struct origin {
	const char *file;   /* NULL: errors carry no place */
	unsigned line, col; /* of the first character; of a scalar, its quote or '|' */
	struct str source;  /* the whole file, for the excerpt; may be empty */
	struct str text;    /* what was taken from there; empty: what the parser is given */
	bool scalar;        /* text is a YAML scalar of source */
};

/* An error at a byte of o->text (its end is allowed). */
int origin_err(const struct origin *o, const char *at, struct err *err, enum ec code,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Gives an error that is already set the place of a byte of o->text; returns -err->code. */
int origin_place(const struct origin *o, const char *at, struct err *err);
