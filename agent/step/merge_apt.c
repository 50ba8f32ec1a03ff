/*
 * merge_apt - apt.conf: A::B "x"; and A { B "x"; }; and lists A::B { "x"; }; or A::B:: "x";
 *
 * Names do not tell upper from lower case; the last value of a name counts. Comments are //, slash
 * star and # at the start of a line; #clear is obeyed, #include is passed over. A list gets new
 * items behind its last one, in the same form; a new scalar goes to the end of the file.
 */
#include "agent/step/merge_doc.h"

#include <ctype.h>
#include <string.h>

enum apt_form {
	APT_NAME,  /* a node of the tree; more: its last block */
	APT_VALUE, /* the scalar of the node above it */
	APT_ITEM,  /* of the list above it, in a block */
	APT_APPEND /* the same, written A::B:: "x"; */
};

struct apt_block {
	size_t from, open, close, to;
	struct apt_block *before;
};

struct reader {
	struct merge_doc *d;
	size_t at;
	unsigned depth;
	struct err *err;
};

static char at(const struct reader *r, size_t more)
{
	return r->at + more < r->d->text.n ? r->d->text.p[r->at + more] : '\0';
}

static int fail(struct reader *r, const char *wanted)
{
	merge_err(r->d, r->at, r->err, E_SYNTAX, "%s, expected %s",
		r->at < r->d->text.n ? "this cannot be read" : "the file ends too early", wanted);
	return err_hint(r->err, "correct the file by hand; it is left as it is");
}

static bool starts_line(const struct reader *r)
{
	return str_trim(merge_slice(r->d, merge_line_start(r->d, r->at), r->at)).n == 0;
}

static bool is_directive(const struct reader *r)
{
	struct str rest = str_from(r->d->text, r->at);

	if (str_starts(rest, "#clear"))
		rest = str_from(rest, 6);
	else if (str_starts(rest, "#include"))
		rest = str_from(rest, 8);
	else
		return false;
	return rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '\t');
}

/* Blanks and comments. */
static int skip(struct reader *r)
{
	for (;;) {
		if (at(r, 0) && strchr(" \t\r\n", at(r, 0))) {
			r->at++;
		} else if ((at(r, 0) == '/' && at(r, 1) == '/') ||
			   (at(r, 0) == '#' && starts_line(r) && !is_directive(r))) {
			r->at = merge_line_end(r->d, r->at);
		} else if (at(r, 0) == '/' && at(r, 1) == '*') {
			const size_t end = str_find_str(str_from(r->d->text, r->at), STR_LIT("*/"));

			if (end == STR_NONE)
				return fail(r, "the end of this comment");
			r->at += end + 2;
		} else {
			return 0;
		}
	}
}

static bool is_word_char(char c)
{
	return c && !strchr(" \t\r\n;{}\"", c);
}

static struct str lower(const struct merge_doc *d, struct str s)
{
	char *copy = arena_text(d->arena, s);

	for (size_t i = 0; i < s.n; i++)
		copy[i] = (char)tolower((unsigned char)copy[i]);
	return (struct str){copy, s.n};
}

static struct merge_node *named(struct reader *r, struct merge_node *up, struct str name)
{
	const struct str key = lower(r->d, name);
	struct merge_node *n = merge_child(r->d, up, key);

	if (n)
		return n;
	n = merge_node_new(r->d, up, MERGE_MAP, r->at, r->err);
	if (n) {
		n->key = key;
		n->form = APT_NAME;
		merge_node_index(r->d, n);
	}
	return n;
}

/* The node of A::B::C below up; *append when the name ends with "::". */
static int walk_name(
	struct reader *r, struct merge_node **up, struct str name, bool *append, size_t place)
{
	unsigned depth = 0;

	*append = false;
	for (;;) {
		const size_t cut = str_find_str(name, STR_LIT("::"));

		if (name.n == 0) {
			*append = true;
			return 0;
		}
		if (cut == 0 || ++depth > MERGE_DEPTH_MAX) {
			r->at = place;
			return fail(r, "a name such as A::B");
		}
		if (!(*up = named(r, *up, str_first(name, cut == STR_NONE ? name.n : cut))))
			return -E_LIMIT;
		if (cut == STR_NONE)
			return 0;
		name = str_from(name, cut + 2);
	}
}

/* "x" or a bare word, as a child of up. */
static int read_scalar(struct reader *r, struct merge_node *up, enum apt_form form, size_t entry,
	struct merge_node **out)
{
	struct merge_node *n = merge_node_new(r->d, up, MERGE_TEXT, r->at, r->err);
	const size_t from = r->at;

