/*
 * range - how: recursive descent that evaluates as it reads, over one byte per node.
 *
 * Columns are counted in bytes from 1. Text is capped at RANGE_TEXT_MAX, nesting at
 * DEPTH_MAX, and a regular expression's repetitions too, because libc compiles
 * "(a{9999}){9999}" and "a++++++++++++" into all the memory there is.
 */
#include "controller/fleet/range.h"

#include "agent/base/arena.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_TEXT_MAX   65536
#define DEPTH_MAX        32
#define REGEX_MAX        256
#define REGEX_COPIES_MAX 1024
#define DIGITS_MAX       6

struct range {
	struct str text;
	size_t at;
	unsigned depth;
	const struct node_rows *all;
	const struct node_row **by_name; /* sorted by bytes */
	struct err *err;
};

/* One byte per node of all: 1 when it belongs. The caller's to free. */
typedef unsigned char member;

/* --- errors --- */

static int place(struct range *r, size_t at)
{
	if (r->err) {
		r->err->col = (unsigned)at + 1;
		err_excerpt(r->err, r->text.p, r->text.n);
		return -(int)r->err->code;
	}
	return -E_SYNTAX;
}

static int expected(struct range *r, const char *what)
{
	if (r->at < r->text.n)
		err_set(r->err, E_SYNTAX, "expected %s, not '%c'", what, r->text.p[r->at]);
	else
		err_set(r->err, E_SYNTAX, "expected %s at the end", what);
	return place(r, r->at);
}

/* --- reading --- */

static char peek(const struct range *r)
{
	return r->at < r->text.n ? r->text.p[r->at] : '\0';
}

static void skip_blanks(struct range *r)
{
	while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\n')
		r->at++;
}

static bool eat(struct range *r, char c)
{
	skip_blanks(r);
	if (peek(r) != c)
		return false;
	r->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '.' || c == '-';
}

/* --- names with brackets --- */

struct names vec(const char *);

/* What one pattern is made of: "gpu", [01-16,20], "-ib". */
struct part {
	struct str text; /* of a bracket: what is inside */
	size_t column;   /* of its first byte */
	bool bracket;
};
struct parts vec(struct part);

static int bad_bracket(struct range *r, size_t at, const char *what)
{
	err_set(r->err, E_SYNTAX, "%s", what);
	err_hint(r->err, "a list in brackets is like [01-16,20]");
	return place(r, at);
}

/* "01-16" or "20" or "a"; a single item has lo == hi and no width. */
struct span {
	unsigned lo, hi;
	int width;
	bool number;
};

static int parse_span(struct range *r, struct str item, size_t at, struct span *s)
{
	const size_t dash = str_find(item, '-');
	const struct str first = str_first(item, dash == STR_NONE ? item.n : dash);
	const struct str second = dash == STR_NONE ? first : str_from(item, dash + 1);
	uint64_t lo, hi;

	*s = (struct span){0};
	if (item.n == 0)
		return bad_bracket(r, at, "expected a number or a range in brackets");
	if (dash == STR_NONE && !str_to_u64(item, &lo)) {
		for (size_t i = 0; i < item.n; i++)
			if (!is_word(item.p[i]))
				return bad_bracket(r, at + i, "this cannot stand in brackets");
		return 0;
	}
	if (first.n > DIGITS_MAX || second.n > DIGITS_MAX || !str_to_u64(first, &lo) ||
		!str_to_u64(second, &hi))
		return bad_bracket(r, at, "expected a range of numbers of six digits at most");
	if (hi < lo)
		return bad_bracket(r, at, "the range runs backwards");
	*s = (struct span){(unsigned)lo, (unsigned)hi, (int)first.n, true};
	return 0;
}

