/*
 * merge_toml - TOML 1.0 as nodes: who defined a table, and where its section stands.
 *
 * merge_toml_read.c reads, merge_toml.c edits.
 */
#pragma once

#include "agent/step/merge_doc.h"

enum toml_form {
	TOML_IMPLICIT, /* only named by a header below it */
	TOML_HEADER,   /* [a.b], [[a.b]] items, and the root */
	TOML_DOTTED,   /* made by a.b = ... */
	TOML_INLINE,   /* { } or [ ] */
	TOML_TABLES    /* a list of [[a.b]] */
};

/* A header and the lines below it; the root's has no header. */
struct toml_section {
	struct merge_node *table, *last; /* the last key of it, or NULL */
	size_t from, head_to;            /* the header's line */
	struct toml_section *next;
};

int merge_toml_read(struct merge_doc *d, struct err *err);
/* Behind blanks, newlines and comments. */
size_t merge_toml_skip(const struct merge_doc *d, size_t at);
