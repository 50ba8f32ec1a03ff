/* merge_toml - edits of TOML: a key goes behind the others of its table, a table behind its kin. */
#include "agent/step/merge_toml.h"

#include <ctype.h>
#include <string.h>

#define GAP_MAX 8 /* of the text between a key and its value, to be imitated */

static int get(const struct merge_doc *d, const struct merge_path *p, json_t **out, struct err *err)
{
	struct merge_node *n = NULL;
	int rc = merge_walk(d, p, &n, err);

	*out = rc == 0 && n ? merge_node_json(n) : NULL;
	return rc;
}

/* --- writing --- */

static void add_key(struct str key, struct buf *out)
{
	bool bare = key.n > 0;

	for (size_t i = 0; i < key.n; i++)
		bare = bare &&
		       (isalnum((unsigned char)key.p[i]) || key.p[i] == '_' || key.p[i] == '-');
	if (bare)
		buf_add_str(out, key);
	else
		merge_add_quoted(key, out);
}

static void add_keys(const struct merge_path *p, unsigned from, unsigned to, struct buf *out)
{
	for (unsigned i = from; i < to; i++) {
		if (i > from)
			buf_add_char(out, '.');
		add_key(p->part[i], out);
	}
}

static void add_value(json_t *v, struct buf *out)
{
	const char *key, *sep = "";
	json_t *item;
	size_t i;

	if (json_is_string(v)) {
		merge_add_quoted((struct str){json_string_value(v), json_string_length(v)}, out);
	} else if (json_is_number(v)) {
		merge_add_number(v, out);
	} else if (json_is_array(v)) {
		buf_add_char(out, '[');
		json_array_foreach(v, i, item)
		{
			buf_add_text(out, sep);
			add_value(item, out);
			sep = ", ";
		}
		buf_add_char(out, ']');
	} else if (json_is_object(v)) {
		buf_add_char(out, '{');
		json_object_foreach(v, key, item)
		{
			buf_addf(out, "%s ", *sep ? "," : "");
			add_key(str_of(key), out);
			buf_add_text(out, " = ");
			add_value(item, out);
			sep = ", ";
		}
		buf_add_text(out, *sep ? " }" : "}");
	} else {
		buf_add_text(out, json_is_true(v) ? "true" : "false");
	}
}

/* --- places --- */

/* Comments that stand right above the line belong to it. */
static size_t with_comments(const struct merge_doc *d, size_t line)
{
	while (line > d->begin) {
		const size_t above = merge_line_start(d, line - 1);
		const struct str text = str_trim(merge_slice(d, above, line));

		if (text.n == 0 || text.p[0] != '#')
			break;
		line = above;
	}
	return line;
}

static size_t section_end(const struct merge_doc *d, const struct toml_section *s)
{
	return s->next ? with_comments(d, s->next->from) : d->text.n;
}

static bool is_within(const struct merge_node *n, const struct merge_node *top)
{
	while (n && n != top)
		n = n->parent;
	return n;
}

/* The last section of a table or of one below it; NULL: none. */
static const struct toml_section *last_section(
	const struct merge_doc *d, const struct merge_node *table)
{
	const struct toml_section *found = NULL;

	for (const struct toml_section *s = d->more; s; s = s->next)
		if (is_within(s->table, table))
			found = s;
	return found;
}

/* " = ", or as the keys near by have it. */
static struct str gap_of(const struct merge_doc *d, const struct toml_section *s)
{
	const struct merge_node *n = s ? s->last : NULL;
	struct str gap;

	for (const struct toml_section *any = d->more; !n && any; any = any->next)
		n = any->last;
	gap = n ? merge_slice(d, n->key_to, n->from) : STR_LIT(" = ");
	return gap.n <= GAP_MAX ? gap : STR_LIT(" = ");
}

