/* mem - heap that aborts instead of failing; every size that input decides is capped before. */
#pragma once

#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size); /* aborts on overflow too */
void *xrealloc(void *p, size_t n);    /* for buf.c and vec.h only */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void mem_free_ptr(void *p); /* for AUTO_STR: frees *(void **)p */
void mem_close_fd(int *fd); /* for AUTO_FD: closes *fd if >= 0, errno kept */
#define AUTO_STR __attribute__((cleanup(mem_free_ptr))) char *
#define AUTO_FD  __attribute__((cleanup(mem_close_fd))) int
