/* merge_toml_read - TOML 1.0; dates stay text as they are written. */
#include "agent/step/merge_toml.h"

#include <ctype.h>
#include <string.h>

#define NUMBER_MAX 100

struct reader {
	struct merge_doc *d;
	size_t at;
	unsigned depth;
	struct merge_node *table; /* keys go there */
	struct toml_section *section;
	struct err *err;
};

static int read_value(struct reader *r, struct merge_node *n);

static char at(const struct reader *r, size_t more)
{
	return r->at + more < r->d->text.n ? r->d->text.p[r->at + more] : '\0';
}

static bool sees(const struct reader *r, const char *word)
{
	return str_starts(str_from(r->d->text, r->at), word);
}

static int fail(struct reader *r, const char *wanted)
{
	merge_err(r->d, r->at, r->err, E_SYNTAX, "expected %s", wanted);
	return err_hint(r->err, "correct the file by hand; it is left as it is");
}

static int fail_twice(struct reader *r, size_t place, struct str key)
{
	merge_err(r->d, place, r->err, E_SYNTAX, "'" STR_FMT "' is there twice",
		STR_ARG(str_first_utf8(key, 60)));
	return err_hint(r->err, "leave one of them");
}

static void skip_blanks(struct reader *r)
{
	while (at(r, 0) == ' ' || at(r, 0) == '\t')
		r->at++;
}

static void skip_comment(struct reader *r)
{
	if (at(r, 0) == '#')
		while (r->at < r->d->text.n && at(r, 0) != '\n')
			r->at++;
}

size_t merge_toml_skip(const struct merge_doc *d, size_t from)
{
	while (from < d->text.n) {
		const char c = d->text.p[from];

		if (c == '#')
			while (from < d->text.n && d->text.p[from] != '\n')
				from++;
		else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
			from++;
		else
			break;
	}
	return from;
}

/* Blanks, a comment, and the end of the line. */
static int end_line(struct reader *r)
{
	skip_blanks(r);
	skip_comment(r);
	if (at(r, 0) == '\r' && at(r, 1) == '\n')
		r->at++;
	if (r->at < r->d->text.n && at(r, 0) != '\n')
		return fail(r, "the end of the line");
	r->at += r->at < r->d->text.n;
	return 0;
}

/* --- texts --- */

static void add_utf8(struct buf *out, unsigned c)
{
	if (c >= 0x10000) {
		buf_add_char(out, (char)(0xF0 | c >> 18));
		buf_add_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
	} else if (c >= 0x800) {
		buf_add_char(out, (char)(0xE0 | c >> 12));
	}
	if (c >= 0x800)
		buf_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
	else if (c >= 0x80)
		buf_add_char(out, (char)(0xC0 | c >> 6));
	buf_add_char(out, (char)(c < 0x80 ? c : 0x80 | (c & 0x3F)));
}

static int read_code(struct reader *r, int digits, struct buf *out)
{
	unsigned c = 0;

	for (int i = 0; i < digits; i++, r->at++) {
		const char x = at(r, 0);

		if (!isxdigit((unsigned char)x))
			return fail(r, "hexadecimal digits");
		c = c << 4 |
		    (unsigned)(isdigit((unsigned char)x) ? x - '0' : (x | 0x20) - 'a' + 10);
	}
	if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
		return fail(r, "the number of a character");
	add_utf8(out, c);
	return 0;
}

/* Behind a backslash. */
static int read_escape(struct reader *r, bool lines, struct buf *out)
{
	static const char FROM[] = "\"\\bfnrt", TO[] = "\"\\\b\f\n\r\t";
	const char c = at(r, 0), *hit = c ? strchr(FROM, c) : NULL;
	const size_t begin = r->at;

	if (c == 'u' || c == 'U') {
		r->at++;
		return read_code(r, c == 'u' ? 4 : 8, out);
	}
	if (hit) {
		r->at++;
		buf_add_char(out, TO[hit - FROM]);
		return 0;
	}
	skip_blanks(r);
	if (lines && (at(r, 0) == '\n' || (at(r, 0) == '\r' && at(r, 1) == '\n'))) {
		while (at(r, 0) && strchr(" \t\r\n", at(r, 0)))
			r->at++;
		return 0;
	}
	r->at = begin;
	return fail(r, "an escape such as \\n");
}

