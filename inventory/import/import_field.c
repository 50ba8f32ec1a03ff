/* import_field - one row by a table of fields, and the faults found on the way. */
#include "agent/base/buf.h"
#include "inventory/import/import_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MAX 64

__attribute__((format(printf, 5, 0))) static void add(struct importer *im,
	const struct yaml_node *at, enum ec code, const char *hint, const char *fmt, va_list ap)
{
	char msg[400];
	struct err *err;

	im->errors->total++;
	if (im->errors->list.n >= IMPORT_ERRORS_MAX)
		return;
	vsnprintf(msg, sizeof msg, fmt, ap);
	err = vec_push(&im->errors->list);
	yaml_err(im->doc, at, err, code, "%s", msg);
	if (hint && *hint)
		err_hint(err, "%s", hint);
}

void import_fault(struct importer *im, const struct yaml_node *map, const char *field, enum ec code,
	const char *hint, const char *fmt, ...)
{
	const struct yaml_node *at = field ? yaml_get(map, field) : NULL;
	va_list ap;

	if (im->faults.n < IMPORT_ERRORS_MAX)
		*vec_push(&im->faults) = (struct fault){map, field};
	va_start(ap, fmt);
	add(im, at ? at : map, code, hint, fmt, ap);
	va_end(ap);
}

void import_fault_at(struct importer *im, const struct yaml_node *at, enum ec code,
	const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(im, at, code, hint, fmt, ap);
	va_end(ap);
}

bool import_is_faulty(const struct importer *im, const struct yaml_node *map, const char *field)
{
	vec_each(&im->faults, const struct fault, f)
		if (f->map == map && field && f->field && strcmp(f->field, field) == 0)
			return true;
	return false;
}

/* An error that a reader of base made, at its own place. */
static void adopt(struct importer *im, const struct yaml_node *map, const char *field,
	struct err *err, const char *unit)
{
	import_fault(im, map, field, err->code, NULL, "%s", err->msg);
	if (im->errors->total > im->errors->list.n)
		return;
	if (unit && err->code != E_INTERNAL)
		err_hint(&im->errors->list.at[im->errors->list.n - 1],
			"a plain number; the unit is %s", unit);
	else if (err->hint[0])
		err_hint(&im->errors->list.at[im->errors->list.n - 1], "%s", err->hint);
}

char *import_text(struct importer *im, const struct yaml_node *node)
{
	return arena_text(im->m->arena, node->text);
}

bool import_name_ok(struct importer *im, const struct yaml_node *node, const char *what)
{
	if (node->kind == YAML_SCALAR && str_is_name(node->text))
		return true;
	import_fault_at(im, node, E_SCHEMA, "letters, digits and . _ - only, at most 64",
		"%s is no name", what);
	return false;
}

static bool is_label(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == '/' || s.p[i] == 0x7f)
			return false;
	return s.n > 0 && s.n <= LABEL_MAX && s.p[0] != ' ' && s.p[s.n - 1] != ' ';
}

/* Names of all rows of a noun, for the nearest one; NULL-terminated. */
static const char *const *names_of(struct importer *im, enum model_noun noun, size_t owner)
{
	const struct model *m = im->m;
	const size_t most = m->locations.n + m->zones.n + m->panels.n + m->racks.n + m->feeds.n +
			    m->pdus.n + m->outlets.n + m->types.n + m->devices.n + m->ports.n + 1;
	const char **names = arena_alloc(im->doc->arena, most * sizeof *names);
	size_t n = 0;

#define COLLECT(list, type, wanted)                 \
	vec_each(&m->list, const struct type, it) { \
		if (wanted)                         \
			names[n++] = it->name;      \
	}                                           \
	break
	switch (noun) {
	case NOUN_LOCATION:
		COLLECT(locations, location, true);
	case NOUN_ZONE:
		COLLECT(zones, cooling_zone, true);
	case NOUN_PANEL:
		COLLECT(panels, panel, true);
	case NOUN_RACK:
		COLLECT(racks, rack, true);
	case NOUN_FEED:
		COLLECT(feeds, feed, true);
	case NOUN_PDU:
		COLLECT(pdus, pdu, true);
	case NOUN_OUTLET:
		COLLECT(outlets, outlet, it->pdu == owner);
	case NOUN_TYPE:
		COLLECT(types, device_type, true);
	case NOUN_DEVICE:
		COLLECT(devices, device, true);
	case NOUN_PORT:
		COLLECT(ports, port, it->device == owner);
	default:
		break;
	}
#undef COLLECT
	return names;
}

