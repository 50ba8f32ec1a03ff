/* arena - memory of one unit of work (a recipe, a run, a request), freed at once. */
#pragma once

#include "agent/base/str.h"

struct arena; /* not shared between threads */

struct arena *arena_new(void);
void arena_free(struct arena *a);                    /* NULL is fine */
void *arena_alloc(struct arena *a, size_t n);        /* zeroed, aligned for any type */
char *arena_strdup(struct arena *a, const char *s);  /* NULL gives NULL */
struct str arena_str(struct arena *a, struct str s); /* a copy, NUL-terminated behind */
char *arena_text(struct arena *a, struct str s);     /* the same as a C string */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t arena_used(const struct arena *a); /* bytes handed out */