/* """...""" and '''...'''; at the first quote. Up to two quotes may stand before the last three. */
static int read_lines(struct reader *r, char quote, struct buf *out)
{
	const size_t begin = r->at;
	int rc;

	r->at += 3;
	if (at(r, 0) == '\r' && at(r, 1) == '\n')
		r->at++;
	r->at += at(r, 0) == '\n';
	for (;;) {
		if (r->at >= r->d->text.n) {
			r->at = begin;
			return fail(r, "three quotes at the end of this text");
		}
		if (at(r, 0) == quote && at(r, 1) == quote && at(r, 2) == quote) {
			for (int more = 0; more < 2 && at(r, 3) == quote; more++, r->at++)
				buf_add_char(out, quote);
			r->at += 3;
			return 0;
		}
		if (at(r, 0) == '\\' && quote == '"') {
			r->at++;
			if ((rc = read_escape(r, true, out)) < 0)
				return rc;
			continue;
		}
		buf_add_char(out, r->d->text.p[r->at++]);
	}
}

static int read_line(struct reader *r, char quote, struct buf *out)
{
	const size_t begin = r->at;
	int rc;

	for (r->at++; at(r, 0) != quote;) {
		if (r->at >= r->d->text.n || at(r, 0) == '\n') {
			r->at = begin;
			merge_err(r->d, begin, r->err, E_SYNTAX, "the text is not closed");
			return err_hint(r->err, "it ends with %c in the same line", quote);
		}
		if (at(r, 0) == '\\' && quote == '"') {
			r->at++;
			if ((rc = read_escape(r, false, out)) < 0)
				return rc;
			continue;
		}
		buf_add_char(out, r->d->text.p[r->at++]);
	}
	r->at++;
	return 0;
}

static int read_text(struct reader *r, bool lines, struct str *out)
{
	const char quote = at(r, 0);
	AUTO_BUF text;
	int rc;

	buf_init(&text, MERGE_BYTES_MAX);
	rc = lines && at(r, 1) == quote && at(r, 2) == quote ? read_lines(r, quote, &text)
							     : read_line(r, quote, &text);
	if (rc == 0)
		*out = arena_str(r->d->arena, buf_str(&text));
	return rc;
}

/* --- keys --- */

static int read_part(struct reader *r, struct str *out)
{
	const size_t from = r->at;

	if (at(r, 0) == '"' || at(r, 0) == '\'')
		return read_text(r, false, out);
	while (isalnum((unsigned char)at(r, 0)) || at(r, 0) == '_' || at(r, 0) == '-')
		r->at++;
	if (r->at == from)
		return fail(r, "a key");
	*out = arena_str(r->d->arena, merge_slice(r->d, from, r->at));
	return 0;
}

/* a.b."c" */
static int read_key(struct reader *r, struct merge_path *p)
{
	int rc;

	p->n = 0;
	for (;;) {
		if (p->n == MERGE_DEPTH_MAX)
			return merge_err(r->d, r->at, r->err, E_LIMIT,
				"a key has more than %d parts", (int)MERGE_DEPTH_MAX);
		if ((rc = read_part(r, &p->part[p->n++])) < 0)
			return rc;
		const size_t end = r->at;

		skip_blanks(r);
		if (at(r, 0) != '.') {
			r->at = end;
			return 0;
		}
		r->at++;
		skip_blanks(r);
	}
}

static struct merge_node *new_child(struct reader *r, struct merge_node *map, enum merge_kind kind,
	enum toml_form form, struct str key)
{
	struct merge_node *n = merge_node_new(r->d, map, kind, r->at, r->err);

	if (n) {
		n->key = key;
		n->form = form;
		merge_node_index(r->d, n);
	}
	return n;
}

/* The table that a part names, made when it is not there. */
static int step_into(struct reader *r, struct merge_node **table, struct str part,
	enum toml_form form, size_t place)
{
	struct merge_node *n = merge_child(r->d, *table, part);

	if (!n)
		n = new_child(r, *table, MERGE_MAP, form, part);
	else if (n->kind == MERGE_LIST && n->form == TOML_TABLES && form == TOML_IMPLICIT)
		n = n->last;
	else if (n->kind != MERGE_MAP || n->form == TOML_INLINE ||
		 (form == TOML_DOTTED && n->form == TOML_HEADER))
		return fail_twice(r, place, part);
	*table = n;
	return n ? 0 : -E_LIMIT;
}