/* How much deeper than its header a section's keys stand. */
static struct str inner_indent(const struct merge_doc *d)
{
	for (const struct toml_section *s = ((const struct toml_section *)d->more)->next; s;
		s = s->next) {
		struct str head = merge_indent(d, s->from), key;

		if (!s->last)
			continue;
		key = merge_indent(d, s->last->key_from);
		return key.n >= head.n ? str_from(key, head.n) : STR_LIT("");
	}
	return STR_LIT("");
}

static void end_text(const struct merge_doc *d, size_t at, struct buf *out)
{
	if (at == d->text.n && at > d->begin && d->text.p[at - 1] != '\n')
		buf_add_char(out, '\n');
}

/* A line "keys = value" behind the section's others. */
static void put_in_section(const struct merge_doc *d, const struct toml_section *s,
	const struct merge_path *p, unsigned from, json_t *value, struct merge_edit *e)
{
	const bool first_of_all = !s->last && s->table == d->root;

	if (s->last)
		e->from = s->last->entry_to;
	else
		e->from = first_of_all ? section_end(d, s) : s->head_to;
	if (first_of_all && s->next && e->from == d->begin)
		e->from = s->next->from;
	e->to = e->from;
	end_text(d, e->from, &e->text);
	if (s->last) {
		buf_add_str(&e->text, merge_indent(d, s->last->key_from));
	} else if (!first_of_all) {
		buf_add_str(&e->text, merge_indent(d, s->from));
		buf_add_str(&e->text, inner_indent(d));
	}
	add_keys(p, from, p->n, &e->text);
	buf_add_str(&e->text, gap_of(d, s));
	add_value(value, &e->text);
	buf_add_char(&e->text, '\n');
	if (first_of_all && s->next)
		buf_add_char(&e->text, '\n');
}

/* "[head]" and, unless value is an empty map, one key of it. */
static void put_section(const struct merge_doc *d, const struct merge_node *kin,
	const struct merge_path *p, unsigned head, json_t *value, struct merge_edit *e)
{
	const struct toml_section *s = last_section(d, kin);
	const struct str indent = s && kin != d->root ? merge_indent(d, s->from) : STR_LIT("");
	size_t at;

	at = e->from = e->to = s ? section_end(d, s) : d->text.n;
	if (kin == d->root)
		at = e->from = e->to = d->text.n;
	end_text(d, at, &e->text);
	if (at > d->begin && str_trim(merge_slice(d, merge_line_start(d, at - 1), at)).n > 0)
		buf_add_char(&e->text, '\n');
	buf_addf(&e->text, STR_FMT "[", STR_ARG(indent));
	add_keys(p, 0, head, &e->text);
	buf_add_text(&e->text, "]\n");
	if (head < p->n) {
		buf_add_str(&e->text, indent);
		buf_add_str(&e->text, inner_indent(d));
		add_keys(p, head, p->n, &e->text);
		buf_add_str(&e->text, gap_of(d, NULL));
		add_value(value, &e->text);
		buf_add_char(&e->text, '\n');
	}
	if (at < d->text.n)
		buf_add_char(&e->text, '\n');
}

static void put_inline(const struct merge_node *n, const struct merge_path *p, unsigned from,
	json_t *value, struct merge_edit *e)
{
	e->from = n->last ? n->last->to : n->from + 1;
	e->to = n->last ? n->last->to : n->to - 1;
	for (const struct merge_node *c = n->first; c; c = c->next) {
		const struct merge_node *deep = c;

		/* a dotted key's value stands below */
		while (deep->kind == MERGE_MAP && deep->form == TOML_DOTTED && deep->last)
			deep = deep->last;
		if (deep->to > e->from)
			e->from = e->to = deep->to;
	}
	buf_add_text(&e->text, n->last ? ", " : " ");
	add_keys(p, from, p->n, &e->text);
	buf_add_text(&e->text, " = ");
	add_value(value, &e->text);
	if (!n->last)
		buf_add_char(&e->text, ' ');
}

