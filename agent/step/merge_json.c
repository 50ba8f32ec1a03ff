/*
 * merge_json - JSON as people keep it: indentation style and the order of keys stay.
 *
 * Strict: comments, trailing commas and duplicate keys are errors with a hint. An empty file counts
 * as an empty map.
 */
#include "agent/step/merge_doc.h"

#include <ctype.h>
#include <string.h>

struct reader {
	struct merge_doc *d;
	size_t at;
	unsigned depth;
	struct err *err;
};

static int read_value(struct reader *r, struct merge_node *parent, struct merge_node **out);

/* --- reading --- */

static char peek(const struct reader *r)
{
	return r->at < r->d->text.n ? r->d->text.p[r->at] : '\0';
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->d->text.n && strchr(" \t\r\n", r->d->text.p[r->at]) && peek(r))
		r->at++;
}

static int fail(struct reader *r, const char *wanted)
{
	const char c = peek(r);

	if (r->at >= r->d->text.n) {
		merge_err(r->d, r->at, r->err, E_SYNTAX, "the file ends too early, expected %s",
			wanted);
		return err_hint(r->err, "a bracket or a quote may not be closed");
	}
	if (c == '/' || c == '#') {
		merge_err(r->d, r->at, r->err, E_SYNTAX, "JSON has no comments");
		return err_hint(r->err, "remove the comment");
	}
	merge_err(r->d, r->at, r->err, E_SYNTAX, "expected %s", wanted);
	if (c == '}' || c == ']')
		return err_hint(r->err, "remove the comma before it");
	if (c == '\'')
		return err_hint(r->err, "JSON wants double quotes");
	return err_hint(r->err, "correct the file by hand; it is left as it is");
}