/* key = value into map; the node of the value. */
static int read_pair(struct reader *r, struct merge_node *map, struct merge_node **out)
{
	const size_t from = r->at;
	struct merge_path p;
	struct merge_node *n;
	size_t to;
	int rc = read_key(r, &p);

	to = r->at;
	for (unsigned i = 0; i + 1 < p.n && rc == 0; i++)
		rc = step_into(r, &map, p.part[i], TOML_DOTTED, from);
	if (rc < 0)
		return rc;
	if (merge_child(r->d, map, p.part[p.n - 1]))
		return fail_twice(r, from, p.part[p.n - 1]);
	skip_blanks(r);
	if (at(r, 0) != '=')
		return fail(r, "'=' behind the key");
	r->at++;
	skip_blanks(r);
	n = new_child(r, map, MERGE_NULL, TOML_INLINE, p.part[p.n - 1]);
	if (!n)
		return -E_LIMIT;
	n->key_from = from;
	n->key_to = to;
	*out = n;
	return read_value(r, n);
}

/* --- values --- */

static int read_list(struct reader *r, struct merge_node *n)
{
	int rc;

	n->kind = MERGE_LIST;
	for (r->at = merge_toml_skip(r->d, r->at + 1); at(r, 0) != ']';) {
		struct merge_node *item = merge_node_new(r->d, n, MERGE_NULL, r->at, r->err);

		if (!item)
			return -E_LIMIT;
		item->form = TOML_INLINE;
		if ((rc = read_value(r, item)) < 0)
			return rc;
		r->at = merge_toml_skip(r->d, r->at);
		if (at(r, 0) == ',')
			r->at = merge_toml_skip(r->d, r->at + 1);
		else if (at(r, 0) != ']')
			return fail(r, "',' or ']'");
	}
	r->at++;
	return 0;
}

static int read_inline(struct reader *r, struct merge_node *n)
{
	struct merge_node *child;
	int rc;

	n->kind = MERGE_MAP;
	r->at++;
	skip_blanks(r);
	for (bool more = at(r, 0) != '}'; more;) {
		if ((rc = read_pair(r, n, &child)) < 0)
			return rc;
		skip_blanks(r);
		more = at(r, 0) == ',';
		if (!more && at(r, 0) != '}')
			return fail(r, "',' or '}'");
		r->at += more;
		skip_blanks(r);
	}
	r->at++;
	return 0;
}

/* A bare word: number, date, true, false, inf, nan. */
static struct str bare_word(const struct reader *r)
{
	const struct str rest = str_from(r->d->text, r->at);
	size_t n = 0;

	while (n < rest.n &&
		(isalnum((unsigned char)rest.p[n]) || (rest.p[n] && strchr("+-_.:", rest.p[n]))))
		n++;
	/* 1979-05-27 07:32:00 */
	if (n == 10 && rest.p[4] == '-' && n + 3 < rest.n && rest.p[n] == ' ' &&
		isdigit((unsigned char)rest.p[n + 1]) && isdigit((unsigned char)rest.p[n + 2]) &&
		rest.p[n + 3] == ':')
		for (n++; n < rest.n && rest.p[n] && strchr("0123456789:.+-Zz", rest.p[n]);)
			n++;
	return str_first(rest, n);
}

/* Without the underscores, which stand between digits only. */
static bool take_underscores(struct str s, char out[static NUMBER_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '_' &&
			(i == 0 || i + 1 == s.n || !isxdigit((unsigned char)s.p[i - 1]) ||
				!isxdigit((unsigned char)s.p[i + 1])))
			return false;
		if (s.p[i] == '_')
			continue;
		if (n + 1 >= NUMBER_MAX)
			return false;
		out[n++] = s.p[i];
	}
	out[n] = '\0';
	return n > 0;
}