/* The table in whose section, or braces, a dotted key stands; *up: how many parts above n. */
static const struct merge_node *holder(const struct merge_node *n, unsigned *up)
{
	for (*up = 0; n->form == TOML_DOTTED && n->parent; n = n->parent)
		++*up;
	return n;
}

static void put_new(const struct merge_doc *d, const struct merge_node *n,
	const struct merge_path *p, unsigned depth, json_t *value, struct merge_edit *e)
{
	const bool empty = json_is_object(value) && json_object_size(value) == 0;
	unsigned up;
	const struct merge_node *table = holder(n, &up);

	if (table->form == TOML_INLINE)
		put_inline(table, p, depth - up, value, e);
	else if (table->form == TOML_HEADER && (up > 0 || (depth + 1 == p->n && !empty)))
		put_in_section(d, table->more, p, depth - up, value, e);
	else
		put_section(d, n, p, empty ? p->n : p->n - 1, value, e);
}

static int fail_tables(const struct merge_doc *d, const struct merge_node *n, struct err *err)
{
	merge_err(d, n->first ? n->first->from : n->from, err, E_UNSUPPORTED,
		"'" STR_FMT "' is a list of tables, which is not changed",
		STR_ARG(str_first_utf8(n->key, 60)));
	return err_hint(err, "change it by hand, or use a 'file' step");
}

static int set(const struct merge_doc *d, const struct merge_path *p, json_t *value,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *n = d->root, *next;
	struct merge_path so_far = {0};
	int rc;

	for (; so_far.n < p->n; n = next) {
		so_far.part[so_far.n] = p->part[so_far.n];
		so_far.n++;
		if ((rc = merge_walk(d, &so_far, &next, err)) < 0)
			return rc;
		if (next)
			continue;
		put_new(d, n, p, so_far.n - 1, value, e);
		return 0;
	}
	if (n->kind == MERGE_LIST && n->form == TOML_TABLES)
		return fail_tables(d, n, err);
	e->from = n->from;
	e->to = n->to;
	add_value(value, &e->text);
	return 0;
}

/* --- taking out --- */

static size_t start_of(const struct merge_node *n)
{
	return n->key_to > 0 ? n->key_from : n->from;
}

/* A member of { }, with one comma. n->prev may be a dotted key's table: then its value's end. */
static void cut_inline(const struct merge_doc *d, const struct merge_node *n, struct merge_edit *e)
{
	size_t from = start_of(n), to = n->to;

	if (n->parent->form == TOML_INLINE && n->parent->n == 1) {
		e->from = n->parent->from + 1;
		e->to = n->parent->to - 1;
		return;
	}
	while (to < d->text.n && (d->text.p[to] == ' ' || d->text.p[to] == '\t'))
		to++;
	if (to < d->text.n && d->text.p[to] == ',') {
		for (to++; to < d->text.n && (d->text.p[to] == ' ' || d->text.p[to] == '\t');)
			to++;
	} else {
		to = n->to;
		while (from > d->begin &&
			(d->text.p[from - 1] == ' ' || d->text.p[from - 1] == '\t'))
			from--;
		if (d->text.p[from - 1] == ',')
			from--;
	}
	e->from = from;
	e->to = to;
}

static void cut_section(
	const struct merge_doc *d, const struct toml_section *s, struct merge_edit *e)
{
	e->from = s->from;
	e->to = section_end(d, s);
	merge_cut_blank_above(d, e);
}

/* One statement of what is there. */
static void cut_piece(const struct merge_doc *d, const struct merge_node *n, struct merge_edit *e)
{
	while ((n->kind == MERGE_MAP && n->form != TOML_HEADER && n->form != TOML_INLINE) ||
		(n->kind == MERGE_LIST && n->form == TOML_TABLES))
		n = n->first;
	if (n->form == TOML_HEADER) {
		cut_section(d, n->more, e);
	} else if (n->entry_to > 0) {
		e->from = n->entry_from;
		e->to = n->entry_to;
	} else {
		cut_inline(d, n, e);
	}
}

