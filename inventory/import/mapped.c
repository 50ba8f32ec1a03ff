#include "inventory/import/mapped.h"

#include "agent/base/buf.h"
#include "inventory/import/csv.h"
#include "inventory/import/record.h"
#include "inventory/model/index.h"

#include <stdio.h>
#include <string.h>

/* The sections a table can fill; the last four join rows of others. */
static const char *const SECTIONS[] = {"locations", "cooling_zones", "panels", "upses",
	"generators", "racks", "feeds", "pdus", "device_types", "devices", "nodes", "reservations",
	"outlets", "ports", "cords", "cables", NULL};
#define FIRST_JOIN 12

/* A table of the mapping that was read: columns left by one may be taken by another. */
struct read_table {
	const struct source_file *file;
	const struct yaml_node *columns, *rows;
};

struct mapped {
	struct sources *s;
	struct vec(struct read_table) tables;
	struct yaml_node *root;
	struct model_index *rows; /* name -> item of its section, by place in owners */
	struct vec(struct yaml_node *) items;
};

/* One table of the mapping. */
struct table {
	const struct yaml_node *node, *columns, *constants, *skip;
	int section;
	bool once;
	const struct source_file *file;
	struct yaml_node *header;
};

/* --- values --- */

/* Figures may be written 1 200,5; names that hold a comma may not be touched. */
static bool is_figure(const char *field)
{
	static const char *const words[] = {"position", "volts", "amps", "phases", "psus",
		"psus_needed", "psus_min", "gpus", "max_utilization", "kva", "kw", "efficiency",
		"cfm", "plug_amps", "nameplate", "max", "capped", "measured", "first_u", "feet",
		"port", NULL};
	static const char *const ends[] = {"_u", "_mm", "_kg", "_w", "_m", "_c", "_s", NULL};
	const char *dot = strrchr(field, '.'), *last = dot ? dot + 1 : field;

	for (int i = 0; ends[i]; i++)
		if (str_ends(str_of(last), ends[i]))
			return true;
	return model_word(words, last) >= 0;
}

/* "1 200,5" as "1200.5"; blanks of any kind that stand between digits go. */
static const char *plain_figure(struct arena *a, const char *text)
{
	AUTO_BUF out = {0};

	buf_init(&out, 256);
	for (const char *p = text; *p; p++) {
		if (*p == ' ' || strncmp(p, "\xc2\xa0", 2) == 0 ||
			strncmp(p, "\xe2\x80\xaf", 3) == 0)
			p += *p == ' ' ? 0 : *p == '\xc2' ? 1 : 2;
		else
			buf_add_char(&out, *p == ',' ? '.' : *p);
	}
	return arena_strdup(a, buf_text(&out));
}

static const char *translate(
	struct mapped *m, const struct yaml_node *rule, const struct yaml_node *cell)
{
	const struct yaml_node *values = yaml_get(rule, "values");
	const struct yaml_node *to = yaml_get(values, cell->text.p);

	if (!values)
		return cell->text.p;
	if (!to)
		to = yaml_get(rule, "else");
	if (to && to->kind == YAML_SCALAR)
		return to->text.p;
	source_fault(m->s, cell, E_SCHEMA, "add it to the column's 'values', or an 'else'",
		"'%.60s' has no translation", cell->text.p);
	return NULL;
}

static const char *scaled(struct mapped *m, const struct yaml_node *rule,
	const struct yaml_node *cell, const char *text)
{
	const struct yaml_node *factor = yaml_get(rule, "factor");
	double v, k;

	if (!factor)
		return text;
	if (factor->kind != YAML_SCALAR || !str_to_f64(factor->text, &k)) {
		source_fault(m->s, factor, E_SCHEMA, "such as 10 or 0.4536",
			"'factor' must be a number");
		return NULL;
	}
	if (!str_to_f64(str_of(text), &v)) {
		source_fault(m->s, cell, E_SCHEMA, "a plain number", "'%.80s' is no number", text);
		return NULL;
	}
	return arena_printf(m->s->arena, "%.10g", v * k);
}