static bool based_number(const char *text, int64_t *out)
{
	const int base = text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : text[1] == 'b' ? 2 : 0;
	uint64_t v = 0;

	if (text[0] != '0' || base == 0 || !text[2])
		return false;
	for (text += 2; *text; text++) {
		const int digit = isdigit((unsigned char)*text)    ? *text - '0'
				  : isxdigit((unsigned char)*text) ? (*text | 0x20) - 'a' + 10
								   : 99;

		if (digit >= base || v > (uint64_t)INT64_MAX / 16)
			return false;
		v = v * (uint64_t)base + (uint64_t)digit;
	}
	*out = (int64_t)v;
	return true;
}

static bool read_number(struct str s, struct merge_node *n)
{
	char text[NUMBER_MAX];
	const char *digits = text;

	if (!take_underscores(s, text))
		return false;
	n->kind = MERGE_INT;
	if (based_number(text, &n->integer))
		return true;
	digits += *digits == '+' || *digits == '-';
	if (digits[0] == '0' && isdigit((unsigned char)digits[1]))
		return false;
	if (str_to_i64(str_of(text[0] == '+' ? text + 1 : text), &n->integer))
		return true;
	n->kind = MERGE_REAL;
	return strpbrk(text, ".eE") &&
	       str_to_f64(str_of(text[0] == '+' ? text + 1 : text), &n->real);
}

/* Fits text to a pattern in which 'd' stands for a digit; how much of it was read. */
static size_t fit(struct str s, const char *pattern)
{
	size_t n = 0;

	for (; pattern[n]; n++)
		if (n >= s.n || (pattern[n] == 'd' ? !isdigit((unsigned char)s.p[n])
						   : s.p[n] != pattern[n]))
			return 0;
	return n;
}

static bool within(struct str two, int from, int to)
{
	const int v = (two.p[0] - '0') * 10 + two.p[1] - '0';

	return v >= from && v <= to;
}

/* 07:32:00 and maybe .999; *s goes behind it. */
static bool take_time(struct str *s)
{
	if (!fit(*s, "dd:dd:dd") || !within(*s, 0, 23) || !within(str_from(*s, 3), 0, 59) ||
		!within(str_from(*s, 6), 0, 60))
		return false;
	*s = str_from(*s, 8);
	if (fit(*s, ".d"))
		for (*s = str_from(*s, 1); s->n > 0 && isdigit((unsigned char)s->p[0]);)
			*s = str_from(*s, 1);
	return true;
}

static bool is_date(struct str s)
{
	if (!fit(s, "dddd-dd-dd"))
		return take_time(&s) && s.n == 0;
	if (!within(str_from(s, 5), 1, 12) || !within(str_from(s, 8), 1, 31))
		return false;
	s = str_from(s, 10);
	if (s.n == 0)
		return true;
	if (!strchr("Tt ", s.p[0]))
		return false;
	s = str_from(s, 1);
	if (!take_time(&s))
		return false;
	if (s.n == 6 && (s.p[0] == '+' || s.p[0] == '-'))
		return fit(str_from(s, 1), "dd:dd") && within(str_from(s, 1), 0, 23) &&
		       within(str_from(s, 4), 0, 59);
	return s.n == 0 || str_is(s, "Z") || str_is(s, "z");
}

static bool is_special(struct str s)
{
	if (s.n == 4 && (s.p[0] == '+' || s.p[0] == '-'))
		s = str_from(s, 1);
	return str_is(s, "inf") || str_is(s, "nan");
}

static int read_bare(struct reader *r, struct merge_node *n)
{
	const struct str word = bare_word(r);

	if (str_is(word, "true") || str_is(word, "false")) {
		n->kind = MERGE_BOOL;
		n->yes = str_is(word, "true");
	} else if (is_date(word) || is_special(word)) {
		n->kind = MERGE_TEXT;
		n->text = word;
	} else if (word.n == 0 || !read_number(word, n)) {
		merge_err(r->d, r->at, r->err, E_SYNTAX, "expected a value");
		return err_hint(r->err, "a text stands in quotes; the file is left as it is");
	}
	r->at += word.n;
	return 0;
}

static int read_value(struct reader *r, struct merge_node *n)
{
	const char c = at(r, 0);
	int rc;

	if (++r->depth > MERGE_DEPTH_MAX)
		return merge_err(r->d, r->at, r->err, E_LIMIT, "nested deeper than %d",
			(int)MERGE_DEPTH_MAX);
	n->from = r->at;
	if (c == '[') {
		rc = read_list(r, n);
	} else if (c == '{') {
		rc = read_inline(r, n);
	} else if (c == '"' || c == '\'') {
		n->kind = MERGE_TEXT;
		rc = read_text(r, true, &n->text);
	} else {
		rc = read_bare(r, n);
	}
	n->to = r->at;
	r->depth--;
	return rc;
}

