/*
 * merge_ini - INI files: [sections], key = value, comments with ; and # at the start of a line.
 *
 * A path is section.key, or one part for keys above the first section. Names mean what they say
 * (upper and lower case differ). A section that comes twice is one. A key that comes several times
 * is a list, in order. A value ends with its line, unless that ends in a backslash: then the next
 * line goes on. An indented line is a line like any other. Quotes are part of the value. A key
 * without '=' has the value null. Bytes that are not UTF-8 stay, but their keys cannot be compared.
 */
#include "agent/step/merge_doc.h"

#include <string.h>

enum ini_form {
	INI_SECTION,
	INI_ROW
};

/* A section's header; further ones of the same name follow as rows without a key. */
struct ini_place {
	size_t head_to; /* behind its last header */
	struct merge_node *last;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The end of a statement that begins at from: whole lines. */
static size_t statement_end(const struct merge_doc *d, size_t from)
{
	for (;;) {
		const size_t end = merge_line_end(d, from);
		size_t last = end;

		while (last > from && is_blank(d->text.p[last - 1]))
			last--;
		if (end >= d->text.n || last == from || d->text.p[last - 1] != '\\')
			return end;
		from = end;
	}
}

static struct merge_node *new_section(
	struct merge_doc *d, struct str name, size_t at, struct err *err)
{
	struct merge_node *n = merge_child(d, d->root, name);

	/* a key above all sections may have the same name: it is then no section */
	if (n && n->form == INI_SECTION)
		return n;
	if (n) {
		merge_err(d, at, err, E_UNSUPPORTED,
			"'" STR_FMT "' is a key above and a section here",
			STR_ARG(str_first_utf8(name, 60)));
		err_hint(err, "rename one of them");
		return NULL;
	}
	n = merge_node_new(d, d->root, MERGE_MAP, at, err);
	if (!n)
		return NULL;
	n->key = arena_str(d->arena, name);
	n->form = INI_SECTION;
	n->more = arena_alloc(d->arena, sizeof(struct ini_place));
	merge_node_index(d, n);
	return n;
}

static int read_head(
	struct merge_doc *d, size_t from, size_t to, struct merge_node **section, struct err *err)
{
	const struct str line = str_trim(merge_slice(d, from, to));
	const size_t at = (size_t)(line.p - d->text.p), close = str_find(line, ']');
	struct ini_place *place;

	if (close == STR_NONE) {
		merge_err(d, at, err, E_SYNTAX, "expected ']' at the end of the section's name");
		return err_hint(err, "correct the file by hand; it is left as it is");
	}
	*section = new_section(d, str_trim(str_first(str_from(line, 1), close - 1)), at, err);
	if (!*section)
		return -(int)(err ? err->code : E_LIMIT);
	place = (*section)->more;
	place->head_to = to;
	place->last = NULL;
	return 0;
}

/* One statement key = value; rows of one key hang on a list. */
static int read_row(
	struct merge_doc *d, size_t from, size_t to, struct merge_node *section, struct err *err)
{
	const struct str line = str_trim(merge_slice(d, from, to));
	const size_t eq = str_find(line, '='), begin = (size_t)(line.p - d->text.p);
	const struct str key = str_trim(str_first(line, eq == STR_NONE ? line.n : eq));
	struct merge_node *list, *row;
	struct str value;

