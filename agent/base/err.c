/* err.c - filling struct err, and the one layout in which people see it. */
#include "agent/base/err.h"

#include "agent/base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FORMAT_MAX 8192 /* every field escaped fourfold still fits */
#define SYS_ROOM   64   /* of a message, kept for what the kernel says */
#define WORD_MAX   64   /* longer words have no near name */

static const struct {
	const char *name;
	enum err_fault fault;
} codes[E_MAX] = {
	[E_SYNTAX] = {"syntax", FAULT_USER},
	[E_SCHEMA] = {"schema", FAULT_USER},
	[E_LIMIT] = {"limit", FAULT_USER},
	[E_NOTFOUND] = {"notfound", FAULT_USER},
	[E_EXISTS] = {"exists", FAULT_USER},
	[E_CONFLICT] = {"conflict", FAULT_USER},
	[E_BUSY] = {"busy", FAULT_ENVIRONMENT},
	[E_DENIED] = {"denied", FAULT_USER},
	[E_AUTH] = {"auth", FAULT_ENVIRONMENT},
	[E_HOSTKEY] = {"hostkey", FAULT_ENVIRONMENT},
	[E_NET] = {"net", FAULT_ENVIRONMENT},
	[E_TIMEOUT] = {"timeout", FAULT_ENVIRONMENT},
	[E_REMOTE] = {"remote", FAULT_ENVIRONMENT},
	[E_VERIFY] = {"verify", FAULT_ENVIRONMENT},
	[E_IO] = {"io", FAULT_ENVIRONMENT},
	[E_NOSPACE] = {"nospace", FAULT_ENVIRONMENT},
	[E_UNSUPPORTED] = {"unsupported", FAULT_USER},
	[E_CANCELLED] = {"cancelled", FAULT_USER},
	[E_STATE] = {"state", FAULT_USER},
	[E_INTERNAL] = {"internal", FAULT_US},
};

static const struct {
	int sys;
	enum ec code;
	enum err_fault fault;
} errnos[] = {
	{ENOENT, E_NOTFOUND, FAULT_USER},
	{ENOTDIR, E_NOTFOUND, FAULT_USER},
	{ESRCH, E_NOTFOUND, FAULT_ENVIRONMENT},
	{ENODEV, E_NOTFOUND, FAULT_ENVIRONMENT},
	{ENXIO, E_NOTFOUND, FAULT_ENVIRONMENT},
	{EEXIST, E_EXISTS, FAULT_USER},
	{ENOTEMPTY, E_EXISTS, FAULT_USER},
	{EISDIR, E_EXISTS, FAULT_USER},
	{EACCES, E_DENIED, FAULT_ENVIRONMENT},
	{EPERM, E_DENIED, FAULT_ENVIRONMENT},
	{EROFS, E_DENIED, FAULT_ENVIRONMENT},
	{ENOSPC, E_NOSPACE, FAULT_ENVIRONMENT},
	{EDQUOT, E_NOSPACE, FAULT_ENVIRONMENT},
	{ETIMEDOUT, E_TIMEOUT, FAULT_ENVIRONMENT},
	{ETIME, E_TIMEOUT, FAULT_ENVIRONMENT},
	{EBUSY, E_BUSY, FAULT_ENVIRONMENT},
	{EAGAIN, E_BUSY, FAULT_ENVIRONMENT},
	{ETXTBSY, E_BUSY, FAULT_ENVIRONMENT},
	{EDEADLK, E_BUSY, FAULT_ENVIRONMENT},
	{EADDRINUSE, E_BUSY, FAULT_ENVIRONMENT},
	{ECONNREFUSED, E_NET, FAULT_ENVIRONMENT},
	{ECONNRESET, E_NET, FAULT_ENVIRONMENT},
	{ECONNABORTED, E_NET, FAULT_ENVIRONMENT},
	{ENOTCONN, E_NET, FAULT_ENVIRONMENT},
	{EPIPE, E_NET, FAULT_ENVIRONMENT},
	{EHOSTUNREACH, E_NET, FAULT_ENVIRONMENT},
	{EHOSTDOWN, E_NET, FAULT_ENVIRONMENT},
	{ENETUNREACH, E_NET, FAULT_ENVIRONMENT},
	{ENETDOWN, E_NET, FAULT_ENVIRONMENT},
	{EADDRNOTAVAIL, E_NET, FAULT_ENVIRONMENT},
	{ENOSYS, E_UNSUPPORTED, FAULT_ENVIRONMENT},
	{EOPNOTSUPP, E_UNSUPPORTED, FAULT_ENVIRONMENT},
	{EPROTONOSUPPORT, E_UNSUPPORTED, FAULT_ENVIRONMENT},
	{EAFNOSUPPORT, E_UNSUPPORTED, FAULT_ENVIRONMENT},
	{EXDEV, E_UNSUPPORTED, FAULT_ENVIRONMENT},
	{ENAMETOOLONG, E_LIMIT, FAULT_USER},
	{EMFILE, E_LIMIT, FAULT_ENVIRONMENT},
	{ENFILE, E_LIMIT, FAULT_ENVIRONMENT},
	{EFBIG, E_LIMIT, FAULT_ENVIRONMENT},
	{E2BIG, E_LIMIT, FAULT_USER},
	{ELOOP, E_STATE, FAULT_ENVIRONMENT},
	{ECANCELED, E_CANCELLED, FAULT_USER},
	{EINTR, E_CANCELLED, FAULT_USER},
	{ENOMEM, E_INTERNAL, FAULT_ENVIRONMENT},
	{EINVAL, E_INTERNAL, FAULT_US},
	{EBADF, E_INTERNAL, FAULT_US},
	{EFAULT, E_INTERNAL, FAULT_US},
	{ENOTSOCK, E_INTERNAL, FAULT_US},
};

