/*
 * html - the parts of a page: its frame and style, tables, badges. Escapes what is text.
 *
 * Pages need nothing from outside, no script, and print on A4.
 */
#pragma once

#include "agent/base/buf.h"
#include "inventory/report/text.h"

struct html {
	struct buf *out;
	enum text_lang lang;
};

void html_begin(const struct html *h, const char *title);
void html_end(const struct html *h);
void html_text(const struct html *h, const char *text);
/* <p class="...">text</p>; element as "p", class NULL: none. */
void html_element(const struct html *h, const char *element, const char *class, const char *text);
void html_heading(const struct html *h, unsigned level, enum text_key key);
void html_badge(const struct html *h, enum audit_verdict v);

/* A table with its heads; classes by column ("num" for figures), NULL: none. */
struct html_column {
	enum text_key head;
	const char *class;
};
void html_table(const struct html *h, const struct html_column *columns, unsigned n);
void html_table_end(const struct html *h);
void html_row(const struct html *h, const char *class);
void html_row_end(const struct html *h);
void html_cell(const struct html *h, const char *class, const char *text);
void html_cell_verdict(const struct html *h, enum audit_verdict v);