/* Cuts the next item of a bracket's inside; *at is its column. */
static bool next_item(const struct part *p, size_t *used, struct str *item, size_t *at)
{
	struct str rest;
	size_t comma;

	if (*used > p->text.n)
		return false;
	rest = str_from(p->text, *used);
	comma = str_find(rest, ',');
	*item = str_first(rest, comma == STR_NONE ? rest.n : comma);
	*at = p->column + 1 + *used;
	*used = comma == STR_NONE ? p->text.n + 1 : *used + comma + 1;
	return true;
}

static int too_many(struct range *r, size_t at)
{
	err_set(r->err, E_LIMIT, "more than %d names", RANGE_NODES_MAX);
	return place(r, at);
}

/* Appends every text of bracket p to each of the names so far. */
static int expand_bracket(
	struct range *r, struct arena *a, const struct part *p, struct names *names)
{
	struct names grown = VEC_INIT;
	struct str item;
	size_t used = 0, at;
	int rc = 0;

	while (rc == 0 && next_item(p, &used, &item, &at)) {
		struct span s;

		rc = parse_span(r, item, at, &s);
		if (rc == 0 && (s.hi - s.lo + 1) * names->n + grown.n > RANGE_NODES_MAX)
			rc = too_many(r, at);
		for (size_t i = 0; rc == 0 && i < names->n; i++) {
			if (!s.number)
				*vec_push(&grown) =
					arena_printf(a, "%s" STR_FMT, names->at[i], STR_ARG(item));
			for (unsigned v = s.lo; s.number && v <= s.hi; v++)
				*vec_push(&grown) =
					arena_printf(a, "%s%0*u", names->at[i], s.width, v);
		}
	}
	vec_done(names);
	*names = grown;
	return rc;
}

static int expand(struct range *r, struct arena *a, const struct parts *parts, struct names *names)
{
	int rc = 0;

	*vec_push(names) = "";
	vec_each(parts, struct part, p) {
		if (p->bracket) {
			rc = expand_bracket(r, a, p, names);
			if (rc < 0)
				return rc;
			continue;
		}
		vec_each(names, const char *, name)
			*name = arena_printf(a, "%s" STR_FMT, *name, STR_ARG(p->text));
	}
	return rc;
}

/* Reads "gpu[01-16]-ib" at r->at into parts. */
static int read_parts(struct range *r, struct parts *parts)
{
	for (;;) {
		const size_t start = r->at;

		if (peek(r) == '[') {
			const size_t close = str_find(str_from(r->text, r->at), ']');

			if (close == STR_NONE)
				return bad_bracket(r, start, "this '[' has no ']'");
			*vec_push(parts) =
				(struct part){{r->text.p + start + 1, close - 1}, start, true};
			r->at += close + 1;
			continue;
		}
		while (is_word(peek(r)))
			r->at++;
		if (r->at == start)
			return 0;
		*vec_push(parts) = (struct part){{r->text.p + start, r->at - start}, start, false};
	}
}

/* The names that stand at r->at, expanded. */
static int read_names(struct range *r, struct arena *a, struct names *names)
{
	struct parts parts = VEC_INIT;
	int rc = read_parts(r, &parts);

	if (rc == 0)
		rc = expand(r, a, &parts, names);
	vec_done(&parts);
	return rc;
}

/* --- looking nodes up --- */