	if (!n)
		return -E_LIMIT;
	n->form = form;
	n->entry_from = entry;
	if (at(r, 0) == '"') {
		for (r->at++; at(r, 0) != '"'; r->at++) {
			if (r->at >= r->d->text.n || at(r, 0) == '\n') {
				r->at = from;
				return fail(r, "a quote at the end of the text");
			}
		}
		r->at++;
		n->text = merge_slice(r->d, from + 1, r->at - 1);
	} else {
		while (is_word_char(at(r, 0)))
			r->at++;
		n->text = merge_slice(r->d, from, r->at);
	}
	n->to = n->entry_to = r->at;
	*out = n;
	return 0;
}

static void detach(struct merge_node *n)
{
	n->key = (struct str){"\xFF", 1}; /* no name finds it */
	*(n->prev ? &n->prev->next : &n->parent->first) = n->next;
	*(n->next ? &n->next->prev : &n->parent->last) = n->prev;
}

/* #clear A::B; and #include "file"; */
static int read_directive(struct reader *r)
{
	const bool clear = str_starts(str_from(r->d->text, r->at), "#clear");
	struct merge_node *n = r->d->root;
	struct str name, part;
	size_t from;
	int rc;

	while (is_word_char(at(r, 0)))
		r->at++;
	if ((rc = skip(r)) < 0)
		return rc;
	from = r->at;
	while (r->at < r->d->text.n && at(r, 0) != ';' && at(r, 0) != '\n')
		r->at++;
	if (at(r, 0) != ';')
		return fail(r, "';'");
	name = lower(r->d, str_trim(merge_slice(r->d, from, r->at)));
	r->at++;
	while (clear && n && name.n > 0) {
		const size_t cut = str_find_str(name, STR_LIT("::"));

		part = str_first(name, cut == STR_NONE ? name.n : cut);
		name = cut == STR_NONE ? STR_LIT("") : str_from(name, cut + 2);
		n = merge_child(r->d, n, part);
	}
	if (clear && n && n != r->d->root)
		detach(n);
	return 0;
}

static int read_statements(struct reader *r, struct merge_node *up, bool top);

static int read_block(struct reader *r, struct merge_node *n, size_t entry)
{
	struct apt_block *b = arena_alloc(r->d->arena, sizeof *b);
	int rc;

	*b = (struct apt_block){.from = entry, .open = r->at, .before = n->more};
	if (++r->depth > MERGE_DEPTH_MAX)
		return merge_err(r->d, r->at, r->err, E_LIMIT, "nested deeper than %d",
			(int)MERGE_DEPTH_MAX);
	r->at++;
	if ((rc = read_statements(r, n, false)) < 0)
		return rc;
	r->depth--;
	b->close = r->at++;
	b->to = r->at;
	if ((rc = skip(r)) < 0)
		return rc;
	if (at(r, 0) == ';')
		b->to = ++r->at;
	else
		r->at = b->to;
	n->more = b;
	return 0;
}

/* Name, then a value, a block or both. */
static int read_named(struct reader *r, struct merge_node *up)
{
	const size_t entry = r->at;
	struct merge_node *n = up, *value = NULL;
	bool append;
	int rc;

	while (is_word_char(at(r, 0)))
		r->at++;
	rc = walk_name(r, &n, merge_slice(r->d, entry, r->at), &append, entry);
	if (rc == 0)
		rc = skip(r);
	if (rc == 0 && at(r, 0) != ';' && at(r, 0) != '{' && at(r, 0) != '}' &&
		r->at < r->d->text.n) {
		rc = read_scalar(r, n, append ? APT_APPEND : APT_VALUE, entry, &value);
		if (rc == 0)
			rc = skip(r);
	}
	if (rc < 0)
		return rc;
	if (at(r, 0) == '{')
		return read_block(r, n, entry);
	if (at(r, 0) != ';')
		return fail(r, "';'");
	r->at++;
	if (value)
		value->entry_to = r->at;
	return 0;
}

static int read_item(struct reader *r, struct merge_node *up)
{
	struct merge_node *n;
	int rc = read_scalar(r, up, APT_ITEM, r->at, &n);

	if (rc == 0)
		rc = skip(r);
	if (rc < 0)
		return rc;
	if (at(r, 0) != ';')
		return fail(r, "';'");
	n->entry_to = ++r->at;
	return 0;
}

static int read_statements(struct reader *r, struct merge_node *up, bool top)
{
	int rc;

	for (;;) {
		if ((rc = skip(r)) < 0)
			return rc;
		if (r->at >= r->d->text.n)
			return top ? 0 : fail(r, "'}'");
		if (at(r, 0) == '}' && !top)
			return 0;
		if (at(r, 0) == ';')
			r->at++;
		else if (at(r, 0) == '"')
			rc = read_item(r, up);
		else if (at(r, 0) == '#' && is_directive(r))
			rc = read_directive(r);
		else if (is_word_char(at(r, 0)))
			rc = read_named(r, up);
		else
			rc = fail(r, "a name, a text or '}'");
		if (rc < 0)
			return rc;
	}
}

