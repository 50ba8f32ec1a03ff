/* buf.c - storage doubles up to the cap plus its NUL; past that the flag sticks. */
#include "agent/base/buf.h"

#include "agent/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

void buf_init(struct buf *b, size_t cap)
{
	*b = (struct buf){.cap = cap < SIZE_MAX / 2 ? cap : SIZE_MAX / 2};
}

void buf_done(struct buf *b)
{
	if (!b)
		return;
	free(b->p);
	*b = (struct buf){.cap = b->cap};
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->overflowed = false;
	if (b->p)
		b->p[0] = '\0';
}

bool buf_ok(const struct buf *b)
{
	return !b->overflowed;
}

struct str buf_str(const struct buf *b)
{
	return (struct str){buf_text(b), b->n};
}

const char *buf_text(const struct buf *b)
{
	return b->p ? b->p : "";
}

char *buf_take(struct buf *b)
{
	char *text = b->p ? b->p : xstrdup("");

	*b = (struct buf){.cap = b->cap};
	return text;
}

void *buf_room(struct buf *b, size_t n)
{
	size_t room = b->room ? b->room : FIRST_ROOM;

	if (b->overflowed || n > b->cap - b->n) {
		b->overflowed = true;
		return NULL;
	}
	while (room <= b->n + n)
		room *= 2;
	if (room > b->cap + 1)
		room = b->cap + 1;
	if (room > b->room) {
		b->p = xrealloc(b->p, room);
		b->room = room;
		b->p[b->n] = '\0';
	}
	return b->p + b->n;
}

void buf_grew(struct buf *b, size_t n)
{
	if (!b->p)
		return;
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_drop(struct buf *b, size_t n)
{
	if (!b->p)
		return;
	if (n > b->n)
		n = b->n;
	memmove(b->p, b->p + n, b->n - n + 1);
	b->n -= n;
}

void buf_cut(struct buf *b, size_t n)
{
	if (!b->p || n >= b->n)
		return;
	b->n = n;
	b->p[n] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	void *to = buf_room(b, n);

	if (!to || n == 0)
		return;
	memcpy(to, p, n);
	buf_grew(b, n);
}

void buf_add_str(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

void buf_add_text(struct buf *b, const char *z)
{
	buf_add_str(b, str_of(z));
}

void buf_add_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	char *to;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		b->overflowed = true;
		return;
	}
	to = buf_room(b, (size_t)n);
	if (!to)
		return;
	(void)vsnprintf(to, (size_t)n + 1, fmt, ap);
	buf_grew(b, (size_t)n);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

void buf_add_printable(struct buf *b, struct str s)
{
	while (s.n) {
		const size_t len = str_printable_length(s);

		if (len)
			buf_add(b, s.p, len);
		else
			buf_addf(b, "\\x%02x", (unsigned char)s.p[0]);
		s = str_from(s, len ? len : 1);
	}
}

void buf_add_xml(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		switch (s.p[i]) {
		case '&':
			buf_add_text(b, "&amp;");
			break;
		case '<':
			buf_add_text(b, "&lt;");
			break;
		case '>':
			buf_add_text(b, "&gt;");
			break;
		case '"':
			buf_add_text(b, "&quot;");
			break;
		case '\'':
			buf_add_text(b, "&#39;");
			break;
		default:
			buf_add_char(b, s.p[i]);
		}
	}
}
