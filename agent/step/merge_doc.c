#include "agent/step/merge_doc.h"

#include "agent/recipe/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct merge_format *const FORMATS[] = {
	&MERGE_JSON, &MERGE_TOML, &MERGE_INI, &MERGE_APT};

const struct merge_format *merge_format_find(const char *name)
{
	for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
		if (strcmp(FORMATS[i]->name, name) == 0)
			return FORMATS[i];
	return NULL;
}

const struct merge_format *merge_format_of(const char *path)
{
	const struct str p = str_of(path);

	if (str_find_str(p, STR_LIT("/apt.conf.d/")) != STR_NONE || str_ends(p, "/apt.conf"))
		return &MERGE_APT;
	if (str_ends(p, ".json"))
		return &MERGE_JSON;
	if (str_ends(p, ".toml"))
		return &MERGE_TOML;
	return str_ends(p, ".ini") ? &MERGE_INI : NULL;
}

/* --- places --- */

struct str merge_slice(const struct merge_doc *d, size_t from, size_t to)
{
	return str_first(str_from(d->text, from), to > from ? to - from : 0);
}

size_t merge_line_start(const struct merge_doc *d, size_t at)
{
	while (at > d->begin && d->text.p[at - 1] != '\n')
		at--;
	return at;
}

size_t merge_line_end(const struct merge_doc *d, size_t at)
{
	while (at < d->text.n && d->text.p[at] != '\n')
		at++;
	return at < d->text.n ? at + 1 : at;
}

void merge_cut_blank_above(const struct merge_doc *d, struct merge_edit *e)
{
	if (e->to < d->text.n)
		return;
	while (e->from > d->begin) {
		const size_t above = merge_line_start(d, e->from - 1);

		if (str_trim(merge_slice(d, above, e->from)).n > 0)
			break;
		e->from = above;
	}
}

struct str merge_indent(const struct merge_doc *d, size_t at)
{
	const size_t from = merge_line_start(d, at);
	size_t to = from;

	while (to < d->text.n && (d->text.p[to] == ' ' || d->text.p[to] == '\t'))
		to++;
	return merge_slice(d, from, to);
}