static int parse(struct merge_doc *d, struct err *err)
{
	struct reader r = {.d = d, .at = d->begin, .err = err};
	const char *zero = d->text.n ? memchr(d->text.p, '\0', d->text.n) : NULL;

	if (zero)
		return merge_err(
			d, (size_t)(zero - d->text.p), err, E_SYNTAX, "the file holds a zero byte");
	d->root->form = APT_NAME;
	return read_statements(&r, d->root, true);
}

/* --- values --- */

static const struct merge_node *last_of(const struct merge_node *n, bool items)
{
	const struct merge_node *c = n->last;

	while (c && (items ? c->form != APT_ITEM && c->form != APT_APPEND : c->form != APT_VALUE))
		c = c->prev;
	return c;
}

static json_t *text_json(const struct merge_node *n)
{
	json_t *v = json_stringn(n->text.p, n->text.n);

	return v ? v : json_string("\x01"); /* not UTF-8: equal to nothing */
}

static json_t *value_of_node(const struct merge_node *n)
{
	json_t *map = json_object(), *list = json_array();
	bool named = false;
	const struct merge_node *value = last_of(n, false);

	for (const struct merge_node *c = n->first; c; c = c->next) {
		json_t *v = c->form == APT_NAME ? value_of_node(c) : NULL;

		named |= v != NULL;
		if (v)
			json_object_set_new(map, c->key.p, v); /* no key that is not UTF-8 */
		else if (c->form == APT_ITEM || c->form == APT_APPEND)
			json_array_append_new(list, text_json(c));
	}
	if (named && !value && json_array_size(list) == 0) {
		json_decref(list);
		return map;
	}
	json_decref(map);
	if (json_array_size(list) > 0 || (n->more && !value))
		return list;
	json_decref(list);
	return value ? text_json(value) : NULL;
}

static struct merge_node *find(const struct merge_doc *d, const struct merge_path *p)
{
	struct merge_node *n = d->root;

	for (unsigned i = 0; i < p->n && n; i++)
		n = merge_child(d, n, lower(d, p->part[i]));
	return n;
}

static int get(const struct merge_doc *d, const struct merge_path *p, json_t **out, struct err *err)
{
	const struct merge_node *n = find(d, p);

	(void)err;
	*out = n ? value_of_node(n) : NULL;
	return 0;
}

/* --- edits --- */

static bool is_name(struct str part)
{
	/* with a colon at an end, "::" behind it would be read at another place */
	if (part.n == 0 || strchr("#/:", part.p[0]) || part.p[part.n - 1] == ':' ||
		str_find_str(part, STR_LIT("::")) != STR_NONE)
		return false;
	for (size_t i = 0; i < part.n; i++)
		if (!is_word_char(part.p[i]))
			return false;
	return true;
}

static int judge(
	const struct merge_doc *d, const struct merge_path *p, const json_t *v, struct err *err)
{
	bool plain = json_is_string(v);

	for (unsigned i = 0; i < p->n; i++)
		if (!is_name(p->part[i])) {
			err_set(err, E_SCHEMA, "'%s' is no name for apt.conf",
				merge_path_show(d->arena, p));
			return err_hint(err, "write A::B, without blanks, quotes and braces");
		}
	for (const char *c = json_string_value(v); c && plain && *c; c++)
		plain = ((unsigned char)*c >= 0x20 || *c == '\t') && *c != '"';
	if (plain)
		return 0;
	err_set(err, E_SCHEMA, "'%s': a value of apt.conf is a text without quotes in one line",
		merge_path_show(d->arena, p));
	return err_hint(err, "write a text, a number, true or false");
}

static bool is_word(const char *s)
{
	size_t n = 0;

	while (is_word_char(s[n]))
		n++;
	return n > 0 && !s[n] && *s != '#' && *s != '/';
}

static void add_name(const struct merge_path *p, struct buf *out)
{
	for (unsigned i = 0; i < p->n; i++)
		buf_addf(out, "%s" STR_FMT, i > 0 ? "::" : "", STR_ARG(p->part[i]));
}

static void at_end(const struct merge_doc *d, struct merge_edit *e)
{
	e->from = e->to = d->text.n;
	if (d->text.n > d->begin && d->text.p[d->text.n - 1] != '\n')
		buf_add_char(&e->text, '\n');
}

static int set(const struct merge_doc *d, const struct merge_path *p, json_t *value,
	struct merge_edit *e, struct err *err)
{
	const struct merge_node *n = find(d, p), *old = n ? last_of(n, false) : NULL;
	int rc = judge(d, p, value, err);

