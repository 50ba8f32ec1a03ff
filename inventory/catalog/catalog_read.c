/* catalog_read - the sections of one file: sources, then entries by the keys of their kind. */
#include "agent/base/buf.h"
#include "inventory/catalog/catalog_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MOST 4096

void catalog_fault(struct catalog_loader *l, const struct yaml_node *at, enum ec code,
	const char *hint, const char *fmt, ...)
{
	char msg[400];
	struct err *err;
	va_list ap;

	l->total++;
	if (l->faults.n >= CATALOG_FAULTS_MAX)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err = vec_push(&l->faults);
	(void)yaml_err(l->doc, at, err, code, "%s", msg);
	if (hint && *hint)
		(void)err_hint(err, "%s", hint);
}

/* A fault that a reader of base made. */
static void adopt(struct catalog_loader *l, const struct err *err)
{
	l->total++;
	if (l->faults.n < CATALOG_FAULTS_MAX)
		*vec_push(&l->faults) = *err;
}

static const char *read_text(
	struct catalog_loader *l, const struct yaml_node *map, const char *key, bool required)
{
	const struct yaml_node *n = yaml_get(map, key);
	struct str text;
	struct err err;

	if (!n && required)
		catalog_fault(l, map, E_SCHEMA, NULL, "'%s' is missing", key);
	if (!n)
		return NULL;
	if (yaml_want_text(l->doc, n, arena_printf(l->c->arena, "'%s'", key), &text, &err) < 0) {
		adopt(l, &err);
		return NULL;
	}
	if (text.n == 0 || text.n > TEXT_MOST) {
		catalog_fault(l, n, E_SCHEMA, NULL, "'%s' must have 1 to %d bytes", key, TEXT_MOST);
		return NULL;
	}
	return arena_text(l->c->arena, text);
}

/* The node of a section; NULL when absent, or a fault when it is something else. */
static const struct yaml_node *section(
	struct catalog_loader *l, const char *name, enum yaml_kind kind)
{
	const struct yaml_node *n = yaml_get(l->doc->root, name);
	struct err err;
	int rc;

	if (!n)
		return NULL;
	rc = kind == YAML_MAP ? yaml_want_map(l->doc, n, name, &err)
			      : yaml_want_list(l->doc, n, name, &err);
	if (rc < 0)
		adopt(l, &err);
	return rc < 0 ? NULL : n;
}

/* --- sources --- */

static const struct catalog_source *find_source(const struct catalog *c, struct str id)
{
	for (size_t i = 0; i < c->sources.n; i++)
		if (str_is(id, c->sources.at[i]->id))
			return c->sources.at[i];
	return NULL;
}

static void read_source(
	struct catalog_loader *l, const struct yaml_node *key, const struct yaml_node *map)
{
	static const char *const keys[] = {"title", "url", "read", "memory", NULL};
	const struct catalog_source *old = find_source(l->c, key->text);
	const struct yaml_node *memory;
	struct catalog_source *s;
	struct err err;

	if (yaml_known_keys(l->doc, map, keys, &err) < 0) {
		adopt(l, &err);
		return;
	}
	if (!str_is_name(key->text))
		catalog_fault(l, key, E_SCHEMA, "letters, digits and . _ - only, at most 64",
			"the source's id is no name");
	if (old) {
		catalog_fault(l, key, E_EXISTS, NULL, "source '%s' is there already", old->id);
		return;
	}
	s = arena_alloc(l->c->arena, sizeof *s);
	s->id = arena_text(l->c->arena, key->text);
	s->title = read_text(l, map, "title", true);
	s->url = read_text(l, map, "url", false);
	s->read = read_text(l, map, "read", false);
	s->line = key->line;
	memory = yaml_get(map, "memory");
	if (memory && yaml_want_bool(l->doc, memory, "'memory'", &s->memory, &err) < 0)
		adopt(l, &err);
	*vec_push(&l->c->sources) = s;
}

