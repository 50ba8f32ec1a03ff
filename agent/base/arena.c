/* arena.c - blocks in a chain, each twice the last; a request too large for one gets its own. */
#include "agent/base/arena.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_FIRST ((size_t)4096)
#define BLOCK_MAX   ((size_t)1 << 20)

struct block {
	struct block *next;
	size_t used, room;
	_Alignas(max_align_t) char data[];
};

struct arena {
	struct block *blocks; /* the first is the one in use */
	size_t next_room, used;
};

struct arena *arena_new(void)
{
	struct arena *a = xcalloc(1, sizeof *a);

	a->next_room = BLOCK_FIRST;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->blocks) {
		struct block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	free(a);
}

/* calloc keeps the promise of zeroed memory, for large blocks without touching them. */
static struct block *add_block(size_t room)
{
	struct block *b;

	if (room > SIZE_MAX / 2)
		abort();
	b = xcalloc(1, sizeof *b + room);
	b->room = room;
	return b;
}

static void *take(struct arena *a, size_t n, size_t align)
{
	struct block *b = a->blocks;
	size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;

	a->used += n;
	if (b && at <= b->room && n <= b->room - at) {
		b->used = at + n;
		return b->data + at;
	}
	if (b && n > a->next_room / 4) { /* behind the current block, which still has room */
		struct block *own = add_block(n);

		own->used = n;
		own->next = b->next;
		b->next = own;
		return own->data;
	}
	b = add_block(n > a->next_room ? n : a->next_room);
	if (a->next_room < BLOCK_MAX)
		a->next_room *= 2;
	b->next = a->blocks;
	b->used = n;
	a->blocks = b;
	return b->data;
}

void *arena_alloc(struct arena *a, size_t n)
{
	return take(a, n ? n : 1, _Alignof(max_align_t));
}

char *arena_text(struct arena *a, struct str s)
{
	char *p;

	if (s.n == SIZE_MAX)
		abort();
	p = take(a, s.n + 1, 1);
	if (s.n)
		memcpy(p, s.p, s.n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_text(a, str_of(s)) : NULL;
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){arena_text(a, s), s.n};
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	AUTO_BUF out;
	va_list ap;

	buf_init(&out, SIZE_MAX);
	va_start(ap, fmt);
	buf_addv(&out, fmt, ap);
	va_end(ap);
	return arena_text(a, buf_str(&out));
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
