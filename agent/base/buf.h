/*
 * buf - bytes that grow up to a cap.
 *
 * The cap is given at init. Past it (or on a formatting failure) the buffer turns
 * "overflowed": it keeps what it has, appends do nothing, and one check of
 * buf_ok at the end is enough. The content is always followed by a NUL.
 */
#pragma once

#include "agent/base/str.h"

#include <stdarg.h>

struct buf {
	char *p; /* never NULL after the first append; use buf_text for a C string */
	size_t n, room, cap;
	bool overflowed;
};

void buf_init(struct buf *b, size_t cap);
void buf_done(struct buf *b);  /* NULL and twice are fine */
void buf_clear(struct buf *b); /* empty again, storage kept */
bool buf_ok(const struct buf *b);
struct str buf_str(const struct buf *b);
const char *buf_text(const struct buf *b); /* NUL-terminated, "" if empty; owned by b */
char *buf_take(struct buf *b);             /* the text becomes the caller's; b is empty */

void buf_add(struct buf *b, const void *p, size_t n);
void buf_add_str(struct buf *b, struct str s);
void buf_add_text(struct buf *b, const char *z);
void buf_add_char(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Text for a terminal or a log line: control characters and broken UTF-8 as \xNN. */
void buf_add_printable(struct buf *b, struct str s);
void buf_add_xml(struct buf *b, struct str s); /* & < > " ' escaped */
/* Room for n more bytes at the end, or NULL when past the cap; then buf_grew(n) after filling. */
void *buf_room(struct buf *b, size_t n);
void buf_grew(struct buf *b, size_t n);
void buf_drop(struct buf *b, size_t n); /* forgets the first n bytes */
void buf_cut(struct buf *b, size_t n);  /* forgets all but the first n bytes */

#define AUTO_BUF __attribute__((cleanup(buf_done))) struct buf