/* --- lines --- */

static int open_section(struct reader *r, struct merge_node *table, size_t from)
{
	struct toml_section *s = arena_alloc(r->d->arena, sizeof *s);

	*s = (struct toml_section){.table = table, .from = from};
	r->section->next = s;
	r->section = s;
	r->table = table;
	table->form = TOML_HEADER;
	table->more = s;
	return 0;
}

static int name_table(struct reader *r, const struct merge_path *p, bool item, size_t place)
{
	struct merge_node *map = r->d->root, *n;
	const struct str key = p->part[p->n - 1];
	int rc = 0;

	for (unsigned i = 0; i + 1 < p->n && rc == 0; i++)
		rc = step_into(r, &map, p->part[i], TOML_IMPLICIT, place);
	if (rc < 0)
		return rc;
	n = merge_child(r->d, map, key);
	if (n && (item ? n->form != TOML_TABLES : n->kind != MERGE_MAP || n->form != TOML_IMPLICIT))
		return fail_twice(r, place, key);
	if (!n)
		n = new_child(r, map, item ? MERGE_LIST : MERGE_MAP,
			item ? TOML_TABLES : TOML_IMPLICIT, key);
	if (n && item && !n->first)
		n->from = n->to = place;
	if (n && item)
		n = merge_node_new(r->d, n, MERGE_MAP, place, r->err);
	if (!n)
		return -E_LIMIT;
	n->from = n->to = place;
	return open_section(r, n, merge_line_start(r->d, place));
}

static int read_header(struct reader *r)
{
	const size_t place = r->at;
	const bool item = sees(r, "[[");
	struct merge_path p;
	int rc;

	r->at += item ? 2 : 1;
	skip_blanks(r);
	if ((rc = read_key(r, &p)) < 0)
		return rc;
	skip_blanks(r);
	if (!sees(r, item ? "]]" : "]"))
		return fail(r, item ? "']]' at the end of the table's name"
				    : "']' at the end of the table's name");
	r->at += item ? 2 : 1;
	if ((rc = name_table(r, &p, item, place)) < 0 || (rc = end_line(r)) < 0)
		return rc;
	r->section->head_to = r->at;
	return 0;
}

static int read_key_line(struct reader *r)
{
	const size_t from = merge_line_start(r->d, r->at);
	struct merge_node *n = NULL;
	int rc = read_pair(r, r->table, &n);

	if (rc < 0 || !n || (rc = end_line(r)) < 0)
		return rc;
	n->entry_from = from;
	n->entry_to = r->at;
	r->section->last = n;
	return 0;
}

/* Nothing but tabs and line ends may stand below a blank. */
static int want_no_control(const struct merge_doc *d, struct err *err)
{
	for (size_t i = d->begin; i < d->text.n; i++) {
		const char c = d->text.p[i];
		const bool line =
			c == '\n' || (c == '\r' && i + 1 < d->text.n && d->text.p[i + 1] == '\n');

		if (((unsigned char)c >= 0x20 && c != 0x7F) || c == '\t' || line)
			continue;
		merge_err(d, i, err, E_SYNTAX, "a control character");
		return err_hint(err, "write it as an escape, or take it out");
	}
	return 0;
}

int merge_toml_read(struct merge_doc *d, struct err *err)
{
	struct toml_section *root = arena_alloc(d->arena, sizeof *root);
	struct reader r = {.d = d, .at = d->begin, .table = d->root, .section = root, .err = err};
	int rc = merge_want_utf8(d, err);

	if (rc == 0)
		rc = want_no_control(d, err);
	*root = (struct toml_section){.table = d->root, .from = d->begin, .head_to = d->begin};
	d->root->form = TOML_HEADER;
	d->root->more = root;
	d->more = root;
	while (rc == 0) {
		r.at = merge_toml_skip(d, r.at);
		if (r.at >= d->text.n)
			break;
		rc = d->text.p[r.at] == '[' ? read_header(&r) : read_key_line(&r);
	}
	return rc;
}
