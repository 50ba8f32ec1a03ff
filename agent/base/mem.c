/* mem.c - thin wrappers over the heap; the only place that decides what out-of-memory means. */
#include "agent/base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs are idempotent and the database is crash-safe, so stopping here loses nothing. */
static _Noreturn void give_up(void)
{
	static const char text[] = "out of memory\n";

	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	abort();
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		give_up();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		give_up();
	return p;
}

void *xrealloc(void *p, size_t n)
{
	void *q = realloc(p, n ? n : 1);

	if (!q)
		give_up();
	return q;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	const size_t len = strnlen(s, n);
	char *p;

	if (len == SIZE_MAX)
		give_up();
	p = xmalloc(len + 1);
	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	char *p = NULL;
	va_list ap;

	va_start(ap, fmt);
	const int n = vasprintf(&p, fmt, ap);
	va_end(ap);
	if (n < 0 || !p)
		give_up();
	return p;
}

void mem_free_ptr(void *p)
{
	void *victim;

	/* p is a pointer to some kind of pointer; copying keeps the aliasing rules. */
	memcpy(&victim, p, sizeof victim);
	free(victim);
	memset(p, 0, sizeof victim);
}

void mem_close_fd(int *fd)
{
	const int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}