static int hex4(struct reader *r, unsigned *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		const char c = peek(r);

		if (!isxdigit((unsigned char)c))
			return fail(r, "four hexadecimal digits");
		*out = *out * 16 +
		       (unsigned)(isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return 0;
}

static void add_utf8(struct buf *out, unsigned c)
{
	if (c < 0x80) {
		buf_add_char(out, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_add_char(out, (char)(0xC0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_add_char(out, (char)(0xE0 | c >> 12));
		} else {
			buf_add_char(out, (char)(0xF0 | c >> 18));
			buf_add_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
		}
		buf_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
	}
	buf_add_char(out, (char)(0x80 | (c & 0x3F)));
}

static int read_unicode(struct reader *r, struct buf *out)
{
	unsigned c, low;
	int rc = hex4(r, &c);

	if (rc < 0)
		return rc;
	if (c >= 0xD800 && c < 0xDC00 && peek(r) == '\\') {
		r->at++;
		if (peek(r) != 'u')
			return fail(r, "the second half of a character");
		r->at++;
		if ((rc = hex4(r, &low)) < 0)
			return rc;
		if (low < 0xDC00 || low > 0xDFFF)
			return fail(r, "the second half of a character");
		c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
	}
	if (c >= 0xD800 && c < 0xE000)
		return fail(r, "a whole character, not half of one");
	if (c == 0) {
		merge_err(r->d, r->at, r->err, E_UNSUPPORTED, "a text holds a zero byte");
		return err_hint(r->err, "take \\u0000 out");
	}
	add_utf8(out, c);
	return 0;
}

static int read_escape(struct reader *r, struct buf *out)
{
	static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
	const char c = peek(r), *hit = c ? strchr(FROM, c) : NULL;

	if (c == 'u') {
		r->at++;
		return read_unicode(r, out);
	}
	if (!hit)
		return fail(r, "an escape such as \\n");
	r->at++;
	buf_add_char(out, TO[hit - FROM]);
	return 0;
}

/* A text; at its quote. */
static int read_text(struct reader *r, struct str *out)
{
	const size_t begin = r->at;
	AUTO_BUF text;
	int rc;

	buf_init(&text, MERGE_BYTES_MAX);
	for (r->at++; peek(r) != '"';) {
		if (r->at >= r->d->text.n || (unsigned char)peek(r) < 0x20) {
			merge_err(r->d, begin, r->err, E_SYNTAX, "the text is not closed");
			return err_hint(r->err, "it ends with a double quote in the same line");
		}
		if (peek(r) != '\\') {
			buf_add_char(&text, r->d->text.p[r->at++]);
			continue;
		}
		r->at++;
		if ((rc = read_escape(r, &text)) < 0)
			return rc;
	}
	r->at++;
	*out = arena_str(r->d->arena, buf_str(&text));
	return 0;
}

static int read_number(struct reader *r, struct merge_node *n)
{
	const size_t from = r->at;
	struct str s;

	while (r->at < r->d->text.n && peek(r) && strchr("0123456789+-.eE", peek(r)))
		r->at++;
	s = merge_slice(r->d, from, r->at);
	if (s.n > 1 && s.p[s.p[0] == '-'] == '0' && s.n > 1u + (s.p[0] == '-') &&
		isdigit((unsigned char)s.p[1 + (s.p[0] == '-')])) {
		r->at = from;
		return fail(r, "a number without leading zeros");
	}
	n->kind = MERGE_INT;
	if (str_to_i64(s, &n->integer))
		return 0;
	n->kind = MERGE_REAL;
	if (str_to_f64(s, &n->real))
		return 0;
	r->at = from;
	return fail(r, "a value");
}

static int read_word(struct reader *r, struct merge_node *n)
{
	static const struct {
		const char *word;
		enum merge_kind kind;
		bool yes;
	} WORDS[] = {{"true", MERGE_BOOL, true}, {"false", MERGE_BOOL, false},
		{"null", MERGE_NULL, false}};
	size_t to = r->at;

	while (to < r->d->text.n && isalpha((unsigned char)r->d->text.p[to]))
		to++;
	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
		if (!str_is(merge_slice(r->d, r->at, to), WORDS[i].word))
			continue;
		n->kind = WORDS[i].kind;
		n->yes = WORDS[i].yes;
		r->at = to;
		return 0;
	}
	return fail(r, "a value");
}

/* "key": value */
static int read_member(struct reader *r, struct merge_node *map)
{
	const size_t from = r->at;
	struct merge_node *child, *old;
	struct str key;
	size_t to;
	int rc;

	if (peek(r) != '"')
		return fail(r, "a key in double quotes");
	if ((rc = read_text(r, &key)) < 0)
		return rc;
	to = r->at;
	skip_blanks(r);
	if (peek(r) != ':')
		return fail(r, "':' behind the key");
	r->at++;
	skip_blanks(r);
	if ((rc = read_value(r, map, &child)) < 0)
		return rc;
	child->key = key;
	child->key_from = from;
	child->key_to = to;
	if ((old = merge_child(r->d, map, key))) {
		merge_err(r->d, from, r->err, E_SYNTAX, "the key '" STR_FMT "' is there twice",
			STR_ARG(str_first_utf8(key, 60)));
		return err_hint(r->err, "leave one of them");
	}
	merge_node_index(r->d, child);
	return 0;
}

static int read_many(struct reader *r, struct merge_node *n, char close)
{
	struct merge_node *item;
	int rc;

	if (++r->depth > MERGE_DEPTH_MAX)
		return merge_err(r->d, r->at, r->err, E_LIMIT, "nested deeper than %d",
			(int)MERGE_DEPTH_MAX);
	r->at++;
	skip_blanks(r);
	for (bool more = peek(r) != close; more;) {
		rc = close == '}' ? read_member(r, n) : read_value(r, n, &item);
		if (rc < 0)
			return rc;
		skip_blanks(r);
		more = peek(r) == ',';
		if (!more && peek(r) != close)
			return fail(r, close == '}' ? "',' or '}'" : "',' or ']'");
		r->at += more;
		skip_blanks(r);
	}
	r->at++;
	r->depth--;
	return 0;
}

static int read_value(struct reader *r, struct merge_node *parent, struct merge_node **out)
{
	struct merge_node *n = merge_node_new(r->d, parent, MERGE_NULL, r->at, r->err);
	const char c = peek(r);
	int rc;

	if (!n)
		return -E_LIMIT;
	*out = n;
	if (c == '{' || c == '[') {
		n->kind = c == '{' ? MERGE_MAP : MERGE_LIST;
		rc = read_many(r, n, c == '{' ? '}' : ']');
	} else if (c == '"') {
		n->kind = MERGE_TEXT;
		rc = read_text(r, &n->text);
	} else if (c == '-' || isdigit((unsigned char)c)) {
		rc = read_number(r, n);
	} else {
		rc = read_word(r, n);
	}
	n->to = r->at;
	return rc;
}

static int parse(struct merge_doc *d, struct err *err)
{
	struct reader r = {.d = d, .at = d->begin, .err = err};
	struct merge_node *top;
	int rc = merge_want_utf8(d, err);

	if (rc < 0)
		return rc;
	skip_blanks(&r);
	d->root->from = d->root->to = r.at;
	if (r.at == d->text.n)
		return 0;
	rc = read_value(&r, NULL, &top);
	if (rc < 0)
		return rc;
	skip_blanks(&r);
	if (r.at < d->text.n)
		return fail(&r, "the end of the file");
	if (top->kind != MERGE_MAP) {
		merge_err(d, top->from, err, E_CONFLICT, "the file holds no map");
		return err_hint(err, "only a file that begins with '{' has keys");
	}
	d->root = top;
	return 0;
}

static int get(const struct merge_doc *d, const struct merge_path *p, json_t **out, struct err *err)
{
	struct merge_node *n = NULL;
	int rc = merge_walk(d, p, &n, err);

	*out = rc == 0 && n ? merge_node_json(n) : NULL;
	return rc;
}

/* --- style --- */

struct style {
	bool lines;       /* one member a line */
	struct str unit;  /* of indentation */
	const char *gap;  /* behind ':' and, on one line, behind ',' */
	const char *edge; /* between a bracket and what is in it */
};

static bool has_newline(const struct merge_doc *d, size_t from, size_t to)
{
	return str_find(merge_slice(d, from, to), '\n') != STR_NONE;
}

/* How the document is written, by its first members. */
static struct style style_of(const struct merge_doc *d)
{
	const struct merge_node *root = d->root, *first = root->first;
	struct style s = {true, STR_LIT("  "), " ", ""};

	if (!first)
		return s;
	s.lines = has_newline(d, root->from, first->key_from);
	s.gap = d->text.p[first->from - 1] == ':' ? "" : " ";
	if (s.lines)
		s.unit = merge_indent(d, first->key_from);
	if (s.lines && s.unit.n == 0)
		s.unit = STR_LIT("");
	s.edge = !s.lines && first->key_from > root->from + 1 ? " " : "";
	return s;
}

static void add_value(const struct style *s, json_t *v, struct str indent, struct buf *out);

/* "{" members "}" at an indentation. */
static void add_map(const struct style *s, json_t *v, struct str indent, struct buf *out)
{
	AUTO_BUF deeper;
	const char *key;
	bool first = true;
	json_t *item;

	buf_init(&deeper, 4096);
	buf_add_str(&deeper, indent);
	buf_add_str(&deeper, s->unit);
	buf_add_char(out, '{');
	json_object_foreach(v, key, item)
	{
		if (!first)
			buf_addf(out, ",%s", s->lines ? "" : s->gap);
		if (s->lines)
			buf_addf(out, "\n%s", buf_text(&deeper));
		else if (first)
			buf_add_text(out, s->edge);
		first = false;
		merge_add_quoted(str_of(key), out);
		buf_addf(out, ":%s", s->gap);
		add_value(s, item, buf_str(&deeper), out);
	}
	if (!first && s->lines)
		buf_addf(out, "\n" STR_FMT, STR_ARG(indent));
	else if (!first)
		buf_add_text(out, s->edge);
	buf_add_char(out, '}');
}

/* Lists stand in one line. */
static void add_list(const struct style *s, json_t *v, struct str indent, struct buf *out)
{
	json_t *item;
	size_t i;

	buf_add_char(out, '[');
	json_array_foreach(v, i, item)
	{
		if (i > 0)
			buf_addf(out, ",%s", s->gap);
		add_value(s, item, indent, out);
	}
	buf_add_char(out, ']');
}

static void add_value(const struct style *s, json_t *v, struct str indent, struct buf *out)
{
	if (json_is_object(v))
		add_map(s, v, indent, out);
	else if (json_is_array(v))
		add_list(s, v, indent, out);
	else if (json_is_string(v))
		merge_add_quoted((struct str){json_string_value(v), json_string_length(v)}, out);
	else if (json_is_number(v))
		merge_add_number(v, out);
	else
		buf_add_text(out, json_is_null(v) ? "null" : json_is_true(v) ? "true" : "false");
}

/* --- edits --- */

/* value wrapped in the parts of the path below the node that is there: {rest: {of: value}}. */
static json_t *wrap(const struct merge_path *p, unsigned from, json_t *value)
{
	json_t *v = json_deep_copy(value);

	for (unsigned i = p->n; i-- > from;) {
		json_t *map = json_object();

		json_object_set_new_nocheck(map, p->part[i].p, v);
		v = map;
	}
	return v;
}

static size_t start_of(const struct merge_node *n)
{
	return n->key_to > 0 ? n->key_from : n->from;
}

/* Where and how a new member or item is put at the end of n; key.p NULL: an item. */
static void append(const struct merge_doc *d, const struct merge_node *n, struct str key,
	json_t *value, struct merge_edit *e)
{
	const struct merge_node *last = n->last;
	struct style s = style_of(d);
	AUTO_BUF indent;
	bool lines;

	buf_init(&indent, 4096);
	buf_add_str(&indent, merge_indent(d, last ? start_of(last) : n->from));
	lines = last ? has_newline(d, last->prev ? last->prev->to : n->from, start_of(last))
		     : s.lines && key.p;
	e->from = last ? last->to : n->from + 1;
	e->to = last ? last->to : n->to - 1;
	if (last)
		buf_addf(&e->text, ",%s", lines ? "" : s.gap);
	else if (lines)
		buf_add_str(&indent, s.unit);
	if (lines)
		buf_addf(&e->text, "\n%s", buf_text(&indent));
	else if (!last)
		buf_add_text(&e->text, s.edge);
	s.lines = s.lines && lines;
	if (key.p) {
		merge_add_quoted(key, &e->text);
		buf_addf(&e->text, ":%s", s.gap);
	}
	add_value(&s, value, buf_str(&indent), &e->text);
	if (!last && lines)
		buf_addf(&e->text, "\n" STR_FMT, STR_ARG(merge_indent(d, n->from)));
	else if (!last)
		buf_add_text(&e->text, s.edge);
}

static int set(const struct merge_doc *d, const struct merge_path *p, json_t *value,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *n = d->root, *next;
	struct merge_path so_far = {0};
	AUTO_JSON wrapped = NULL;
	int rc;

	if (d->root->to == d->root->from) { /* an empty file */
		const struct style s = style_of(d);

		wrapped = wrap(p, 0, value);
		e->from = e->to = d->text.n;
		add_value(&s, wrapped, STR_LIT(""), &e->text);
		buf_add_char(&e->text, '\n');
		return 0;
	}
	for (; so_far.n < p->n; n = next) {
		so_far.part[so_far.n] = p->part[so_far.n];
		so_far.n++;
		if ((rc = merge_walk(d, &so_far, &next, err)) < 0)
			return rc;
		if (next)
			continue;
		wrapped = wrap(p, so_far.n, value);
		append(d, n, p->part[so_far.n - 1], wrapped, e);
		return 0;
	}
	const struct style s = style_of(d);

	e->from = n->from;
	e->to = n->to;
	add_value(&s, value, merge_indent(d, n->key_from), &e->text);
	return 0;
}

/* Takes a member or item out, with one comma. */
static void cut(const struct merge_node *n, struct merge_edit *e)
{
	if (n->prev) {
		e->from = n->prev->to;
		e->to = n->to;
	} else if (n->next) {
		e->from = start_of(n);
		e->to = start_of(n->next);
	} else {
		e->from = n->parent->from + 1;
		e->to = n->parent->to - 1;
	}
}

static int remove_key(const struct merge_doc *d, const struct merge_path *p, struct merge_edit *e,
	struct err *err)
{
	struct merge_node *n = NULL;
	int rc = merge_walk(d, p, &n, err);

	if (rc == 0 && n && n->parent)
		cut(n, e);
	return rc;
}

static int add(const struct merge_doc *d, const struct merge_path *p, json_t *item,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *n = NULL;
	int rc = merge_walk(d, p, &n, err);

	if (rc == 0 && n)
		append(d, n, (struct str){NULL, 0}, item, e);
	return rc;
}

static int drop(const struct merge_doc *d, const struct merge_path *p, size_t index,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *n = NULL, *item;
	int rc = merge_walk(d, p, &n, err);

	if (rc == 0 && n && (item = merge_item(n, index)))
		cut(item, e);
	return rc;
}

const struct merge_format MERGE_JSON = {
	.name = "json",
	.parse = parse,
	.get = get,
	.set = set,
	.remove = remove_key,
	.add = add,
	.drop = drop,
};