static int compare_rows(const void *a, const void *b)
{
	const struct node_row *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int compare_name(const void *key, const void *row)
{
	const struct node_row *const *r = row;

	return strcmp(key, (*r)->name);
}

static void index_names(struct range *r)
{
	r->by_name = xcalloc(r->all->n + 1, sizeof *r->by_name);
	for (size_t i = 0; i < r->all->n; i++)
		r->by_name[i] = &r->all->at[i];
	qsort(r->by_name, r->all->n, sizeof *r->by_name, compare_rows);
}

static const struct node_row *find_node(const struct range *r, const char *name)
{
	const struct node_row **row =
		bsearch(name, r->by_name, r->all->n, sizeof *r->by_name, compare_name);

	return row ? *row : NULL;
}

/* "no node 'gpu17' (and 3 more)", with the nearest name there is. */
static int no_such_node(struct range *r, size_t at, const char *name, size_t missing)
{
	const char **names = xcalloc(r->all->n + 1, sizeof *names);
	const char *near;

	for (size_t i = 0; i < r->all->n; i++)
		names[i] = r->all->at[i].name;
	near = err_nearest(name, names);
	if (missing > 1)
		err_set(r->err, E_NOTFOUND, "there is no node '%s', nor %zu others of these", name,
			missing - 1);
	else
		err_set(r->err, E_NOTFOUND, "there is no node '%s'", name);
	if (near)
		err_hint(r->err, "did you mean '%s'?", near);
	else
		err_hint(r->err, "'stoika list nodes' shows all");
	free(names);
	return place(r, at);
}

static int take_names(struct range *r, size_t at, const struct names *names, member *out)
{
	const char *first = NULL;
	size_t missing = 0;

	vec_each(names, const char *, name) {
		const struct node_row *row = find_node(r, *name);

		if (row)
			out[row - r->all->at] = 1;
		else if (missing++ == 0)
			first = *name;
	}
	return missing ? no_such_node(r, at, first, missing) : 0;
}

static int read_name(struct range *r, member *out)
{
	const size_t start = r->at;
	struct names names = VEC_INIT;
	struct arena *a = arena_new();
	int rc = read_names(r, a, &names);

	if (rc == 0)
		rc = take_names(r, start, &names, out);
	vec_done(&names);
	arena_free(a);
	return rc;
}

/* --- key=value --- */

static const struct {
	const char *key;
	size_t offset;
} KEYS[] = {
	{"drift", offsetof(struct node_row, drift)},
	{"location", offsetof(struct node_row, location)},
	{"rack", offsetof(struct node_row, rack)},
	{"role", offsetof(struct node_row, role)},
	{"site", offsetof(struct node_row, site)},
	{"state", offsetof(struct node_row, state)},
	{"type", offsetof(struct node_row, device_type)},
};
#define KEYS_N (sizeof KEYS / sizeof *KEYS)

static const char *value_of(const struct node_row *row, size_t key)
{
	const char *value = *(const char *const *)((const char *)row + KEYS[key].offset);

	return value ? value : "";
}

static int find_key(struct range *r, struct str word, size_t at, size_t *key)
{
	const char *names[KEYS_N + 1] = {0};
	AUTO_STR text = xstrndup(word.p, word.n);
	const char *near;

	for (*key = 0; *key < KEYS_N; (*key)++) {
		if (str_is(word, KEYS[*key].key))
			return 0;
		names[*key] = KEYS[*key].key;
	}
	near = err_nearest(text, names);
	err_set(r->err, E_SYNTAX, "'%s' is nothing nodes are chosen by", text);
	if (near)
		err_hint(r->err, "did you mean '%s='?", near);
	else
		err_hint(r->err, "rack=, role=, site=, state=, type=");
	return place(r, at);
}

static int take_value(struct range *r, size_t key, const char *value, size_t at, member *out)
{
	const char **seen = xcalloc(r->all->n + 1, sizeof *seen);
	const char *near;
	bool found = false;

	for (size_t i = 0; i < r->all->n; i++) {
		seen[i] = value_of(&r->all->at[i], key);
		if (strcmp(seen[i], value) != 0)
			continue;
		out[i] = 1;
		found = true;
	}
	near = found ? NULL : err_nearest(value, seen);
	free(seen);
	if (found)
		return 0;
	err_set(r->err, E_NOTFOUND, "no node has %s '%s'", KEYS[key].key, value);
	if (near && *near)
		err_hint(r->err, "did you mean %s='%s'?", KEYS[key].key, near);
	else
		err_hint(r->err, "'stoika list nodes' shows what there is");
	return place(r, at);
}

/* 'DGX H100' or "DGX H100" at r->at. */
static int read_quoted(struct range *r, struct str *out)
{
	const size_t start = r->at;
	const size_t close = str_find(str_from(r->text, start + 1), peek(r));

	if (close == STR_NONE) {
		err_set(r->err, E_SYNTAX, "this quote is not closed");
		return place(r, start);
	}
	*out = (struct str){r->text.p + start + 1, close};
	r->at = start + close + 2;
	return 0;
}

static int read_values(struct range *r, struct arena *a, struct names *values)
{
	struct str text;
	int rc;

	skip_blanks(r);
	if (peek(r) == '\'' || peek(r) == '"') {
		rc = read_quoted(r, &text);
		if (rc == 0)
			*vec_push(values) = arena_text(a, text);
		return rc;
	}
	if (!is_word(peek(r)) && peek(r) != '[')
		return expected(r, "a value behind '='");
	return read_names(r, a, values);
}

static int read_pair(struct range *r, struct str word, size_t at, member *out)
{
	struct names values = VEC_INIT;
	struct arena *a = arena_new();
	size_t key = 0, value_at;
	int rc = find_key(r, word, at, &key);

	value_at = r->at;
	if (rc == 0)
		rc = read_values(r, a, &values);
	vec_each(&values, const char *, v)
		if (rc == 0)
			rc = take_value(r, key, *v, value_at, out);
	vec_done(&values);
	arena_free(a);
	return rc;
}

/* --- ~regex --- */

/* Up to a ',', '@' or ')' that stands outside of the expression's own brackets. */
static struct str cut_regex(struct range *r)
{
	const size_t start = r->at;
	unsigned round = 0;
	bool set = false;

	for (; r->at < r->text.n; r->at++) {
		const char c = r->text.p[r->at];

		if (c == '\\' && r->at + 1 < r->text.n)
			r->at++;
		else if (set)
			set = c != ']';
		else if (c == '[')
			set = true;
		else if (c == '(' || c == '{')
			round++;
		else if ((c == ')' || c == '}') && round > 0)
			round--;
		else if ((c == ',' || c == '@' || c == ')') && round == 0)
			break;
	}
	return str_trim((struct str){r->text.p + start, r->at - start});
}

/* libc copies what '+' and '{}' repeat, so nested ones multiply; all are taken as nested. */
static bool repeats_too_much(struct str text)
{
	unsigned long copies = 1;

	for (size_t i = 0; i < text.n && copies <= REGEX_COPIES_MAX; i++) {
		unsigned long number = 0;

		if (text.p[i] == '+')
			copies *= 2;
		if (text.p[i] != '{' && text.p[i] != ',')
			continue;
		while (i + 1 < text.n && is_digit(text.p[i + 1]) && number <= REGEX_COPIES_MAX)
			number = number * 10 + (unsigned long)(text.p[++i] - '0');
		copies *= number > 1 ? number : 1;
	}
	return copies > REGEX_COPIES_MAX;
}

static int take_regex(struct range *r, const char *pattern, size_t at, member *out)
{
	regex_t re;
	char why[128];
	bool found = false;
	const int rc = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);

	if (rc != 0) {
		(void)regerror(rc, &re, why, sizeof why);
		err_set(r->err, E_SYNTAX, "bad regular expression: %s", why);
		return place(r, at);
	}
	for (size_t i = 0; i < r->all->n; i++) {
		if (regexec(&re, r->all->at[i].name, 0, NULL, 0) != 0)
			continue;
		out[i] = 1;
		found = true;
	}
	regfree(&re);
	if (found)
		return 0;
	err_set(r->err, E_NOTFOUND, "no node's name fits '%s'", pattern);
	return place(r, at);
}

