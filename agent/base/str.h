/* str - a view of bytes that somebody else owns; not NUL-terminated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	const char *p;
	size_t n;
};

#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p
#define STR_NONE   ((size_t)-1)
#define STR_LIT(l) ((struct str){(l), sizeof(l) - 1})

struct str str_of(const char *z); /* NULL gives the empty view */
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *z);
bool str_starts(struct str s, const char *z);
bool str_ends(struct str s, const char *z);
size_t str_find(struct str s, char c); /* STR_NONE if absent */
size_t str_find_str(struct str s, struct str what);
struct str str_first(struct str s, size_t n); /* the first n, or all */
struct str str_from(struct str s, size_t at); /* what follows, maybe empty */
struct str str_trim(struct str s);            /* ASCII blanks at both ends */
/* Cuts s at the first sep: what stands before it, the rest stays in *s. False at the end, so "a,b,"
 * has two parts and "" has none. */
bool str_next(struct str *s, char sep, struct str *part);
/* Cuts one line without its \n (and \r); false at the end. */
bool str_line(struct str *s, struct str *line);

bool str_to_u64(struct str s, uint64_t *v); /* decimal, whole view, no sign, no overflow */
bool str_to_i64(struct str s, int64_t *v);
bool str_to_f64(struct str s, double *v);          /* finite, C locale, whole view */
bool str_is_utf8(struct str s);                    /* valid, shortest form, no NUL */
struct str str_first_utf8(struct str s, size_t n); /* at most n bytes, no character cut in two */
size_t str_utf8_length(struct str s); /* bytes of the first character; 0: none, or broken */
/* The same, but 0 also for what must not reach a terminal: control characters, bidi controls. */
size_t str_printable_length(struct str s);
bool str_is_name(struct str s); /* [A-Za-z0-9][A-Za-z0-9._-]*, <= 64 */