	if (key.n == 0) {
		merge_err(d, begin, err, E_SYNTAX, "expected a key before '='");
		return err_hint(err, "correct the file by hand; it is left as it is");
	}
	list = merge_child(d, section, key);
	if (!list) {
		list = merge_node_new(d, section, MERGE_LIST, begin, err);
		if (!list)
			return -E_LIMIT;
		list->key = arena_str(d->arena, key);
		list->form = INI_ROW;
		merge_node_index(d, list);
	}
	row = merge_node_new(d, list, eq == STR_NONE ? MERGE_NULL : MERGE_TEXT, begin, err);
	if (!row)
		return -E_LIMIT;
	value = eq == STR_NONE ? str_from(line, line.n) : str_trim(str_from(line, eq + 1));
	row->key_from = begin;
	row->key_to = begin + key.n;
	row->from =
		(size_t)((eq == STR_NONE || value.n == 0 ? line.p + line.n : value.p) - d->text.p);
	row->to = row->from + value.n;
	row->text = value;
	row->entry_from = from;
	row->entry_to = to;
	((struct ini_place *)section->more)->last = row;
	return 0;
}

static int parse(struct merge_doc *d, struct err *err)
{
	struct merge_node *section = d->root;
	int rc = 0;

	d->root->form = INI_SECTION;
	d->root->more = arena_alloc(d->arena, sizeof(struct ini_place));
	((struct ini_place *)d->root->more)->head_to = d->begin;
	for (size_t at = d->begin; at < d->text.n && rc == 0;) {
		const struct str line = str_trim(merge_slice(d, at, merge_line_end(d, at)));
		size_t end = merge_line_end(d, at);

		if (memchr(line.p, '\0', line.n))
			return merge_err(d, at, err, E_SYNTAX, "the line holds a zero byte");
		if (line.n > 0 && line.p[0] == '[') {
			rc = read_head(d, at, end, &section, err);
		} else if (line.n > 0 && line.p[0] != '#' && line.p[0] != ';') {
			end = statement_end(d, at);
			rc = read_row(d, at, end, section, err);
		}
		at = end;
	}
	return rc;
}

/* --- values --- */

static json_t *row_json(const struct merge_node *row)
{
	json_t *v;

	if (row->kind == MERGE_NULL)
		return json_null();
	v = json_stringn(row->text.p, row->text.n);
	/* not UTF-8: equal to nothing that a recipe can say */
	return v ? v : json_string("\x01");
}

static json_t *key_json(const struct merge_node *list)
{
	json_t *made;

	if (list->n == 1)
		return row_json(list->first);
	made = json_array();
	for (const struct merge_node *row = list->first; row; row = row->next)
		json_array_append_new(made, row_json(row));
	return made;
}

static int find(const struct merge_doc *d, const struct merge_path *p, struct merge_node **section,
	struct merge_node **key, struct err *err)
{
	*section = d->root;
	*key = NULL;
	if (p->n > 2 || p->n == 0) {
		err_set(err, E_SCHEMA, "'%s': an INI file has sections and keys, nothing below",
			merge_path_show(d->arena, p));
		return err_hint(err, "write values: {section: {key: value}}");
	}
	for (unsigned i = 0; i < p->n; i++)
		if (memchr(p->part[i].p, '\n', p->part[i].n) || p->part[i].n == 0)
			return err_set(err, E_SCHEMA, "'%s' is no name for an INI file",
				merge_path_show(d->arena, p));
	if (p->n == 2) {
		*section = merge_child(d, d->root, p->part[0]);
		if (*section && (*section)->form != INI_SECTION) {
			err_set(err, E_CONFLICT,
				"'" STR_FMT "' in '%s' is a key, expected a section",
				STR_ARG(p->part[0]), d->file);
			return err_hint(err, "change it by hand");
		}
	}
	if (*section)
		*key = merge_child(d, *section, p->part[p->n - 1]);
	return 0;
}

static int get(const struct merge_doc *d, const struct merge_path *p, json_t **out, struct err *err)
{
	struct merge_node *section, *n;
	int rc = find(d, p, &section, &n, err);

	*out = NULL;
	if (rc < 0 || !n)
		return rc;
	if (n->form == INI_ROW) {
		*out = key_json(n);
		return 0;
	}
	*out = json_object();
	for (const struct merge_node *c = n->first; c; c = c->next)
		json_object_set_new(*out, c->key.p, key_json(c)); /* no key that is not UTF-8 */
	return 0;
}

/* --- edits --- */

/* "=", or as the keys near by have it. */
static struct str gap_of(const struct merge_doc *d, const struct merge_node *section)
{
	const struct merge_node *row = section ? ((struct ini_place *)section->more)->last : NULL;
	struct str gap;

	for (const struct merge_node *s = d->root->first; !row && s; s = s->next)
		row = s->form == INI_ROW ? s->last : ((struct ini_place *)s->more)->last;
	gap = row && row->kind == MERGE_TEXT ? merge_slice(d, row->key_to, row->from)
					     : STR_LIT("=");
	if (row && row->text.n == 0)
		gap = str_first(gap, str_find(gap, '=') + 1);
	return gap.n <= 16 && str_find(gap, '\n') == STR_NONE ? gap : STR_LIT("=");
}

static int fit_text(
	const struct merge_path *p, const struct merge_doc *d, json_t *v, struct err *err)
{
	const struct str text = str_of(json_is_string(v) ? json_string_value(v) : "");
	bool plain = true;

	if (json_is_object(v))
		return err_set(err, E_SCHEMA,
			"'%s': an empty section cannot be asked for, name a key of it",
			merge_path_show(d->arena, p));
	for (size_t i = 0; i < text.n && plain; i++)
		plain = (unsigned char)text.p[i] >= 0x20 || text.p[i] == '\t';
	if (plain && str_trim(text).n == text.n && !str_ends(text, "\\"))
		return 0;
	err_set(err, E_SCHEMA,
		"'%s': a value of an INI file is one line without blanks at its ends",
		merge_path_show(d->arena, p));
	return err_hint(err, "write the value in one line");
}

static void add_row(const struct merge_doc *d, const struct merge_node *section, struct str key,
	json_t *v, struct buf *out)
{
	buf_add_str(out, key);
	if (json_is_string(v)) {
		buf_add_str(out, gap_of(d, section));
		buf_add_text(out, json_string_value(v));
	}
	buf_add_char(out, '\n');
}

static void end_text(const struct merge_doc *d, size_t at, struct buf *out)
{
	size_t last = at;

	if (at < d->text.n)
		return;
	if (at > d->begin && d->text.p[at - 1] != '\n')
		buf_add_char(out, '\n');
	while (last > d->begin && is_blank(d->text.p[last - 1]))
		last--;
	/* else the new line would go on where the last one ends */
	if (last > d->begin && d->text.p[last - 1] == '\\')
		buf_add_char(out, '\n');
}

/* A row at the end of its section, or of a new section at the end of the file. */
static void put_row(const struct merge_doc *d, const struct merge_path *p,
	const struct merge_node *section, const struct merge_node *key, json_t *v,
	struct merge_edit *e)
{
	const struct ini_place *place = section ? section->more : NULL;
	const struct merge_node *near = key ? key->last : place ? place->last : NULL;