static int read_regex(struct range *r, member *out)
{
	const size_t start = r->at;
	struct str text;
	int rc = 0;

	skip_blanks(r);
	if (peek(r) == '\'' || peek(r) == '"')
		rc = read_quoted(r, &text);
	else
		text = cut_regex(r);
	if (rc < 0)
		return rc;
	if (text.n == 0) {
		r->at = start;
		return expected(r, "a regular expression behind '~'");
	}
	if (text.n > REGEX_MAX || repeats_too_much(text)) {
		err_set(r->err, E_LIMIT, "this regular expression is too large");
		return place(r, start);
	}

	AUTO_STR pattern = xstrndup(text.p, text.n);

	return take_regex(r, pattern, start, out);
}

/* --- the grammar --- */

static int read_union(struct range *r, member *out);

static int read_group(struct range *r, member *out)
{
	const size_t start = r->at - 1;
	int rc;

	if (r->depth == DEPTH_MAX) {
		err_set(r->err, E_LIMIT, "more than %d parentheses in each other", DEPTH_MAX);
		return place(r, start);
	}
	r->depth++;
	rc = read_union(r, out);
	r->depth--;
	if (rc < 0)
		return rc;
	if (!eat(r, ')')) {
		err_set(r->err, E_SYNTAX, "this '(' has no ')'");
		return place(r, start);
	}
	return 0;
}