/* Formats into a field of fixed size; what does not fit ends in "...", never in half a letter. */
__attribute__((format(printf, 3, 0))) static void fill(
	char *to, size_t size, const char *fmt, va_list ap)
{
	const int n = vsnprintf(to, size, fmt, ap);
	size_t at;

	if (n < 0) {
		to[0] = '\0';
	} else if ((size_t)n >= size) {
		at = size - sizeof "...";
		while (at > 0 && ((unsigned char)to[at] & 0xC0) == 0x80)
			at--;
		memcpy(to + at, "...", sizeof "...");
	}
}

__attribute__((format(printf, 3, 4))) static void put(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(to, size, fmt, ap);
	va_end(ap);
}

static void begin(struct err *err, enum ec code)
{
	memset(err, 0, sizeof *err);
	err->code = code > 0 && code < E_MAX ? code : E_INTERNAL;
	err->fault = codes[err->code].fault;
}

int err_set(struct err *err, enum ec code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		begin(err, code);
		va_start(ap, fmt);
		fill(err->msg, sizeof err->msg, fmt, ap);
		va_end(ap);
	}
	return -(int)code;
}

static void set_sys(struct err *err, int sys)
{
	begin(err, E_IO);
	err->sys = sys;
	for (size_t i = 0; i < sizeof errnos / sizeof errnos[0]; i++) {
		if (errnos[i].sys == sys) {
			err->code = errnos[i].code;
			err->fault = errnos[i].fault;
			return;
		}
	}
}

int err_sys(struct err *err, int sys, const char *fmt, ...)
{
	struct err here;
	const char *why;
	va_list ap;
	size_t n;

	if (!err)
		err = &here;
	set_sys(err, sys);
	va_start(ap, fmt);
	fill(err->msg, sizeof err->msg - SYS_ROOM, fmt, ap);
	va_end(ap);
	n = strlen(err->msg);
	why = strerrordesc_np(sys);
	put(err->msg + n, sizeof err->msg - n, ": %s", why ? why : "unknown error");
	if (err->code == E_NOSPACE)
		put(err->hint, sizeof err->hint,
			"make room there: 'df -h' and 'df -i' show what is full");
	return -(int)err->code;
}

