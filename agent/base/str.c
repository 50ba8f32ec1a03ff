/* str.c - everything here is total: any bytes are fine, nothing allocates, no locale matters. */
#include "agent/base/str.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX   64 /* longest decimal number that is read */
#define NAME_MAX_LEN 64

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct str str_of(const char *z)
{
	return z ? (struct str){z, strlen(z)} : (struct str){"", 0};
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *z)
{
	return str_eq(a, str_of(z));
}

bool str_starts(struct str s, const char *z)
{
	const size_t n = strlen(z);

	return s.n >= n && str_eq(str_first(s, n), (struct str){z, n});
}

bool str_ends(struct str s, const char *z)
{
	const size_t n = strlen(z);

	return s.n >= n && str_eq(str_from(s, s.n - n), (struct str){z, n});
}

size_t str_find(struct str s, char c)
{
	const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;

	return hit ? (size_t)(hit - s.p) : STR_NONE;
}

size_t str_find_str(struct str s, struct str what)
{
	const char *hit;

	if (what.n == 0)
		return 0;
	hit = s.n ? memmem(s.p, s.n, what.p, what.n) : NULL;
	return hit ? (size_t)(hit - s.p) : STR_NONE;
}

struct str str_first(struct str s, size_t n)
{
	return (struct str){s.p, n < s.n ? n : s.n};
}

struct str str_from(struct str s, size_t at)
{
	if (at >= s.n)
		return (struct str){s.n ? s.p + s.n : "", 0};
	return (struct str){s.p + at, s.n - at};
}

struct str str_trim(struct str s)
{
	while (s.n && is_blank(s.p[0]))
		s.p++, s.n--;
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool str_next(struct str *s, char sep, struct str *part)
{
	const size_t at = str_find(*s, sep);

	if (s->n == 0)
		return false;
	*part = str_first(*s, at);
	*s = at == STR_NONE ? str_from(*s, s->n) : str_from(*s, at + 1);
	return true;
}

bool str_line(struct str *s, struct str *line)
{
	if (!str_next(s, '\n', line))
		return false;
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

bool str_to_u64(struct str s, uint64_t *v)
{
	uint64_t sum = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!is_digit(s.p[i]) || __builtin_mul_overflow(sum, 10u, &sum) ||
			__builtin_add_overflow(sum, (uint64_t)(s.p[i] - '0'), &sum))
			return false;
	}
	*v = sum;
	return true;
}

bool str_to_i64(struct str s, int64_t *v)
{
	const bool minus = s.n && s.p[0] == '-';
	uint64_t size;

	if (!str_to_u64(minus ? str_from(s, 1) : s, &size))
		return false;
	if (size > (uint64_t)INT64_MAX + (minus ? 1 : 0))
		return false;
	if (!minus)
		*v = (int64_t)size;
	else
		*v = size > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)size;
	return true;
}

static size_t count_digits(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_digit(s.p[n]))
		n++;
	return n;
}

/* -12, 12.5, 1e-3: what JSON allows, but for leading zeros. */
static bool looks_like_number(struct str s)
{
	size_t n;

	if (s.n && s.p[0] == '-')
		s = str_from(s, 1);
	n = count_digits(s);
	s = str_from(s, n);
	if (n == 0)
		return false;
	if (s.n && s.p[0] == '.') {
		n = count_digits(str_from(s, 1));
		s = str_from(s, n + 1);
		if (n == 0)
			return false;
	}
	if (s.n && (s.p[0] == 'e' || s.p[0] == 'E')) {
		s = str_from(s, 1);
		if (s.n && (s.p[0] == '+' || s.p[0] == '-'))
			s = str_from(s, 1);
		n = count_digits(s);
		s = str_from(s, n);
		if (n == 0)
			return false;
	}
	return s.n == 0;
}

bool str_to_f64(struct str s, double *v)
{
	char text[NUMBER_MAX + 1];
	/* glibc answers "C" with a static object: no allocation, nothing to free. */
	const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double d;

	if (s.n > NUMBER_MAX || !looks_like_number(s))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	d = strtod_l(text, NULL, c_locale);
	if (!isfinite(d))
		return false;
	*v = d;
	return true;
}

/* Length of the well-formed sequence at p (RFC 3629), 0 if there is none. */
static size_t sequence_length(const unsigned char *p, size_t n)
{
	const unsigned char c = p[0];
	unsigned char low = 0x80, high = 0xBF;
	size_t len;

	if (c < 0x80)
		return c != 0;
	if (c < 0xC2 || c > 0xF4)
		return 0;
	len = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
	if (c == 0xE0)
		low = 0xA0; /* shorter form exists */
	else if (c == 0xED)
		high = 0x9F; /* surrogates */
	else if (c == 0xF0)
		low = 0x90;
	else if (c == 0xF4)
		high = 0x8F; /* past U+10FFFF */
	if (n < len || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return len;
}

size_t str_utf8_length(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	return s.n ? sequence_length(p, s.n) : 0;
}

struct str str_first_utf8(struct str s, size_t n)
{
	if (n >= s.n)
		return s;
	while (n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	return str_first(s, n);
}

static uint32_t code_point(const unsigned char *p, size_t len)
{
	uint32_t c = len == 1 ? p[0] : p[0] & (0x7Fu >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3Fu);
	return c;
}

/* C0, DEL, C1 (a terminal takes U+009B for ESC [), line separators, and what reorders text. */
static bool is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F ||
	       (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

size_t str_printable_length(struct str s)
{
	const size_t len = str_utf8_length(s);

	return len && !is_harmful(code_point((const unsigned char *)s.p, len)) ? len : 0;
}

bool str_is_utf8(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;

	while (i < s.n) {
		const size_t len = sequence_length(p + i, s.n - i);

		if (len == 0)
			return false;
		i += len;
	}
	return true;
}

bool str_is_name(struct str s)
{
	if (s.n == 0 || s.n > NAME_MAX_LEN || !is_alnum(s.p[0]))
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '.' && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return true;
}