/* Fields whose texts are names of letters and digits; others are labels. */
static bool is_strict(int section, const char *field)
{
	static const char *const always[] = {"role", "location", "device", "port", "names",
		"a_device", "a_port", "b_device", "b_port", NULL};
	static const char *const strict[] = {
		"locations", "devices", "nodes", "ports", "outlets", NULL};

	if (model_word(always, field) >= 0)
		return true;
	return strcmp(field, "name") == 0 && model_word(strict, SECTIONS[section]) >= 0;
}

static bool is_label(int section, const char *field)
{
	static const char *const labels[] = {
		"name", "rack", "feed", "pdu", "panel", "cooling_zone", NULL};

	return model_word(labels, field) >= 0 ||
	       (strcmp(field, "type") == 0 && strcmp(SECTIONS[section], "devices") == 0);
}

static const char *cleaned(
	struct mapped *m, int section, const char *field, const char *text, bool reference)
{
	const char *noun = reference ? NULL : SECTIONS[section];

	if (strcmp(field, "port") == 0 && strcmp(SECTIONS[section], "nodes") == 0)
		return text;
	if (is_strict(section, field))
		return strpbrk(text, "[,") ? text : source_name(m->s, noun, text);
	return is_label(section, field) ? source_label(m->s, noun, text) : text;
}

/* "watts.max" puts max into the map under watts. */
static void put_field(struct mapped *m, struct yaml_node *row, const char *field,
	const struct yaml_node *at, const char *text)
{
	const char *dot = strchr(field, '.');
	struct yaml_node *inner = NULL;
	char *head;

	if (!dot) {
		tree_put_text(m->s, row, field, at, text);
		return;
	}
	head = arena_text(m->s->arena, str_first(str_of(field), (size_t)(dot - field)));
	for (unsigned i = 0; i < row->n; i++)
		if (str_is(row->key[i]->text, head))
			inner = row->item[i];
	if (!inner) {
		inner = tree_map(m->s, at);
		tree_put(m->s, row, head, inner);
	}
	if (inner)
		tree_put_text(m->s, inner, dot + 1, at, text);
}

/* NULL for a column that is known and left behind; of a list, its first. */
static const char *field_of(const struct yaml_node *rule)
{
	const struct yaml_node *field = rule->kind == YAML_MAP ? yaml_get(rule, "field") : rule;

	if (rule->kind == YAML_LIST)
		return rule->n && rule->item[0]->kind != YAML_LIST ? field_of(rule->item[0]) : NULL;
	if (!field || field->kind != YAML_SCALAR || field->text.n == 0 ||
		(field->plain && str_is(field->text, "null")))
		return NULL;
	return field->text.p;
}

/* A rule is a field, {field, factor, values, else}, or a list of such. */
static void put_cell(struct mapped *m, const struct table *t, struct yaml_node *row,
	const struct yaml_node *rule, const struct yaml_node *cell)
{
	const char *field = field_of(rule), *text;

	for (unsigned i = 0; rule->kind == YAML_LIST && i < rule->n; i++)
		if (rule->item[i]->kind != YAML_LIST)
			put_cell(m, t, row, rule->item[i], cell);
	if (rule->kind == YAML_LIST || !field || !row)
		return;
	text = translate(m, rule, cell);
	if (text && (is_figure(field) || yaml_get(rule, "factor")))
		text = plain_figure(m->s->arena, text);
	if (text)
		text = scaled(m, rule, cell, text);
	if (text)
		put_field(m, row, field, cell,
			cleaned(m, t->section, field, text, strcmp(field, "name") != 0));
}

/* --- rows --- */

static const char *text_in(const struct yaml_node *row, const char *key)
{
	const struct yaml_node *v = yaml_get(row, key);

	return v && v->kind == YAML_SCALAR ? v->text.p : NULL;
}

static struct yaml_node *find_item(struct mapped *m, const char *section, const char *name)
{
	const size_t owner = (size_t)model_word(SECTIONS, section);
	const size_t i = name ? model_index_find(m->rows, NOUN_N, owner, name) : MODEL_NONE;

	return i == MODEL_NONE ? NULL : m->items.at[i];
}

/* The row of a name that was there already says the same, or it is a contradiction. */
static void judge_again(struct mapped *m, const struct yaml_node *was, const struct yaml_node *row)
{
	for (unsigned i = 0; i < row->n; i++) {
		const char *key = row->key[i]->text.p;
		const char *a = text_in(was, key), *b = text_in(row, key);

		if (b && (!a || strcmp(a, b) != 0))
			source_fault(m->s, row->item[i], E_CONFLICT,
				"correct one of the two rows, or give the two different names",
				"'%.60s' has %s '%.60s' here and '%.60s' before",
				text_in(row, "name") ? text_in(row, "name") : "", key, b,
				a ? a : "none");
	}
}