/* "did you mean 'x'?", or what there is. */
static void hint_names(const char *const *names, const char *word, char *out, size_t n)
{
	const char *near = err_nearest(word, names);
	AUTO_BUF list;

	buf_init(&list, 200);
	if (near) {
		snprintf(out, n, "did you mean '%s'?", near);
		return;
	}
	for (size_t i = 0; i < 8 && names[i]; i++)
		buf_addf(&list, "%s%s", i ? ", " : "there are: ", names[i]);
	snprintf(out, n, "%s", names[0] ? buf_text(&list) : "there is none yet");
}

static const char *owner_name(const struct importer *im, enum model_noun noun, size_t owner)
{
	if (noun == NOUN_PORT)
		return im->m->devices.at[owner].name;
	if (noun == NOUN_OUTLET)
		return im->m->pdus.at[owner].name;
	return NULL;
}

size_t import_find(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	size_t owner, struct str name)
{
	const char *word = arena_text(im->m->arena, name);
	const size_t row = model_index_find(im->index, noun, owner, word);
	const char *of = owner_name(im, noun, owner);
	char hint[240] = "";

	if (row != MODEL_NONE)
		return row;
	if (im->errors->list.n < IMPORT_ERRORS_MAX)
		hint_names(names_of(im, noun, owner), word, hint, sizeof hint);
	if (of)
		import_fault_at(im, node, E_NOTFOUND, hint, "'%s' has no %s '%.80s'", of,
			model_noun_name(noun), word);
	else
		import_fault_at(im, node, E_NOTFOUND, hint, "there is no %s '%.80s'",
			model_noun_name(noun), word);
	return MODEL_NONE;
}

int import_word(struct importer *im, const struct yaml_node *node, const char *what,
	const char *const *words)
{
	const char *word = node->kind == YAML_SCALAR ? import_text(im, node) : "";
	const int i = model_word(words, word);
	char hint[240];

	if (i >= 0)
		return i;
	hint_names(words, word, hint, sizeof hint);
	import_fault_at(im, node, E_SCHEMA, hint, "'%.80s' is no %s", word, what);
	return -1;
}

bool import_range(struct importer *im, const struct yaml_node *node, struct model_names *names)
{
	struct err err;

	if (node->kind != YAML_SCALAR) {
		import_fault_at(
			im, node, E_SCHEMA, "such as \"eth[0-1]\"", "expected a range of names");
		return false;
	}
	if (model_expand_range(im->m->arena, import_text(im, node), names, &err) < 0) {
		import_fault_at(
			im, node, err.code, "such as \"eth[0-1]\" or \"a,b\"", "%s", err.msg);
		return false;
	}
	vec_each(names, const char *, name) {
		if (!str_is_name(str_of(*name))) {
			import_fault_at(im, node, E_SCHEMA, "letters, digits and . _ - only",
				"'%.80s' is no name", *name);
			return false;
		}
	}
	return true;
}

/* --- one field --- */

static int read_text(struct importer *im, const struct field *f, const struct yaml_node *value,
	const char *what, void *to, struct err *err)
{
	struct str text = {0};
	const char *z;
	int rc = yaml_want_text(im->doc, value, what, &text, err);

	if (rc < 0)
		return rc;
	if (f->kind == FIELD_NAME && !str_is_name(text))
		rc = err_set(err, E_SCHEMA, "%s must be a name: letters, digits and . _ -", what);
	if (f->kind == FIELD_LABEL && !is_label(text))
		rc = err_set(err, E_SCHEMA, "%s must be a name of at most %d bytes without '/'",
			what, LABEL_MAX);
	if (rc < 0)
		return rc;
	z = arena_text(im->m->arena, text);
	memcpy(to, &z, sizeof z);
	return 0;
}

static int read_uint(struct importer *im, const struct field *f, const struct yaml_node *value,
	const char *what, void *to, struct err *err)
{
	int64_t v;
	unsigned u;
	const int rc =
		yaml_want_int(im->doc, value, what, (int64_t)f->min, (int64_t)f->max, &v, err);

	if (rc == 0) {
		u = (unsigned)v;
		memcpy(to, &u, sizeof u);
	}
	return rc;
}

/* An enum as unsigned, or the word itself. */
static void read_word(
	struct importer *im, const struct field *f, const struct yaml_node *value, void *to)
{
	const int i = import_word(im, value, f->key, f->words);
	const unsigned u = (unsigned)i;

	if (i < 0)
		return;
	if (f->kind == FIELD_WORD)
		memcpy(to, &f->words[i], sizeof f->words[i]);
	else
		memcpy(to, &u, sizeof u);
}