int merge_err(
	const struct merge_doc *d, size_t at, struct err *err, enum ec code, const char *fmt, ...)
{
	unsigned line = 1, col = 1;
	size_t from = d->begin, to;
	char msg[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	for (size_t i = d->begin; i < at && i < d->text.n; i++) {
		if (d->text.p[i] == '\n') {
			line++, col = 1;
			from = i + 1;
		} else if (((unsigned char)d->text.p[i] & 0xC0) != 0x80) {
			col++;
		}
	}
	err_at(err, code, d->file, line, col, "%s", msg);
	for (to = from; to < d->text.n && d->text.p[to] != '\n';)
		to++;
	if (err)
		err_excerpt(err, d->text.p + from, to - from);
	return -(int)code;
}

int merge_want_utf8(const struct merge_doc *d, struct err *err)
{
	struct str rest = d->text;
	size_t n;

	if (str_is_utf8(d->text))
		return 0;
	while (rest.n > 0 && rest.p[0] && (n = str_utf8_length(rest)) > 0)
		rest = str_from(rest, n);
	merge_err(d, (size_t)(rest.p - d->text.p), err, E_SYNTAX, "the text is not UTF-8");
	return err_hint(err, "convert the file; it is left as it is");
}

/* --- nodes --- */

static size_t slot_of(const struct merge_doc *d, const struct merge_node *map, struct str key)
{
	size_t h = (size_t)map >> 4;

	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * (size_t)1099511628211u;
	return (h ^ h >> 29) % d->slots;
}

struct merge_node *merge_node_new(struct merge_doc *d, struct merge_node *parent,
	enum merge_kind kind, size_t from, struct err *err)
{
	struct merge_node *n;

	if (d->n++ >= MERGE_NODES_MAX) {
		merge_err(d, from, err, E_LIMIT, "more than %d values", MERGE_NODES_MAX);
		return NULL;
	}
	n = arena_alloc(d->arena, sizeof *n);
	n->kind = kind;
	n->from = n->to = from;
	n->parent = parent;
	if (parent) {
		n->prev = parent->last;
		*(parent->last ? &parent->last->next : &parent->first) = n;
		parent->last = n;
		parent->n++;
	}
	return n;
}

void merge_node_index(struct merge_doc *d, struct merge_node *child)
{
	const size_t at = slot_of(d, child->parent, child->key);

	child->same = d->index[at];
	d->index[at] = child;
}

struct merge_node *merge_child(
	const struct merge_doc *d, const struct merge_node *map, struct str key)
{
	struct merge_node *n = d->index[slot_of(d, map, key)];

	while (n && (n->parent != map || !str_eq(n->key, key)))
		n = n->same;
	return n;
}

static const char *kind_name(enum merge_kind kind)
{
	static const char *const NAMES[] = {
		"a map", "a list", "text", "a number", "a number", "true or false", "nothing"};

	return NAMES[kind];
}

int merge_walk(const struct merge_doc *d, const struct merge_path *p, struct merge_node **out,
	struct err *err)
{
	struct merge_node *n = d->root;
	struct merge_path so_far = {0};

	for (unsigned i = 0; i < p->n && n; i++) {
		if (n->kind != MERGE_MAP) {
			merge_err(d, n->from, err, E_CONFLICT, "'%s' is %s, expected a map",
				merge_path_show(d->arena, &so_far), kind_name(n->kind));
			return err_hint(err, "change it by hand, or name it under 'absent' first");
		}
		so_far.part[so_far.n++] = p->part[i];
		n = merge_child(d, n, p->part[i]);
	}
	*out = n;
	return 0;
}

json_t *merge_node_json(const struct merge_node *n)
{
	json_t *made;

	switch (n->kind) {
	case MERGE_TEXT:
		return json_stringn(n->text.p ? n->text.p : "", n->text.n);
	case MERGE_INT:
		return json_integer(n->integer);
	case MERGE_REAL:
		made = json_real(n->real);
		return made ? made : json_string(n->real > 0 ? "inf" : "nan");
	case MERGE_BOOL:
		return json_boolean(n->yes);
	case MERGE_NULL:
		return json_null();
	case MERGE_LIST:
	case MERGE_MAP:
		break;
	}
	made = n->kind == MERGE_LIST ? json_array() : json_object();
	for (const struct merge_node *c = n->first; c; c = c->next) {
		json_t *item = merge_node_json(c);

		if (n->kind == MERGE_LIST)
			json_array_append_new(made, item);
		else
			json_object_set_new_nocheck(made, c->key.p, item);
	}
	return made;
}

struct merge_node *merge_item(const struct merge_node *list, size_t index)
{
	struct merge_node *n = list->first;

	while (n && index-- > 0)
		n = n->next;
	return n;
}

int merge_parse(const struct merge_format *f, struct arena *a, const char *file, struct str text,
	struct merge_doc **out, struct err *err)
{
	struct merge_doc *d = arena_alloc(a, sizeof *d);
	const size_t newline = str_find(text, '\n');

	*d = (struct merge_doc){.format = f, .arena = a, .file = file, .text = text};
	if (text.n > MERGE_BYTES_MAX)
		return err_set(err, E_LIMIT, "'%s' is longer than %u bytes", file, MERGE_BYTES_MAX);
	d->begin = str_starts(text, "\xEF\xBB\xBF") ? 3 : 0;
	d->eol = newline != STR_NONE && newline > 0 && text.p[newline - 1] == '\r' ? "\r\n" : "\n";
	d->slots = text.n / 32 + 61;
	d->index = arena_alloc(a, d->slots * sizeof(struct merge_node *));
	d->root = merge_node_new(d, NULL, MERGE_MAP, d->begin, err);
	*out = d;
	return f->parse(d, err);
}

/* --- values --- */

static bool same_number(const json_t *a, const json_t *b)
{
	const double x = json_number_value(a), y = json_number_value(b);

	if (json_is_integer(a) && json_is_integer(b))
		return json_integer_value(a) == json_integer_value(b);
	return x >= y && x <= y;
}

static bool same_maps(json_t *a, const json_t *b)
{
	const char *key;
	json_t *v;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach(a, key, v)
	{
		if (!merge_is_same(v, json_object_get(b, key)))
			return false;
	}
	return true;
}

bool merge_is_same(json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return same_number(a, b);
	if (json_is_array(a) && json_is_array(b)) {
		bool same = json_array_size(a) == json_array_size(b);

		for (size_t i = 0; same && i < json_array_size(a); i++)
			same = merge_is_same(json_array_get(a, i), json_array_get(b, i));
		return same;
	}
	if (json_is_object(a) && json_is_object(b))
		return same_maps(a, b);
	return json_equal(a, b) == 1;
}

void merge_add_number(const json_t *v, struct buf *out)
{
	AUTO_JSON copy = json_deep_copy(v);

	(void)value_to_text(&(struct value){copy, NULL}, out, NULL);
}

void merge_add_quoted(struct str s, struct buf *out)
{
	static const char FROM[] = "\b\t\n\f\r\"\\", TO[] = "btnfr\"\\";

	buf_add_char(out, '"');
	for (size_t i = 0; i < s.n; i++) {
		const char c = s.p[i];
		const char *hit = c ? strchr(FROM, c) : NULL;

		if (hit)
			buf_addf(out, "\\%c", TO[hit - FROM]);
		else if ((unsigned char)c < 0x20 || c == 0x7F)
			buf_addf(out, "\\u%04X", (unsigned)c);
		else
			buf_add_char(out, c);
	}
	buf_add_char(out, '"');
}