	e->from = e->to = near ? near->entry_to : place ? place->head_to : d->text.n;
	if (section == d->root && !near) {
		/* comments at the top stay above */
		while (e->from < d->text.n) {
			const struct str line = merge_slice(d, e->from, merge_line_end(d, e->from));

			if (str_trim(line).n > 0 && !strchr("#;", str_trim(line).p[0]))
				break;
			e->from = e->to = merge_line_end(d, e->from);
		}
	}
	end_text(d, e->from, &e->text);
	if (!section) {
		if (e->from > d->begin &&
			str_trim(merge_slice(d, merge_line_start(d, e->from - 1), e->from)).n > 0)
			buf_add_char(&e->text, '\n');
		buf_addf(&e->text, "[" STR_FMT "]\n", STR_ARG(p->part[0]));
	} else if (near) {
		buf_add_str(&e->text, merge_indent(d, near->key_from));
	}
	add_row(d, section, p->part[p->n - 1], v, &e->text);
}

/* A name that is read again as it is written. */
static bool is_name(struct str name, bool section)
{
	if (name.n == 0 || str_trim(name).n != name.n || str_find(name, '\n') != STR_NONE)
		return false;
	if (section)
		return str_find(name, ']') == STR_NONE;
	return !strchr("#;[", name.p[0]) && name.p[name.n - 1] != '\\' &&
	       str_find(name, '=') == STR_NONE;
}

static int add(const struct merge_doc *d, const struct merge_path *p, json_t *item,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *section, *key;
	int rc = find(d, p, &section, &key, err);

	if (rc == 0)
		rc = fit_text(p, d, item, err);
	if (rc < 0)
		return rc;
	if (key && key->form != INI_ROW) {
		err_set(err, E_CONFLICT, "'%s' in '%s' is a section, expected a key",
			merge_path_show(d->arena, p), d->file);
		return err_hint(err, "change it by hand, or name it under 'absent' first");
	}
	if (!is_name(p->part[p->n - 1], false) || (p->n == 2 && !is_name(p->part[0], true))) {
		err_set(err, E_SCHEMA, "'%s' is no name for an INI file",
			merge_path_show(d->arena, p));
		return err_hint(err, "leave out '=', brackets, and ; or # at its start");
	}
	put_row(d, p, section, key, item, e);
	return 0;
}

static int set(const struct merge_doc *d, const struct merge_path *p, json_t *value,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *section, *key, *row;
	int rc = find(d, p, &section, &key, err);

	if (rc == 0)
		rc = fit_text(p, d, value, err);
	if (rc < 0)
		return rc;
	if (!key || key->form != INI_ROW)
		return add(d, p, value, e, err);
	row = key->last;
	if (json_is_string(value) && row->kind == MERGE_TEXT) {
		e->from = row->from;
		e->to = row->to;
		buf_add_text(&e->text, json_string_value(value));
		return 0;
	}
	e->from = row->key_from;
	e->to = row->entry_to;
	add_row(d, section, key->key, value, &e->text);
	return 0;
}

static int drop(const struct merge_doc *d, const struct merge_path *p, size_t index,
	struct merge_edit *e, struct err *err)
{
	struct merge_node *section, *key, *row;
	int rc = find(d, p, &section, &key, err);

	if (rc == 0 && key && (row = merge_item(key, index))) {
		e->from = row->entry_from;
		e->to = row->entry_to;
	}
	return rc;
}

/* A section's header lines and all that stands below them, one stretch at a time. */
static void cut_section(
	const struct merge_doc *d, const struct merge_node *section, struct merge_edit *e)
{
	size_t at;

	e->from = merge_line_start(d, section->from);
	for (at = merge_line_end(d, section->from); at < d->text.n;) {
		const struct str line = str_trim(merge_slice(d, at, merge_line_end(d, at)));

		if (str_starts(line, "["))
			break;
		at = str_starts(line, "#") || str_starts(line, ";") ? merge_line_end(d, at)
								    : statement_end(d, at);
	}
	e->to = at;
	merge_cut_blank_above(d, e);
}

static int remove_key(const struct merge_doc *d, const struct merge_path *p, struct merge_edit *e,
	struct err *err)
{
	struct merge_node *section, *key;
	int rc = find(d, p, &section, &key, err);

	if (rc < 0 || !key)
		return rc;
	if (key->form == INI_SECTION) {
		cut_section(d, key, e);
		return 0;
	}
	return drop(d, p, 0, e, err);
}

const struct merge_format MERGE_INI = {
	.name = "ini",
	.rows = true,
	.single = true,
	.parse = parse,
	.get = get,
	.set = set,
	.remove = remove_key,
	.add = add,
	.drop = drop,
};