static void check_file(struct catalog_loader *l)
{
	const char *keys[CATALOG_KINDS + 3] = {"format", "sources"};
	const struct yaml_node *format = yaml_get(l->doc->root, "format");
	struct err err;
	int64_t v;

	for (int i = 0; i < CATALOG_KINDS; i++)
		keys[2 + i] = CATALOG_SECTIONS[i];
	if (yaml_known_keys(l->doc, l->doc->root, keys, &err) < 0)
		adopt(l, &err);
	else if (!format)
		catalog_fault(l, l->doc->root, E_SCHEMA, "write 'format: 1' above the sections",
			"'format' is missing");
	else if (yaml_want_int(l->doc, format, "'format'", 1, 1, &v, &err) < 0)
		adopt(l, &err);
}

void catalog_read_sources(struct catalog_loader *l)
{
	const struct yaml_node *map;

	check_file(l);
	map = section(l, "sources", YAML_MAP);
	for (unsigned i = 0; map && i < map->n; i++)
		read_source(l, map->key[i], map->item[i]);
}

/* --- one entry --- */

/* False with a fault when it is neither a source's id nor a list of them. */
static void read_sources_of(struct catalog_loader *l, const struct yaml_node *map,
	const struct catalog_source **out, unsigned *n)
{
	const struct yaml_node *list = yaml_get(map, "source");
	const struct yaml_node *one[1] = {list};
	const unsigned count = !list ? 0 : list->kind == YAML_LIST ? list->n : 1;

	if (count > CATALOG_SOURCES_MAX) {
		catalog_fault(l, list, E_LIMIT, NULL, "more than %d sources", CATALOG_SOURCES_MAX);
		return;
	}
	for (unsigned i = 0; i < count; i++) {
		const struct yaml_node *item = list->kind == YAML_LIST ? list->item[i] : one[0];
		const struct catalog_source *s =
			item->kind == YAML_SCALAR ? find_source(l->c, item->text) : NULL;

		if (s)
			out[(*n)++] = s;
		else
			catalog_fault(l, item, E_NOTFOUND,
				"add it to 'sources', with a title and where to read it",
				"no source '" STR_FMT "'", STR_ARG(str_first(item->text, 60)));
	}
}

static enum confidence read_confidence(struct catalog_loader *l, const struct yaml_node *map)
{
	const char *word = read_text(l, map, "confidence", false);
	const int i = word ? model_word(MODEL_CONFIDENCES, word) : 0;

	if (i <= 0 && word)
		catalog_fault(l, yaml_get(map, "confidence"), E_SCHEMA, "high, medium or low",
			"no confidence is called '%.40s'", word);
	return i > 0 ? (enum confidence)i : CONFIDENCE_UNSTATED;
}

static bool only_memory(const struct catalog_source *const *sources, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!sources[i]->memory)
			return false;
	return n > 0;
}

static bool read_number(struct catalog_loader *l, const struct yaml_node *n,
	const struct catalog_key *key, double *out)
{
	const char *what = arena_printf(l->c->arena, "'%s'", key->name);
	const bool whole = key->value == VALUE_COUNT || key->value == VALUE_COUNTS;
	struct err err;
	int64_t v = 0;
	int rc;

	if (whole) {
		rc = yaml_want_int(l->doc, n, what, (int64_t)key->min, (int64_t)key->max, &v, &err);
		*out = (double)v;
	} else {
		rc = yaml_want_num(l->doc, n, what, key->min, key->max, out, &err);
	}
	if (rc < 0)
		adopt(l, &err);
	return rc == 0;
}

static void add_item(struct buf *text, const char *item)
{
	if (text->n)
		buf_add_text(text, ", ");
	buf_add_text(text, item);
}

static bool read_list(struct catalog_loader *l, const struct yaml_node *n, struct catalog_field *f)
{
	AUTO_BUF text = {0};
	struct str item;
	struct err err;

	buf_init(&text, TEXT_MOST);
	if (yaml_want_list(l->doc, n, f->key->name, &err) < 0) {
		adopt(l, &err);
		return false;
	}
	for (unsigned i = 0; i < n->n; i++) {
		if (yaml_want_text(l->doc, n->item[i], f->key->name, &item, &err) < 0) {
			adopt(l, &err);
			return false;
		}
		add_item(&text, arena_text(l->c->arena, item));
	}
	f->num = n->n;
	f->text = arena_strdup(l->c->arena, buf_text(&text));
	return true;
}