static void add_row(struct mapped *m, const struct table *t, struct yaml_node *row)
{
	const char *section = SECTIONS[t->section], *name = text_in(row, "name");
	struct yaml_node *was = find_item(m, section, name);

	if (t->once && was) {
		judge_again(m, was, row);
		return;
	}
	if (name && strcmp(section, "locations") == 0) {
		tree_add(m->s, tree_list_of(m->s, m->root, section),
			tree_text(m->s, row, str_of(name)));
	} else {
		tree_add(m->s, tree_list_of(m->s, m->root, section), row);
	}
	if (!name)
		return;
	model_index_put(m->rows, NOUN_N, (size_t)t->section, name, m->items.n);
	*vec_push(&m->items) = row;
}

/* The map under a key of a row, made on first use. */
static struct yaml_node *map_of(struct mapped *m, struct yaml_node *row, const char *key)
{
	struct yaml_node *map;

	for (unsigned i = 0; i < row->n; i++)
		if (str_is(row->key[i]->text, key))
			return row->item[i];
	map = tree_map(m->s, row);
	tree_put(m->s, row, key, map);
	return map;
}

static void add_cord(struct mapped *m, struct yaml_node *device, const struct yaml_node *row)
{
	const char *port = text_in(row, "port"), *pdu = text_in(row, "pdu"),
		   *outlet = text_in(row, "outlet");

	if (port && pdu && outlet)
		tree_put_text(m->s, map_of(m, device, "cords"), port, row,
			arena_printf(m->s->arena, "%s/%s", pdu, outlet));
	else
		source_fault(m->s, row, E_SCHEMA, "device, port, pdu and outlet",
			"the cord does not say both its ends");
}

/* A row that belongs into one of another table: outlets of a PDU, ports and cords of a device. */
static void join_row(struct mapped *m, const struct table *t, struct yaml_node *row)
{
	const char *section = SECTIONS[t->section];
	const bool outlet = strcmp(section, "outlets") == 0;
	const char *key = outlet ? "pdu" : "device", *name = text_in(row, key);
	struct yaml_node *owner = find_item(m, outlet ? "pdus" : "devices", name), *inner;

	if (!owner) {
		source_fault(m->s, yaml_get(row, key) ? yaml_get(row, key) : row, E_NOTFOUND,
			"its table comes first in the mapping",
			name ? "there is no %s '%.60s'" : "the row has no '%s'%s", key,
			name ? name : "");
		return;
	}
	if (strcmp(section, "cords") == 0) {
		add_cord(m, owner, row);
		return;
	}
	inner = tree_map(m->s, row);
	for (unsigned i = 0; i < row->n; i++) {
		const bool names = outlet && str_is(row->key[i]->text, "name");

		if (!str_is(row->key[i]->text, key))
			tree_put(m->s, inner, names ? "names" : row->key[i]->text.p, row->item[i]);
	}
	tree_add(m->s, tree_list_of(m->s, owner, section), inner);
}

static void add_cable(struct mapped *m, struct yaml_node *row)
{
	struct yaml_node *out = tree_map(m->s, row);
	static const char *const parts[] = {"a_device", "a_port", "b_device", "b_port", NULL};
	const char *text[4];

	for (int i = 0; i < 4; i++)
		text[i] = text_in(row, parts[i]);
	for (unsigned i = 0; i < row->n; i++)
		if (model_word(parts, row->key[i]->text.p) < 0)
			tree_put_key(m->s, out, row->key[i], row->item[i]);
	for (int i = 0; i < 4; i += 2)
		if (text[i] && text[i + 1])
			tree_put_text(m->s, out, i ? "b" : "a", yaml_get(row, parts[i]),
				arena_printf(m->s->arena, "%s/%s", text[i], text[i + 1]));
	tree_add(m->s, tree_list_of(m->s, m->root, "cables"), out);
}