	if (rc < 0)
		return rc;
	if (old) {
		e->from = old->from;
		e->to = old->to;
	} else {
		at_end(d, e);
		add_name(p, &e->text);
		buf_add_char(&e->text, ' ');
	}
	if (old && d->text.p[old->from] != '"' && is_word(json_string_value(value)))
		buf_add_text(&e->text, json_string_value(value));
	else
		buf_addf(&e->text, "\"%s\"", json_string_value(value));
	if (!old)
		buf_add_text(&e->text, ";\n");
	return 0;
}

/* Nothing but blanks or a comment follows in the line. */
static bool is_end_of_line(const struct merge_doc *d, size_t from)
{
	const struct str behind = str_trim(merge_slice(d, from, merge_line_end(d, from)));

	return behind.n == 0 || str_starts(behind, "//");
}

/* Behind the last item, written as that one is. */
static void append(const struct merge_doc *d, const struct merge_node *last, const char *text,
	struct merge_edit *e)
{
	const size_t line = merge_line_start(d, last->entry_from);
	const bool own = str_trim(merge_slice(d, line, last->entry_from)).n == 0;

	e->from = e->to = last->entry_to;
	if (own && is_end_of_line(d, last->entry_to))
		/* a comment behind it stays with it */
		while (e->from < d->text.n && !strchr("\r\n", d->text.p[e->from]))
			e->to = ++e->from;
	buf_add_char(&e->text, own ? '\n' : ' ');
	if (own)
		buf_add_str(&e->text, merge_slice(d, line, last->entry_from));
	buf_add_str(&e->text, merge_slice(d, last->entry_from, last->from));
	buf_addf(&e->text, "\"%s\";", text);
}

static int add(const struct merge_doc *d, const struct merge_path *p, json_t *item,
	struct merge_edit *e, struct err *err)
{
	const struct merge_node *n = find(d, p), *last = n ? last_of(n, true) : NULL;
	const struct apt_block *b = n ? n->more : NULL;
	int rc = judge(d, p, item, err);

	if (rc < 0)
		return rc;
	if (last) {
		append(d, last, json_string_value(item), e);
	} else if (b) {
		e->from = e->to = b->open + 1;
		buf_addf(&e->text, " \"%s\";", json_string_value(item));
	} else {
		at_end(d, e);
		add_name(p, &e->text);
		buf_addf(&e->text, " {\n\t\"%s\";\n};\n", json_string_value(item));
	}
	return 0;
}

/* A statement, with its line when it stands alone there. */
static void cut(const struct merge_doc *d, size_t from, size_t to, struct merge_edit *e)
{
	const size_t line = merge_line_start(d, from), end = merge_line_end(d, to);

	e->from = from;
	e->to = to;
	if (str_trim(merge_slice(d, line, from)).n == 0 && is_end_of_line(d, to)) {
		e->from = line;
		e->to = end;
		return;
	}
	while (e->to < d->text.n && (d->text.p[e->to] == ' ' || d->text.p[e->to] == '\t'))
		e->to++;
}

static bool cut_piece(const struct merge_doc *d, const struct merge_node *n, struct merge_edit *e)
{
	const struct apt_block *b = n->more;

	for (const struct merge_node *c = n->last; c; c = c->prev) {
		if (c->form == APT_NAME && cut_piece(d, c, e))
			return true;
		if (c->form == APT_NAME)
			continue;
		cut(d, c->entry_from, c->entry_to, e);
		return true;
	}
	if (b)
		cut(d, b->from, b->to, e);
	return b;
}

static int remove_key(const struct merge_doc *d, const struct merge_path *p, struct merge_edit *e,
	struct err *err)
{
	const struct merge_node *n = find(d, p);

	(void)err;
	if (n && n != d->root)
		(void)cut_piece(d, n, e);
	return 0;
}

static int drop(const struct merge_doc *d, const struct merge_path *p, size_t index,
	struct merge_edit *e, struct err *err)
{
	const struct merge_node *n = find(d, p), *c = n ? n->first : NULL;

	(void)err;
	for (; c; c = c->next)
		if ((c->form == APT_ITEM || c->form == APT_APPEND) && index-- == 0)
			break;
	if (!c && n)
		c = last_of(n, false); /* a scalar that stood for a list of one */
	if (c)
		cut(d, c->entry_from, c->entry_to, e);
	return 0;
}

const struct merge_format MERGE_APT = {
	.name = "apt",
	.rows = true,
	.separator = "::",
	.parse = parse,
	.get = get,
	.set = set,
	.remove = remove_key,
	.add = add,
	.drop = drop,
};