static int read_primary(struct range *r, member *out)
{
	size_t start, end;
	struct str word;

	if (eat(r, '('))
		return read_group(r, out);
	if (eat(r, '~'))
		return read_regex(r, out);
	start = end = r->at;
	while (end < r->text.n && is_word(r->text.p[end]))
		end++;
	word = (struct str){r->text.p + start, end - start};
	r->at = end;
	if (word.n > 0 && eat(r, '='))
		return read_pair(r, word, start, out);
	r->at = start;
	if (peek(r) == '-' || (word.n == 0 && peek(r) != '['))
		return expected(r, "a node, 'key=value', '~regex' or '('");
	if (str_is(word, "all") && (end == r->text.n || r->text.p[end] != '[')) {
		r->at = end;
		memset(out, 1, r->all->n);
		return 0;
	}
	return read_name(r, out);
}

/* a@b@c */
static int read_meet(struct range *r, member *out)
{
	int rc = read_primary(r, out);

	while (rc == 0 && eat(r, '@')) {
		member *other = xcalloc(r->all->n + 1, 1);

		rc = read_primary(r, other);
		for (size_t i = 0; i < r->all->n; i++)
			out[i] &= other[i];
		free(other);
	}
	return rc;
}

/* a,b,-c from left to right. */
static int read_union(struct range *r, member *out)
{
	int rc;

	do {
		const bool without = eat(r, '-');
		member *item = xcalloc(r->all->n + 1, 1);

		skip_blanks(r);
		rc = read_meet(r, item);
		for (size_t i = 0; i < r->all->n; i++)
			out[i] = without ? out[i] & !item[i] : out[i] | item[i];
		free(item);
	} while (rc == 0 && eat(r, ','));
	return rc;
}

static int read_all(struct range *r, member *out)
{
	int rc = read_union(r, out);

	skip_blanks(r);
	if (rc == 0 && r->at < r->text.n)
		return expected(r, "',', '@' or the end");
	if (rc == 0 && !memchr(out, 1, r->all->n)) {
		err_set(r->err, E_NOTFOUND, "no node is meant by '" STR_FMT "'",
			STR_ARG(str_first(r->text, 100)));
		return place(r, 0);
	}
	return rc;
}

int range_resolve(
	const char *expr, const struct node_rows *all, struct node_refs *out, struct err *err)
{
	struct range r = {.text = str_of(expr), .all = all, .err = err};
	member *in;
	int rc;

	if (r.text.n > RANGE_TEXT_MAX)
		return err_set(err, E_LIMIT, "a node range is %d bytes at most", RANGE_TEXT_MAX);
	if (str_trim(r.text).n == 0) {
		err_set(err, E_SYNTAX, "the node range is empty");
		return err_hint(err, "all, gpu[01-16], rack=R1, role=gpu,-gpu07");
	}
	in = xcalloc(all->n + 1, 1);
	index_names(&r);
	rc = read_all(&r, in);
	for (size_t i = 0; rc == 0 && i < all->n; i++)
		if (in[i])
			*vec_push(out) = &all->at[i];
	free(r.by_name);
	free(in);
	return rc;
}