static int remove_key(const struct merge_doc *d, const struct merge_path *p, struct merge_edit *e,
	struct err *err)
{
	struct merge_node *n = NULL;
	int rc = merge_walk(d, p, &n, err);

	if (rc == 0 && n && n->parent)
		cut_piece(d, n, e);
	return rc;
}

/* --- lists --- */

static bool has_newline(const struct merge_doc *d, size_t from, size_t to)
{
	return str_find(merge_slice(d, from, to), '\n') != STR_NONE;
}

/* Behind the last item of a list that is not empty. */
static void append(
	const struct merge_doc *d, const struct merge_node *n, json_t *item, struct merge_edit *e)
{
	const struct merge_node *last = n->last;
	const size_t behind = merge_toml_skip(d, last->to);
	const bool comma = d->text.p[behind] == ',';
	const bool lines = has_newline(d, last->prev ? last->prev->to : n->from, last->from);
	const size_t line = merge_line_end(d, comma ? behind : last->to);

	e->from = e->to = comma ? behind + 1 : last->to;
	if (lines && line < n->to) {
		/* the rest of the line, maybe a comment, stays where it is */
		e->to = line;
		if (!comma)
			buf_add_char(&e->text, ',');
		for (size_t i = e->from; i < e->to; i++)
			if (d->text.p[i] != '\r')
				buf_add_char(&e->text, d->text.p[i]);
		buf_add_str(&e->text, merge_indent(d, last->from));
		add_value(item, &e->text);
		buf_add_text(&e->text, comma ? ",\n" : "\n");
		return;
	}
	buf_add_text(&e->text, comma ? " " : ", ");
	add_value(item, &e->text);
	if (comma)
		buf_add_char(&e->text, ',');
}

static int add(const struct merge_doc *d, const struct merge_path *p, json_t *item,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *n = NULL;
	int rc = merge_walk(d, p, &n, err);

	if (rc < 0 || !n)
		return rc;
	if (n->form == TOML_TABLES)
		return fail_tables(d, n, err);
	if (n->last) {
		append(d, n, item, e);
	} else {
		e->from = e->to = n->from + 1;
		add_value(item, &e->text);
	}
	return 0;
}

/* True when the item has its line, or lines, for itself: *from and *to then hold them. */
static bool own_lines(
	const struct merge_doc *d, const struct merge_node *item, size_t *from, size_t *to)
{
	size_t at = item->to;

	*from = merge_line_start(d, item->from);
	if (str_trim(merge_slice(d, *from, item->from)).n > 0)
		return false;
	*to = merge_line_end(d, at);
	while (at < *to && d->text.p[at] != '#' && strchr(", \t\r\n", d->text.p[at]))
		at++;
	return at == *to || d->text.p[at] == '#';
}

static int drop(const struct merge_doc *d, const struct merge_path *p, size_t index,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *n = NULL, *item;
	int rc = merge_walk(d, p, &n, err);

	if (rc < 0 || !n)
		return rc;
	if (n->form == TOML_TABLES)
		return fail_tables(d, n, err);
	if (!(item = merge_item(n, index)) || own_lines(d, item, &e->from, &e->to))
		return 0;
	e->from = item->next ? item->from : item->prev ? item->prev->to : n->from + 1;
	e->to = item->next ? item->next->from : item->prev ? item->to : n->to - 1;
	if (!item->next && !item->prev && has_newline(d, e->from, e->to)) {
		e->from = item->from; /* comments of the list stay */
		e->to = item->to;
		if (d->text.p[e->to] == ',')
			e->to++;
	}
	return 0;
}

const struct merge_format MERGE_TOML = {
	.name = "toml",
	.plain = true,
	.parse = merge_toml_read,
	.get = get,
	.set = set,
	.remove = remove_key,
	.add = add,
	.drop = drop,
};
