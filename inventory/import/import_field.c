/* import_field - one row by a table of fields, and the faults found on the way. */
#include "agent/base/buf.h"
#include "inventory/import/import_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MAX        64
#define CURVE_POINTS_MAX 64

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

const struct yaml_node *import_at(const struct yaml_node *map, const char *path)
{
	struct str rest = str_of(path), key;

	while (map && str_next(&rest, '.', &key)) {
		char name[64];

		snprintf(name, sizeof name, STR_FMT, STR_ARG(key));
		map = yaml_get(map, name);
	}
	return map;
}

void import_fault(struct importer *im, const struct yaml_node *map, const char *field, enum ec code,
	const char *hint, const char *fmt, ...)
{
	const struct yaml_node *at = field ? import_at(map, field) : NULL;
	va_list ap;

	if (im->faults.n < IMPORT_ERRORS_MAX)
		*vec_push(&im->faults) = (struct fault){map, at, field};
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
	const struct yaml_node *at = field && im->faults.n ? import_at(map, field) : NULL;

	vec_each(&im->faults, const struct fault, f)
		if ((at && f->at == at) ||
			(f->map == map && field && f->field && strcmp(f->field, field) == 0))
			return true;
	return false;
}

void import_tear(struct importer *im, const struct yaml_node *node)
{
	if (im->torn.n < IMPORT_ERRORS_MAX)
		*vec_push(&im->torn) = node;
}