static bool read_counts(
	struct catalog_loader *l, const struct yaml_node *n, struct catalog_field *f)
{
	AUTO_BUF text = {0};
	struct err err;
	double v = 0, sum = 0;

	buf_init(&text, TEXT_MOST);
	if (yaml_want_map(l->doc, n, f->key->name, &err) < 0) {
		adopt(l, &err);
		return false;
	}
	for (unsigned i = 0; i < n->n; i++) {
		if (!read_number(l, n->item[i], f->key, &v))
			return false;
		sum += v;
		add_item(&text, arena_printf(l->c->arena, "%s %.0f", n->key[i]->text.p, v));
	}
	f->num = sum;
	f->text = arena_strdup(l->c->arena, buf_text(&text));
	return true;
}

static bool read_range(struct catalog_loader *l, const struct yaml_node *n, struct catalog_field *f)
{
	if (n->kind != YAML_LIST || n->n != 2) {
		catalog_fault(l, n, E_SCHEMA, "such as [5, 30]", "'%s' must be a low and a high",
			f->key->name);
		return false;
	}
	if (!read_number(l, n->item[0], f->key, &f->num) ||
		!read_number(l, n->item[1], f->key, &f->high))
		return false;
	if (f->num > f->high) {
		catalog_fault(l, n, E_CONFLICT, NULL, "'%s' begins above its end", f->key->name);
		return false;
	}
	f->text = arena_printf(l->c->arena, "%.10g .. %.10g", f->num, f->high);
	return true;
}

static bool is_null(const struct yaml_node *n)
{
	return n->kind == YAML_SCALAR && n->plain &&
	       (str_is(n->text, "null") || str_is(n->text, "~"));
}

static bool read_value(struct catalog_loader *l, const struct yaml_node *n, struct catalog_field *f)
{
	struct str text;
	struct err err;
	bool yes;

	f->num = f->high = MODEL_UNSET;
	if (is_null(n))
		return true;
	switch (f->key->value) {
	case VALUE_LIST:
		return read_list(l, n, f);
	case VALUE_COUNTS:
		return read_counts(l, n, f);
	case VALUE_RANGE:
		return read_range(l, n, f);
	case VALUE_BOOL:
		if (yaml_want_bool(l->doc, n, f->key->name, &yes, &err) < 0) {
			adopt(l, &err);
			return false;
		}
		f->num = yes;
		break;
	case VALUE_NUM:
	case VALUE_COUNT:
		if (!read_number(l, n, f->key, &f->num))
			return false;
		break;
	case VALUE_TEXT:
		break;
	}
	if (yaml_want_text(l->doc, n, f->key->name, &text, &err) < 0) {
		adopt(l, &err);
		return false;
	}
	f->text = arena_text(l->c->arena, text);
	return true;
}

/* What 'fields' says of one field: its own confidence, sources, note. */
static void read_about(
	struct catalog_loader *l, const struct yaml_node *map, struct catalog_field *f)
{
	static const char *const keys[] = {"confidence", "source", "note", "date", NULL};
	enum confidence confidence;
	struct err err;

	if (yaml_known_keys(l->doc, map, keys, &err) < 0) {
		adopt(l, &err);
		return;
	}
	confidence = read_confidence(l, map);
	if (confidence != CONFIDENCE_UNSTATED)
		f->confidence = confidence;
	if (yaml_get(map, "source")) {
		f->n_sources = 0;
		read_sources_of(l, map, f->sources, &f->n_sources);
	}
	f->note = read_text(l, map, "note", false);
	f->date = read_text(l, map, "date", false);
}

static void read_field(struct catalog_loader *l, const struct yaml_node *map,
	const struct catalog_key *key, struct catalog_entry *e)
{
	const struct yaml_node *n = yaml_get(map, key->name);
	const struct yaml_node *about = yaml_get(yaml_get(map, "fields"), key->name);
	struct catalog_field *f = &e->fields[e->n_fields];

	if (!n && key->required)
		catalog_fault(l, map, E_SCHEMA, "write null when it is not known",
			"%s '%s' has no '%s'", CATALOG_KIND_NAMES[e->kind], e->id, key->name);
	if (!n && about)
		catalog_fault(l, yaml_key(yaml_get(map, "fields"), key->name), E_CONFLICT, NULL,
			"'%s' has no '%s' to tell about", e->id, key->name);
	if (!n)
		return;
	*f = (struct catalog_field){.key = key,
		.confidence = e->confidence,
		.n_sources = e->n_sources,
		.line = n->line,
		.col = n->col};
	memcpy(f->sources, e->sources, sizeof f->sources);
	if (!read_value(l, n, f))
		return;
	if (about)
		read_about(l, about, f);
	f->assumed = f->text &&
		     (f->confidence == CONFIDENCE_LOW || only_memory(f->sources, f->n_sources));
	e->n_fields++;
}