int err_at(struct err *err, enum ec code, const char *file, unsigned line, unsigned col,
	const char *fmt, ...)
{
	va_list ap;

	if (err) {
		begin(err, code);
		put(err->file, sizeof err->file, "%s", file ? file : "");
		err->line = line;
		err->col = col;
		va_start(ap, fmt);
		fill(err->msg, sizeof err->msg, fmt, ap);
		va_end(ap);
	}
	return -(int)code;
}

int err_hint(struct err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -E_INTERNAL;
	va_start(ap, fmt);
	fill(err->hint, sizeof err->hint, fmt, ap);
	va_end(ap);
	return -(int)err->code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char context[sizeof err->msg], old[sizeof err->msg];
	va_list ap;

	if (!err)
		return -E_INTERNAL;
	va_start(ap, fmt);
	fill(context, sizeof context, fmt, ap);
	va_end(ap);
	memcpy(old, err->msg, sizeof old);
	put(err->msg, sizeof err->msg, "%s: %s", context, old);
	return -(int)err->code;
}

void err_excerpt(struct err *err, const char *line, unsigned long n)
{
	struct str left = {line, n};
	size_t at = 0;
	unsigned col = 1;

	if (!err)
		return;
	while (left.n) {
		const size_t len = str_printable_length(left);
		const size_t step = str_utf8_length(left);

		if (at + len + 1 >= sizeof err->excerpt)
			break;
		if (left.p[0] == '\t')
			err->excerpt[at++] = ' ';
		else if (len == 0)
			err->excerpt[at++] = '?';
		memcpy(err->excerpt + at, left.p, len);
		at += len;
		left = str_from(left, step ? step : 1);
		col++;
	}
	/* A caret that cannot be placed would mislead more than no line at all. */
	err->excerpt[err->col > col ? 0 : at] = '\0';
}

static void add_place(const struct err *err, struct buf *out)
{
	if (!err->file[0])
		return;
	buf_add_printable(out, str_of(err->file));
	if (err->line)
		buf_addf(out, ":%u", err->line);
	if (err->line && err->col)
		buf_addf(out, ":%u", err->col);
	buf_add_text(out, ": ");
}

void err_format(const struct err *err, struct buf *out)
{
	add_place(err, out);
	buf_add_text(out, "error: ");
	buf_add_printable(out, str_of(err->msg));
	buf_add_char(out, '\n');
	if (err->excerpt[0]) {
		buf_add_text(out, "    ");
		buf_add_printable(out, str_of(err->excerpt));
		buf_add_char(out, '\n');
		if (err->col)
			buf_addf(out, "    %*s\n", (int)err->col, "^");
	}
	if (err->hint[0]) {
		buf_add_text(out, "hint: ");
		buf_add_printable(out, str_of(err->hint));
		buf_add_char(out, '\n');
	}
}

void err_print(const struct err *err)
{
	AUTO_BUF out;

	buf_init(&out, FORMAT_MAX);
	err_format(err, &out);
	(void)fwrite(out.p, 1, out.n, stderr);
}

const char *ec_name(enum ec code)
{
	return code > 0 && code < E_MAX ? codes[code].name : "unknown";
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b, size_t c)
{
	const size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions, substitutions and swaps of neighbours; letter case is free. */
static size_t distance(const char *a, const char *b)
{
	const size_t la = strlen(a), lb = strlen(b);
	size_t rows[3][WORD_MAX + 1]; /* of this letter of a, and the two before */

	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			const char x = lower(a[i - 1]), y = lower(b[j - 1]);

			row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
				row[j] = least(row[j], row[j], before[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

const char *err_nearest(const char *word, const char *const *names)
{
	const size_t len = strlen(word);
	/* In three letters two edits make any word of any other. */
	size_t best = len <= 3 ? 2 : len < 9 ? 3 : len / 3 + 1;
	const char *near = NULL;

	if (len == 0 || len > WORD_MAX)
		return NULL;
	for (; *names; names++) {
		size_t d;

		if (strlen(*names) > WORD_MAX)
			continue;
		d = distance(word, *names);
		/* hardly anybody misses the first letter */
		if ((d < best || (near && d == best && *near != *word && **names == *word)) &&
			d < len) {
			best = d;
			near = *names;
		}
	}
	return near;
}
