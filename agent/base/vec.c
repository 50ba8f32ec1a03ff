/* vec.c - the one function behind the macros. */
#include "agent/base/vec.h"

#include "agent/base/mem.h"

#include <stdint.h>
#include <string.h>

#define VEC_MAX    ((size_t)1 << 31)
#define FIRST_ROOM 8

void *vec_grow(void *at, size_t *n, size_t *room, size_t size)
{
	if (*n >= VEC_MAX)
		abort();
	if (*n == *room) {
		const size_t more = *room ? *room * 2 : FIRST_ROOM;
		size_t bytes;

		if (__builtin_mul_overflow(more, size, &bytes))
			abort();
		at = xrealloc(at, bytes);
		*room = more;
	}
	memset((char *)at + *n * size, 0, size);
	(*n)++;
	return at;
}