static bool is_skipped(const struct table *t, const struct yaml_node *row)
{
	for (unsigned i = 0; t->skip && t->skip->kind == YAML_MAP && i < t->skip->n; i++) {
		const struct yaml_node *cell = yaml_get(row, t->skip->key[i]->text.p);
		const struct yaml_node *list = t->skip->item[i];

		for (unsigned k = 0; cell && list->kind == YAML_LIST && k < list->n; k++)
			if (str_eq(cell->text, list->item[k]->text))
				return true;
	}
	return false;
}

static void read_row(struct mapped *m, const struct table *t, const struct yaml_node *cells)
{
	struct yaml_node *row = tree_map(m->s, cells);

	if (is_skipped(t, cells)) {
		loss_add(m->s->losses, LOSS_DROPPED, t->file->stem, "",
			"rows that 'skip' leaves out");
		return;
	}
	for (unsigned i = 0; i < t->columns->n; i++) {
		const struct yaml_node *cell = yaml_get(cells, t->columns->key[i]->text.p);

		if (cell)
			put_cell(m, t, row, t->columns->item[i], cell);
	}
	for (unsigned i = 0; row && row->n && t->constants && i < t->constants->n; i++) {
		struct yaml_node *v = t->constants->item[i];

		if (v->kind == YAML_SCALAR)
			put_field(m, row, t->constants->key[i]->text.p, cells, v->text.p);
		else
			tree_put(m->s, row, t->constants->key[i]->text.p, v);
	}
	if (!row || row->n == 0)
		return;
	if (strcmp(SECTIONS[t->section], "cables") == 0)
		add_cable(m, row);
	else if (t->section >= FIRST_JOIN)
		join_row(m, t, row);
	else
		add_row(m, t, row);
}

/* --- tables --- */

static const struct source_file *find_file(struct mapped *m, const struct yaml_node *node)
{
	const struct yaml_node *file = yaml_get(node, "file");

	if (!file && m->s->files.n == 1)
		return &m->s->files.at[0];
	for (size_t i = 0; file && file->kind == YAML_SCALAR && i < m->s->files.n; i++) {
		const struct str path = str_of(m->s->files.at[i].path);

		if (str_ends(path, file->text.p) &&
			(path.n == file->text.n || path.p[path.n - file->text.n - 1] == '/'))
			return &m->s->files.at[i];
	}
	source_fault(m->s, file ? file : node, E_NOTFOUND,
		"name the folder that holds it, and the file as it is called there",
		file ? "there is no file '%.80s' among the tables"
		     : "the table names no 'file', and there are several%s",
		file && file->kind == YAML_SCALAR ? file->text.p : "");
	return NULL;
}

static const struct yaml_node *part(
	struct mapped *m, const struct yaml_node *node, const char *key, enum yaml_kind kind)
{
	const struct yaml_node *v = yaml_get(node, key);

	if (!v || v->kind == kind)
		return v;
	source_fault(m->s, v, E_SCHEMA, NULL, "'%s' must be %s", key,
		kind == YAML_MAP    ? "a map"
		: kind == YAML_LIST ? "a list"
				    : "a word");
	return NULL;
}

static char separator_of(struct mapped *m, const struct yaml_node *node)
{
	const struct yaml_node *v = part(m, node, "separator", YAML_SCALAR);

	if (!v)
		return 0;
	if (str_is(v->text, "tab") || str_is(v->text, "\t"))
		return '\t';
	if (str_is(v->text, ";") || str_is(v->text, "semicolon"))
		return ';';
	if (str_is(v->text, ",") || str_is(v->text, "comma"))
		return ',';
	source_fault(m->s, v, E_SCHEMA, "comma, semicolon or tab", "no such separator");
	return 0;
}