/* Keys of the map, and of its 'fields', are those of the kind. */
static bool check_keys(
	struct catalog_loader *l, const struct yaml_node *map, enum catalog_kind kind)
{
	static const char *const own[] = {
		"id", "name", "maker", "note", "source", "confidence", "suspicious", "fields"};
	const char *known[128];
	const struct yaml_node *fields;
	unsigned n = 0;
	struct err err;

	for (const struct catalog_key *k = catalog_keys(kind); k->name; k++)
		known[n++] = k->name;
	known[n] = NULL;
	fields = yaml_get(map, "fields");
	if (fields && yaml_known_keys(l->doc, fields, known, &err) < 0) {
		adopt(l, &err);
		return false;
	}
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		known[n++] = own[i];
	known[n] = NULL;
	if (yaml_known_keys(l->doc, map, known, &err) == 0)
		return true;
	adopt(l, &err);
	return false;
}

static void read_entry(
	struct catalog_loader *l, const struct yaml_node *map, enum catalog_kind kind)
{
	struct catalog_entry *e = arena_alloc(l->c->arena, sizeof *e);
	const struct catalog_entry *old;
	unsigned room = 0;

	if (!check_keys(l, map, kind))
		return;
	*e = (struct catalog_entry){.kind = kind, .file = l->doc->name, .line = map->line};
	e->id = read_text(l, map, "id", true);
	e->name = read_text(l, map, "name", true);
	e->maker = read_text(l, map, "maker", false);
	e->note = read_text(l, map, "note", false);
	e->suspicious = read_text(l, map, "suspicious", false);
	e->confidence = read_confidence(l, map);
	read_sources_of(l, map, e->sources, &e->n_sources);
	if (!e->id || !e->name)
		return;
	if (!str_is_name(str_of(e->id)))
		catalog_fault(l, yaml_get(map, "id"), E_SCHEMA,
			"letters, digits and . _ - only, at most 64", "the id is no name");
	if (e->confidence == CONFIDENCE_UNSTATED && !yaml_get(map, "confidence"))
		catalog_fault(l, map, E_SCHEMA, "high, medium or low; see the README",
			"'%s' has no 'confidence'", e->id);
	if (e->n_sources == 0 && !yaml_get(map, "source"))
		catalog_fault(l, map, E_SCHEMA, "the id of one of 'sources', or a list of them",
			"'%s' has no 'source'", e->id);
	old = catalog_find(l->c, CATALOG_KINDS, e->id);
	if (old) {
		catalog_fault(l, yaml_get(map, "id"), E_EXISTS, NULL,
			"'%s' is there already, in %s line %u", e->id, old->file, old->line);
		return;
	}
	for (const struct catalog_key *k = catalog_keys(kind); k->name; k++)
		room++;
	e->fields = arena_alloc(l->c->arena, room * sizeof *e->fields);
	for (const struct catalog_key *k = catalog_keys(kind); k->name; k++)
		read_field(l, map, k, e);
	*vec_push(&l->c->entries) = e;
}

void catalog_read_entries(struct catalog_loader *l)
{
	for (int kind = 0; kind < CATALOG_KINDS; kind++) {
		const struct yaml_node *list = section(l, CATALOG_SECTIONS[kind], YAML_LIST);

		for (unsigned i = 0; list && i < list->n; i++) {
			if (l->c->entries.n >= CATALOG_ENTRIES_MAX) {
				catalog_fault(l, list->item[i], E_LIMIT, NULL,
					"more than %d entries", CATALOG_ENTRIES_MAX);
				return;
			}
			read_entry(l, list->item[i], (enum catalog_kind)kind);
		}
	}
}