static void read_ref(struct importer *im, const struct field *f, const struct yaml_node *map,
	const struct yaml_node *value, void *to)
{
	size_t row;

	if (value->kind != YAML_SCALAR) {
		import_fault(im, map, f->key, E_SCHEMA, NULL, "'%s' must be the name of a %s",
			f->key, model_noun_name(f->noun));
		return;
	}
	row = import_find(im, value, f->noun, 0, value->text);
	memcpy(to, &row, sizeof row);
}

void import_field(struct importer *im, const struct field *f, const struct yaml_node *map,
	const struct yaml_node *value, void *row)
{
	void *to = (char *)row + f->offset;
	char what[48];
	struct err err;
	int rc = 0;

	snprintf(what, sizeof what, "'%s'", f->key);
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_NAME:
	case FIELD_LABEL:
		rc = read_text(im, f, value, what, to, &err);
		break;
	case FIELD_NUM:
		rc = yaml_want_num(im->doc, value, what, f->min, f->max, to, &err);
		break;
	case FIELD_BOOL:
		rc = yaml_want_bool(im->doc, value, what, to, &err);
		break;
	case FIELD_UINT:
		if (f->words)
			read_word(im, f, value, to);
		else
			rc = read_uint(im, f, value, what, to, &err);
		break;
	case FIELD_WORD:
		read_word(im, f, value, to);
		break;
	case FIELD_REF:
		read_ref(im, f, map, value, to);
		break;
	}
	if (rc < 0)
		adopt(im, map, f->key, &err, f->unit);
}

static bool is_known(const struct field *fields, size_t n, const char *const *extra, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(key, fields[i].key))
			return true;
	for (; extra && *extra; extra++)
		if (str_is(key, *extra))
			return true;
	return false;
}

static void refuse_key(struct importer *im, const struct field *fields, size_t n,
	const char *const *extra, const struct yaml_node *key)
{
	const char *names[64];
	char hint[240], word[72];
	size_t k = 0;

	for (size_t i = 0; i < n && k < 63; i++)
		names[k++] = fields[i].key;
	for (; extra && *extra && k < 63; extra++)
		names[k++] = *extra;
	names[k] = NULL;
	snprintf(word, sizeof word, STR_FMT, STR_ARG(str_first(key->text, 64)));
	hint_names(names, word, hint, sizeof hint);
	import_fault_at(im, key, E_SCHEMA, hint, "unknown key '%s'", word);
}

bool import_row(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	const struct field *fields, size_t n, const char *const *extra, void *row)
{
	if (node->kind != YAML_MAP) {
		import_fault_at(im, node, E_SCHEMA, "such as {name: ...}", "a %s must be a map",
			model_noun_name(noun));
		return false;
	}
	for (unsigned i = 0; i < node->n; i++)
		if (!is_known(fields, n, extra, node->key[i]->text))
			refuse_key(im, fields, n, extra, node->key[i]);
	for (size_t i = 0; i < n; i++) {
		const struct yaml_node *value = yaml_get(node, fields[i].key);

		if (value)
			import_field(im, &fields[i], node, value, row);
		else if (fields[i].required)
			import_fault(im, node, fields[i].key, E_SCHEMA, NULL, "the %s has no '%s'",
				model_noun_name(noun), fields[i].key);
	}
	return true;
}

static const struct yaml_node *typed(struct importer *im, const struct yaml_node *map,
	const char *key, enum yaml_kind kind, const char *expected)
{
	const struct yaml_node *value = yaml_get(map, key);

	if (!value || value->kind == kind)
		return value;
	import_fault(im, map, key, E_SCHEMA, NULL, "'%s' must be %s", key, expected);
	return NULL;
}

const struct yaml_node *import_list(
	struct importer *im, const struct yaml_node *map, const char *key)
{
	return typed(im, map, key, YAML_LIST, "a list");
}

const struct yaml_node *import_map(
	struct importer *im, const struct yaml_node *map, const char *key)
{
	return typed(im, map, key, YAML_MAP, "a map");
}

void import_enter(struct importer *im, enum model_noun noun, size_t owner, const char *name,
	size_t row, const struct yaml_node *place)
{
	*vec_push(&im->places[noun]) = place;
	if (name)
		model_index_put(im->index, noun, owner, name, row);
}

bool import_room_left(struct importer *im, size_t rows, const struct yaml_node *place)
{
	if (rows < IMPORT_ROWS_MAX)
		return true;
	import_fault_at(im, place, E_LIMIT, "split the site", "more than %d ports or outlets",
		IMPORT_ROWS_MAX);
	return false;
}