static bool read_head(struct mapped *m, const struct yaml_node *node, struct table *t)
{
	static const char *const keys[] = {
		"file", "separator", "rows", "columns", "constants", "skip", "once", NULL};
	const struct yaml_node *rows;

	if (node->kind != YAML_MAP) {
		source_fault(m->s, node, E_SCHEMA, NULL, "a table must be a map");
		return false;
	}
	for (unsigned i = 0; i < node->n; i++)
		if (model_word(keys, node->key[i]->text.p) < 0)
			source_fault(m->s, node->key[i], E_SCHEMA,
				"file, separator, rows, columns, constants, skip, once",
				"unknown key '%.60s'", node->key[i]->text.p);
	rows = part(m, node, "rows", YAML_SCALAR);
	t->node = node;
	t->columns = part(m, node, "columns", YAML_MAP);
	t->constants = part(m, node, "constants", YAML_MAP);
	t->skip = part(m, node, "skip", YAML_MAP);
	t->once = str_is(str_of(text_in(node, "once")), "true");
	t->section = rows ? model_word(SECTIONS, rows->text.p) : -1;
	if (t->section < 0)
		source_fault(m->s, rows ? rows : node, E_SCHEMA,
			"racks, devices, device_types, feeds, pdus, outlets, cords, cables ...",
			"the table must say what its 'rows' are");
	if (!t->columns)
		source_fault(m->s, node, E_SCHEMA, "{\"column\": field, ...}",
			"the table has no 'columns'");
	t->file = find_file(m, node);
	return t->section >= 0 && t->columns && t->file;
}

static void judge_columns(struct mapped *m, const struct table *t)
{
	const char **names = arena_alloc(m->s->arena, (t->header->n + 1) * sizeof *names);

	for (unsigned i = 0; i < t->header->n; i++)
		names[i] = t->header->item[i]->text.p;
	for (unsigned i = 0; i < t->columns->n; i++) {
		const char *name = t->columns->key[i]->text.p, *near;

		if (model_word(names, name) >= 0)
			continue;
		near = err_nearest(name, names);
		source_fault(m->s, t->columns->key[i], E_NOTFOUND,
			near ? arena_printf(m->s->arena, "did you mean '%.100s'?", near)
			     : "the first row of the table names its columns",
			"the table '%.60s' has no column '%.60s'", t->file->path, name);
	}
}

/* The columns of a file that none of its tables takes; told at the first of them. */
static void tell_losses(struct mapped *m, size_t at)
{
	const struct read_table *first = &m->tables.at[at];
	const char **carried;
	struct records list = VEC_INIT;
	size_t n = 0, most = 1;

	for (size_t k = 0; k < m->tables.n; k++) {
		if (k < at && m->tables.at[k].file == first->file)
			return;
		most += m->tables.at[k].columns->n;
	}
	carried = arena_alloc(m->s->arena, most * sizeof *carried);
	for (size_t k = at; k < m->tables.n; k++) {
		const struct yaml_node *columns = m->tables.at[k].columns;

		for (unsigned i = 0; m->tables.at[k].file == first->file && i < columns->n; i++)
			if (field_of(columns->item[i]))
				carried[n++] = columns->key[i]->text.p;
	}
	for (unsigned i = 0; i < first->rows->n; i++)
		*vec_push(&list) = first->rows->item[i];
	records_losses(m->s, &list, first->file->stem, carried, NULL);
	vec_done(&list);
}

static void read_table(struct mapped *m, const struct yaml_node *node)
{
	struct table t = {0};
	struct yaml_node *rows;
	char separator;

	if (!read_head(m, node, &t))
		return;
	separator = separator_of(m, node);
	if (!csv_read(m->s, t.file, separator, &rows, &t.header))
		return;
	judge_columns(m, &t);
	for (unsigned i = 0; i < rows->n; i++)
		read_row(m, &t, rows->item[i]);
	*vec_push(&m->tables) = (struct read_table){t.file, t.columns, rows};
}

struct yaml_node *mapped_read(struct sources *s, const struct yaml_node *map)
{
	struct mapped m = {.s = s, .rows = model_index_new()};
	const struct yaml_node *tables = part(&m, map, "tables", YAML_LIST);

	m.root = tree_new(s, YAML_MAP, map ? map->line : 0, 1);
	for (unsigned i = 0; map && map->kind == YAML_MAP && i < map->n; i++)
		if (!str_is(map->key[i]->text, "tables"))
			tree_put_key(s, m.root, map->key[i], map->item[i]);
	if (!tables)
		source_fault(s, map, E_SCHEMA, "inventory/import/FOREIGN.md shows one",
			"the mapping has no list of 'tables'");
	for (unsigned i = 0; tables && i < tables->n; i++)
		read_table(&m, tables->item[i]);
	for (size_t i = 0; i < m.tables.n; i++)
		tell_losses(&m, i);
	vec_done(&m.tables);
	vec_done(&m.items);
	model_index_free(m.rows);
	return m.root;
}
