/*
 * page - one text for a manual page in roff and for the terminal in 80 columns.
 *
 * Texts are plain; what is `like this` is bold in roff and stays as it is elsewhere.
 */
#pragma once

#include "agent/base/buf.h"

struct page {
	struct buf *out;
	bool roff;
};

/* "stoika-step-file", 7, "a file's bytes and mode". */
void page_begin(const struct page *p, const char *name, int section, const char *about);
void page_section(const struct page *p, const char *title);
void page_subsection(const struct page *p, const char *title);
/* Paragraphs, an empty line between two. */
void page_text(const struct page *p, const char *text);
/* A term and what it means, set in. */
void page_item(const struct page *p, const char *term, const char *about);
/* Lines as they are, set in. */
void page_code(const struct page *p, const char *lines);
/* Markdown of the plain kind: # ## headings, paragraphs, - items, | tables |, code set in by four.
 */
void page_markdown(const struct page *p, struct str text);
