/*
 * vec - a growing array of any type, as a few macros.
 *
 *	struct vec(struct node) nodes = VEC_INIT;   or with a tag: struct node_rows vec(struct
 *node_row); *vec_push(&nodes) = (struct node){...};     pointer to the new, zeroed element vec_each
 *(&nodes, struct node, it) ...      it is a pointer vec_done(&nodes);
 *
 * Pointers into a vec are valid until the next push.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>

#define vec(type)               \
	{                       \
		type *at;       \
		size_t n, room; \
	}
#define VEC_INIT           \
	{                  \
		NULL, 0, 0 \
	}
#define vec_push(v) \
	((v)->at = vec_grow((v)->at, &(v)->n, &(v)->room, sizeof *(v)->at), &(v)->at[(v)->n - 1])
#define vec_each(v, type, it) for (type *it = (v)->at; it && it < (v)->at + (v)->n; it++)
#define vec_done(v)           (free((v)->at), (v)->at = NULL, (v)->n = 0, (v)->room = 0)
#define vec_sort(v, cmp)                                              \
	do {                                                          \
		if ((v)->n > 1)                                       \
			qsort((v)->at, (v)->n, sizeof *(v)->at, cmp); \
	} while (0)

/* Room for one more element of size bytes, zeroed, and *n one larger; aborts past 2^31 elements. */
void *vec_grow(void *at, size_t *n, size_t *room, size_t size);