bool import_is_torn(const struct importer *im, enum model_noun noun, size_t row)
{
	const struct places *places = &im->places[noun];

	vec_each(&im->torn, const struct yaml_node *, node)
		if (row < places->n && places->at[row] == *node)
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
			    m->pdus.n + m->outlets.n + m->types.n + m->devices.n + m->ports.n +
			    m->upses.n + m->generators.n + 1;
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
	case NOUN_UPS:
		COLLECT(upses, ups, true);
	case NOUN_GENERATOR:
		COLLECT(generators, generator, true);
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

/* A port or outlet may be missing because its type or PDU is at fault, which was said. */
static bool follows(const struct importer *im, enum model_noun noun, size_t owner)
{
	if (noun == NOUN_OUTLET)
		return import_is_torn(im, NOUN_PDU, owner);
	return noun == NOUN_PORT && import_is_torn(im, NOUN_TYPE, im->m->devices.at[owner].type);
}

size_t import_find(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	size_t owner, struct str name)
{
	const char *word = arena_text(im->m->arena, name);
	const size_t row = model_index_find(im->index, noun, owner, word);
	const char *of = owner_name(im, noun, owner);
	char hint[240] = "";

	if (row != MODEL_NONE || follows(im, noun, owner))
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

static int read_text(struct importer *im, const struct model_field *f,
	const struct yaml_node *value, const char *what, void *to, struct err *err)
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

static int read_uint(struct importer *im, const struct model_field *f,
	const struct yaml_node *value, const char *what, void *to, struct err *err)
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

/* An enum, the word itself, or its letter; "-" at the head of a list is no word. */
static void read_word(struct importer *im, const struct model_field *f, const char *key,
	const struct yaml_node *value, void *to)
{
	const unsigned skip = f->words[0][0] == '-';
	unsigned u;
	int i;

	/* phases were numbers once */
	if (f->words == MODEL_PHASES && value->kind == YAML_SCALAR && value->text.n == 1 &&
		value->text.p[0] >= '1' && value->text.p[0] <= '3') {
		u = (unsigned)(value->text.p[0] - '0');
		memcpy(to, &u, sizeof u);
		return;
	}
	i = import_word(im, value, key, f->words + skip);
	if (i < 0)
		return;
	u = (unsigned)i + skip;
	if (f->kind == FIELD_WORD)
		memcpy(to, &f->words[u], sizeof f->words[u]);
	else if (f->kind == FIELD_CHAR)
		memcpy(to, f->words[u], 1);
	else
		memcpy(to, &u, sizeof u);
}

static void read_ref(struct importer *im, const struct model_field *f, const char *key,
	const struct yaml_node *map, const struct yaml_node *value, void *to)
{
	size_t row;

	if (value->kind != YAML_SCALAR) {
		import_fault(im, map, key, E_SCHEMA, NULL, "'%s' must be the name of a %s", key,
			model_noun_name(f->noun));
		return;
	}
	row = import_find(im, value, f->noun, 0, value->text);
	memcpy(to, &row, sizeof row);
}

/* 1.5: halves only. */
static int read_half(struct importer *im, const struct model_field *f,
	const struct yaml_node *value, const char *what, void *row, struct err *err)
{
	double v = 0;
	unsigned u;
	bool half;
	int rc = yaml_want_num(im->doc, value, what, f->min, f->max, &v, err);

	if (rc < 0)
		return rc;
	u = (unsigned)v;
	half = v > u;
	if (half && (v - u > 0.5 || v - u < 0.5))
		return yaml_err(
			im->doc, value, err, E_SCHEMA, "%s must be whole units or halves", what);
	memcpy((char *)row + f->offset, &u, sizeof u);
	memcpy((char *)row + f->offset2, &half, sizeof half);
	return 0;
}

static int read_pair(struct importer *im, const struct model_field *f,
	const struct yaml_node *value, const char *what, void *row, struct err *err)
{
	double a = 0, b = 0;
	int rc;

	if (value->kind != YAML_LIST || value->n != 2)
		return yaml_err(
			im->doc, value, err, E_SCHEMA, "%s must be two numbers, [a, b]", what);
	rc = yaml_want_num(im->doc, value->item[0], what, f->min, f->max, &a, err);
	if (rc == 0)
		rc = yaml_want_num(im->doc, value->item[1], what, f->min, f->max, &b, err);
	memcpy((char *)row + f->offset, &a, sizeof a);
	memcpy((char *)row + f->offset2, &b, sizeof b);
	return rc;
}

static int read_point(struct importer *im, const struct model_field *f,
	const struct yaml_node *point, const char *what, struct curve_point *to, struct err *err)
{
	int rc;

	if (point->kind != YAML_LIST || point->n != 2)
		return yaml_err(im->doc, point, err, E_SCHEMA, "a point of %s must be [%s, %s]",
			what, f->unit, f->unit2);
	rc = yaml_want_num(im->doc, point->item[0], what, f->min, f->max, &to->x, err);
	if (rc == 0)
		rc = yaml_want_num(im->doc, point->item[1], what, f->min, f->max, &to->y, err);
	return rc;
}

static int read_curve(struct importer *im, const struct model_field *f,
	const struct yaml_node *value, const char *what, void *to, struct err *err)
{
	struct curve curve = {NULL, 0};
	struct curve_point *at;
	int rc = 0;

	if (value->kind != YAML_LIST || value->n == 0 || value->n > CURVE_POINTS_MAX)
		return yaml_err(im->doc, value, err, E_SCHEMA,
			"%s must be a list of 1 to %d points [%s, %s]", what, CURVE_POINTS_MAX,
			f->unit, f->unit2);
	at = arena_alloc(im->m->arena, value->n * sizeof *at);
	for (unsigned i = 0; rc == 0 && i < value->n; i++) {
		rc = read_point(im, f, value->item[i], what, &at[i], err);
		if (rc == 0 && i > 0 && at[i].x <= at[i - 1].x)
			rc = yaml_err(im->doc, value->item[i], err, E_CONFLICT,
				"the points of %s must rise in %s", what, f->unit);
	}
	curve.at = at;
	curve.n = value->n;
	if (rc == 0)
		memcpy(to, &curve, sizeof curve);
	return rc;
}

static int read_number(struct importer *im, const struct model_field *f,
	const struct yaml_node *value, const char *what, void *row, struct err *err)
{
	void *to = (char *)row + f->offset;

	switch (f->kind) {
	case FIELD_NUM:
		return yaml_want_num(im->doc, value, what, f->min, f->max, to, err);
	case FIELD_BOOL:
		return yaml_want_bool(im->doc, value, what, to, err);
	case FIELD_UINT:
		return read_uint(im, f, value, what, to, err);
	case FIELD_HALF:
		return read_half(im, f, value, what, row, err);
	case FIELD_PAIR:
		return read_pair(im, f, value, what, row, err);
	case FIELD_CURVE:
		return read_curve(im, f, value, what, to, err);
	default:
		return read_text(im, f, value, what, to, err);
	}
}

static void read_texts(struct importer *im, const struct model_field *f,
	const struct yaml_node *value, const char *what, void *to)
{
	const char *text = NULL;

	if (f->kind == FIELD_VARS)
		import_vars(im, value, what, &text);
	else
		import_names(im, value, what, &text);
	memcpy(to, &text, sizeof text);
}

void import_field(struct importer *im, const struct model_field *f, const char *key,
	const struct yaml_node *map, const struct yaml_node *value, void *row)
{
	void *to = (char *)row + f->offset;
	char what[48];
	struct err err;

	if (f->kind == FIELD_SUPPLY)
		return;
	if (f->kind == FIELD_ENUM || f->kind == FIELD_WORD || f->kind == FIELD_CHAR) {
		read_word(im, f, key, value, to);
		return;
	}
	if (f->kind == FIELD_REF) {
		read_ref(im, f, key, map, value, to);
		return;
	}
	snprintf(what, sizeof what, "'%s'", key);
	if (f->kind == FIELD_VARS || f->kind == FIELD_NAMES) {
		read_texts(im, f, value, what, to);
		return;
	}
	if (read_number(im, f, value, what, row, &err) < 0)
		adopt(im, map, key, &err, f->unit2 ? NULL : f->unit);
}

/* --- one row --- */

/* A row in the reading: fields first to last have the map's path before them. */
struct reader {
	struct importer *im;
	struct model_fields fields;
	enum model_noun noun;
	const char *const *extra;
	void *row;
};

static bool is_extra(const struct reader *r, struct str key)
{
	if (str_is(key, "facts") && r->fields.at == model_fields_of(r->noun).at)
		return true;
	for (const char *const *e = r->extra; e && *e; e++)
		if (str_is(key, *e))
			return true;
	return false;
}

/* The first part of a path. */
static struct str head_of(const char *path)
{
	struct str rest = str_of(path), head;

	str_next(&rest, '.', &head);
	return head;
}

/* Known keys of the map at prefix; each once, as those of one map stand together. */
static void refuse_key(const struct reader *r, const char *prefix, const struct yaml_node *key)
{
	const char *names[80];
	const size_t skip = strlen(prefix);
	char hint[240], word[72];
	size_t k = 0;

	for (size_t i = 0; i < r->fields.n && k < 70; i++) {
		const char *path = r->fields.at[i].key;

		if (strncmp(path, prefix, skip) != 0)
			continue;
		if (k == 0 || !str_is(head_of(path + skip), names[k - 1]))
			names[k++] = arena_text(r->im->doc->arena, head_of(path + skip));
	}
	for (size_t i = 0; !*prefix && r->extra && r->extra[i] && k < 79; i++)
		names[k++] = r->extra[i];
	names[k] = NULL;
	snprintf(word, sizeof word, STR_FMT, STR_ARG(str_first(key->text, 64)));
	hint_names(names, word, hint, sizeof hint);
	import_fault_at(r->im, key, E_SCHEMA, hint, "unknown key '%s'", word);
}

static void read_map(const struct reader *r, const char *prefix, const struct yaml_node *map);

/* "watts: 100", where the field that stands for its map may be told without it. */
static void read_brief(const struct reader *r, const char *group, const struct yaml_node *map,
	const struct yaml_node *value)
{
	char key[64];

	snprintf(key, sizeof key, STR_FMT, STR_ARG(head_of(group)));
	for (size_t i = 0; i < r->fields.n; i++) {
		const struct model_field *f = &r->fields.at[i];

		if (f->brief && strstr(f->key, group) && value->kind == YAML_SCALAR) {
			import_field(r->im, f, key, map, value, r->row);
			return;
		}
	}
	import_fault(r->im, map, key, E_SCHEMA, NULL, "'%s' must be a map", key);
}

/* The field or the map of fields that path names, beside prefix. False when there is none. */
static bool read_key(const struct reader *r, const char *prefix, const struct yaml_node *map,
	const struct yaml_node *key, const struct yaml_node *value)
{
	const size_t skip = strlen(prefix);

	for (size_t i = 0; i < r->fields.n; i++) {
		const struct model_field *f = &r->fields.at[i];
		const char *rest = f->key + skip;

		if (strncmp(f->key, prefix, skip) != 0 ||
			strncmp(rest, key->text.p, key->text.n) != 0)
			continue;
		if (rest[key->text.n] == '\0') {
			import_field(r->im, f, rest, map, value, r->row);
			return true;
		}
		if (rest[key->text.n] == '.') {
			const char *path = arena_printf(
				r->im->doc->arena, "%s" STR_FMT ".", prefix, STR_ARG(key->text));

			if (value->kind == YAML_MAP)
				read_map(r, path, value);
			else
				read_brief(r, path + skip, map, value);
			return true;
		}
	}
	return false;
}

static void read_map(const struct reader *r, const char *prefix, const struct yaml_node *map)
{
	for (unsigned i = 0; i < map->n; i++) {
		const struct str key = map->key[i]->text;

		if (key.n > 0 && read_key(r, prefix, map, map->key[i], map->item[i]))
			continue;
		if (*prefix || !is_extra(r, key))
			refuse_key(r, prefix, map->key[i]);
	}
}

bool import_row(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	struct model_fields fields, const char *const *extra, void *row)
{
	const struct reader r = {im, fields, noun, extra, row};

	if (node->kind != YAML_MAP) {
		import_fault_at(im, node, E_SCHEMA,
			noun == NOUN_NODE ? "such as {address: 10.0.0.7}" : "such as {name: ...}",
			"a %s must be a map", model_noun_name(noun));
		return false;
	}
	read_map(&r, "", node);
	for (size_t i = 0; i < fields.n; i++) {
		if (!fields.at[i].required || yaml_get(node, fields.at[i].key))
			continue;
		if (noun >= NOUN_N)
			import_fault(im, node, fields.at[i].key, E_SCHEMA,
				"it begins with 'site: NAME'", "the file does not name its site");
		else
			import_fault(im, node, fields.at[i].key, E_SCHEMA,
				noun == NOUN_DEVICE && strcmp(fields.at[i].key, "type") == 0
					? "one of 'device_types:', whose least is {name: box, "
					  "height_u: 1}; a machine without a device goes under 'nodes:'"
					: NULL,
				"the %s has no '%s'", model_noun_name(noun), fields.at[i].key);
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
