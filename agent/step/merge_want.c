/* merge_want - the arguments of a merge as wants, and what is remembered of their keys. */
#include "agent/step/merge_want.h"

#include "agent/base/hash.h"

#include <stdlib.h>
#include <string.h>

struct merge_want *merge_wants_add(struct merge_wants *w, enum merge_op op,
	const struct merge_path *path, json_t *value, struct err *err)
{
	struct merge_want *made;

	if (w->n == MERGE_WANTS_MAX) {
		err_set(err, E_LIMIT, "more than %d keys", MERGE_WANTS_MAX);
		return NULL;
	}
	if (w->n == w->room) {
		struct merge_want *old = w->at;

		w->room = w->room ? 2 * w->room : 16;
		w->at = arena_alloc(w->arena, w->room * sizeof *w->at);
		if (w->n > 0)
			memcpy(w->at, old, w->n * sizeof *w->at);
	}
	made = &w->at[w->n++];
	*made = (struct merge_want){.op = op, .path = *path, .value = value, .keep = path->n};
	return made;
}

void merge_wants_done(struct merge_wants *w)
{
	json_drop(&w->made);
}

/* Keeps a value that was made here as long as the wants. */
static json_t *own(struct merge_wants *w, json_t *v)
{
	if (!w->made)
		w->made = json_array();
	json_array_append_new(w->made, v);
	return v;
}

/* --- values --- */

static int fail_value(const struct merge_wants *w, const struct merge_path *p, const char *what,
	const char *hint, struct err *err)
{
	err_set(err, E_SCHEMA, "'%s': %s", merge_path_show(w->arena, p), what);
	return err_hint(err, "%s", hint);
}

/* Scalars of a format that knows only text. */
static json_t *scalar_text(json_t *v)
{
	AUTO_BUF text;

	buf_init(&text, 64);
	if (json_is_string(v) || json_is_null(v))
		return json_incref(v);
	if (json_is_boolean(v))
		return json_string(json_is_true(v) ? "true" : "false");
	merge_add_number(v, &text);
	return json_string(buf_text(&text));
}

static bool has_null(json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(v, i, item) if (has_null(item)) return true;
	json_object_foreach(v, key, item)
	{
		if (has_null(item))
			return true;
	}
	return json_is_null(v);
}

static int row_items(struct merge_wants *w, const struct merge_path *p, json_t **v, struct err *err)
{
	json_t *list = own(w, json_array()), *item;
	size_t i;

	json_array_foreach(*v, i, item)
	{
		if (json_is_array(item) || json_is_object(item) || json_is_null(item))
			return fail_value(w, p, "a list of this format holds only text",
				"write a list of texts", err);
		json_array_append_new(list, scalar_text(item));
	}
	*v = list;
	return 0;
}

/* The value as the format can hold it. */
static int fit_value(struct merge_wants *w, const struct merge_path *p, json_t **v, struct err *err)
{
	if (w->format->plain && has_null(*v))
		return fail_value(w, p, "the format has no null",
			"leave the key out, or name it under 'absent'", err);
	if (!w->format->rows || json_is_object(*v))
		return 0;
	if (json_is_array(*v))
		return row_items(w, p, v, err);
	*v = own(w, scalar_text(*v));
	return 0;
}

static int read_values(
	struct merge_wants *w, json_t *map, struct merge_path *p, bool absent, struct err *err)
{
	const unsigned depth = p->n;
	const char *key;
	json_t *v;
	int rc = 0;

	json_object_foreach(map, key, v)
	{
		struct merge_want *made;

		p->n = depth;
		if ((rc = merge_path_add(w->arena, w->format, str_of(key), p, err)) < 0)
			return rc;
		if (json_is_object(v) && json_object_size(v) > 0) {
			if ((rc = read_values(w, v, p, absent, err)) < 0)
				return rc;
			continue;
		}
		if (!absent && (rc = fit_value(w, p, &v, err)) < 0)
			return rc;
		made = merge_wants_add(
			w, absent ? MERGE_GONE : MERGE_SET, p, absent ? NULL : v, err);
		if (!made)
			return -E_LIMIT;
		if (absent)
			made->keep = 0;
	}
	p->n = depth;
	return 0;
}

static int read_path(struct merge_wants *w, struct str text, struct merge_path *p, struct err *err)
{
	const char *sep = w->format->separator;

	p->n = 0;
	if (sep && str_find_str(text, str_of(sep)) != STR_NONE)
		return merge_path_add(w->arena, w->format, text, p, err);
	return merge_path_parse(w->arena, text, p, err);
}

/* An entry of absent: "a.b", or [a, b] part by part. */
static int read_absent_path(
	struct merge_wants *w, const json_t *v, struct merge_path *p, struct err *err)
{
	int rc = 0;

	if (json_is_string(v))
		return read_path(w, str_of(json_string_value(v)), p, err);
	p->n = 0;
	for (size_t i = 0; i < json_array_size(v) && rc == 0; i++) {
		const json_t *part = json_array_get(v, i);

		if (!json_is_string(part))
			return err_set(err, E_SCHEMA, "'absent': a part of a key is no text");
		rc = merge_path_add(w->arena, w->format, str_of(json_string_value(part)), p, err);
	}
	if (rc == 0 && p->n == 0) {
		err_set(err, E_SCHEMA, "'absent' must be a list of keys");
		return err_hint(err, "such as [a.b, 'c.\"d.e\"']");
	}
	return rc;
}

static int read_absent(struct merge_wants *w, const json_t *list, struct err *err)
{
	struct merge_path p;
	int rc = 0;

	if (list && !json_is_array(list)) {
		err_set(err, E_SCHEMA, "'absent' must be a list of keys");
		return err_hint(err, "such as [a.b, 'c.\"d.e\"']");
	}
	for (size_t i = 0; i < json_array_size(list) && rc == 0; i++) {
		rc = read_absent_path(w, json_array_get(list, i), &p, err);
		if (rc == 0 && !merge_wants_add(w, MERGE_GONE, &p, NULL, err))
			rc = -E_LIMIT;
	}
	return rc;
}

static int fail_lists(const char *key, struct err *err)
{
	err_set(err, E_SCHEMA, "'lists': '%.80s' must say 'contains', 'without' or 'set'", key);
	return err_hint(err, "such as lists: {disabled_plugins: {without: [cri]}}");
}

static int read_list_op(struct merge_wants *w, const struct merge_path *p, const char *key,
	const char *word, json_t *items, struct err *err)
{
	static const struct {
		const char *word;
		enum merge_op op;
	} OPS[] = {{"set", MERGE_SET}, {"contains", MERGE_CONTAINS}, {"without", MERGE_WITHOUT}};
	int rc;

	for (size_t i = 0; i < sizeof OPS / sizeof OPS[0]; i++) {
		if (strcmp(OPS[i].word, word) != 0)
			continue;
		if (!json_is_array(items)) {
			err_set(err, E_SCHEMA, "'lists': '%s' of '%.80s' must be a list", word,
				key);
			return err_hint(err, "write %s: [a, b]", word);
		}
		rc = fit_value(w, p, &items, err);
		if (rc == 0 && !merge_wants_add(w, OPS[i].op, p, items, err))
			rc = -E_LIMIT;
		return rc;
	}
	return fail_lists(key, err);
}

static int read_lists(struct merge_wants *w, json_t *map, struct err *err)
{
	const char *key, *word;
	json_t *ops, *items;
	struct merge_path p;
	int rc;

	if (map && !json_is_object(map)) {
		err_set(err, E_SCHEMA, "'lists' must be a map of keys");
		return err_hint(err, "such as lists: {disabled_plugins: {without: [cri]}}");
	}
	json_object_foreach(map, key, ops)
	{
		if ((rc = read_path(w, str_of(key), &p, err)) < 0)
			return rc;
		if (!json_is_object(ops) || json_object_size(ops) == 0)
			return fail_lists(key, err);
		json_object_foreach(ops, word, items)
		{
			if ((rc = read_list_op(w, &p, key, word, items, err)) < 0)
				return rc;
		}
	}
	return 0;
}

/* --- two wants about one key --- */

static bool is_below(const struct merge_path *a, const struct merge_path *b)
{
	for (unsigned i = 0; i < a->n && i < b->n; i++)
		if (!str_eq(a->part[i], b->part[i]))
			return false;
	return true;
}

static bool share_item(json_t *a, json_t *b)
{
	for (size_t i = 0; i < json_array_size(a); i++)
		for (size_t k = 0; k < json_array_size(b); k++)
			if (merge_is_same(json_array_get(a, i), json_array_get(b, k)))
				return true;
	return false;
}

static bool agree(const struct merge_want *a, const struct merge_want *b)
{
	const bool lists = (a->op == MERGE_CONTAINS && b->op == MERGE_WITHOUT) ||
			   (a->op == MERGE_WITHOUT && b->op == MERGE_CONTAINS);

	if (!is_below(&a->path, &b->path) || (a->op == MERGE_GONE && b->op == MERGE_GONE))
		return true;
	if (lists && a->path.n == b->path.n)
		return !share_item(a->value, b->value);
	/* an empty map above other keys only says that it is there */
	return a->op == MERGE_SET && b->op == MERGE_SET && a->path.n != b->path.n &&
	       json_is_object(a->path.n < b->path.n ? a->value : b->value);
}

static int check_pairs(const struct merge_wants *w, struct err *err)
{
	for (unsigned i = 0; i < w->n; i++) {
		for (unsigned k = 0; k < i; k++) {
			const struct merge_path *p = &w->at[i].path;

			if (agree(&w->at[i], &w->at[k]))
				continue;
			err_set(err, E_CONFLICT, "'%s' is asked for in two ways",
				merge_path_show(w->arena, p));
			return err_hint(err, "name a key only once in values, absent and lists");
		}
	}
	return 0;
}

int merge_wants_read(const json_t *args, struct merge_wants *w, struct err *err)
{
	const bool absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	json_t *values = json_get(args, "values");
	struct merge_path p = {0};
	int rc;

	if (values && !json_is_object(values)) {
		err_set(err, E_SCHEMA, "'values' must be a map of keys");
		return err_hint(err, "write values: {key: value}");
	}
	rc = read_absent(w, json_get(args, "absent"), err);
	if (rc == 0)
		rc = read_values(w, values, &p, absent, err);
	if (rc == 0)
		rc = read_lists(w, json_get(args, "lists"), err);
	return rc < 0 ? rc : check_pairs(w, err);
}

/* --- what is remembered --- */

static void put_hash(json_t *o, const json_t *v)
{
	char hex[HASH_HEX];
	AUTO_BUF text;

	buf_init(&text, MERGE_BYTES_MAX);
	json_write(v, &text);
	hash_hex(buf_str(&text), hex);
	json_put_str(o, "sha256", hex);
}

/* How many leading parts of the path are there. */
static unsigned count_there(const struct merge_doc *d, const struct merge_path *p)
{
	struct merge_path up = *p;

	for (; up.n > 0; up.n--) {
		AUTO_JSON have = NULL;

		if (d->format->get(d, &up, &have, NULL) == 0 && have)
			break;
	}
	return up.n;
}

/* What apply adds to a list or takes out of it; afterwards both are empty. */
static void note_items(const struct merge_want *w, json_t *have, json_t *into)
{
	const bool contains = w->op == MERGE_CONTAINS;
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(w->value); i++) {
		json_t *item = json_array_get(w->value, i);
		bool there = have && merge_is_same(have, item);

		for (size_t k = 0; k < json_array_size(have) && !there; k++)
			there = merge_is_same(json_array_get(have, k), item);
		if (there != contains)
			json_array_append(list, item);
	}
	json_object_set_new(into, contains ? "adds" : "drops", list);
}

static int note(
	const struct merge_doc *d, const struct merge_want *w, json_t *into, struct err *err)
{
	AUTO_JSON have = NULL;
	int rc = d->format->get(d, &w->path, &have, err);

	if (rc < 0 && rc != -E_CONFLICT)
		return rc;
	if (!have)
		json_put_int(into, "there", count_there(d, &w->path));
	if (w->value && w->op != MERGE_SET)
		note_items(w, have, into);
	else if (have && json_is_object(have) && json_is_object(w->value))
		json_put_str(into, "sha256", ""); /* that it is there is all that is ours */
	else if (have && w->op == MERGE_SET && merge_is_same(have, w->value))
		put_hash(into, have);
	else if (have)
		json_object_set(into, "value", have);
	return 0;
}

int merge_remember(const struct merge_wants *w, const char *file, struct str text, json_t *into,
	struct err *err)
{
	struct arena *a = arena_new();
	struct merge_doc *d;
	int rc = merge_parse(w->format, a, file, text, &d, err);

	for (unsigned i = 0; i < w->n && rc == 0; i++) {
		const char *key = merge_path_show(a, &w->at[i].path);

		if (!json_get(into, key))
			json_object_set_new_nocheck(into, key, json_object());
		rc = note(d, &w->at[i], json_get(into, key), err);
	}
	arena_free(a);
	return rc;
}

/* --- the way back --- */

/* Is the key still what the last apply left? */
static bool is_left(json_t *now, const json_t *left)
{
	AUTO_JSON hash = json_object();

	if (!left)
		return true;
	if (!now)
		return json_get(left, "there") != NULL;
	if (json_get(left, "value"))
		return merge_is_same(now, json_get(left, "value"));
	if (strcmp(json_get_str(left, "sha256", "-"), "") == 0)
		return true;
	if (json_get(left, "sha256")) {
		put_hash(hash, now);
		return strcmp(json_get_str(hash, "sha256", ""), json_get_str(left, "sha256", "")) ==
		       0;
	}
	return json_get(left, "adds") || json_get(left, "drops");
}

static bool is_before(json_t *now, const json_t *was)
{
	if (json_get(was, "sha256")) /* the key was as wanted all along */
		return true;
	return now ? json_get(was, "value") && merge_is_same(now, json_get(was, "value"))
		   : json_get(was, "there") != NULL;
}

/* A value leaf by leaf, so that each format can write it. */
static int tree_back(struct merge_wants *w, struct merge_path *p, json_t *v, struct err *err)
{
	const unsigned depth = p->n;
	const char *key;
	json_t *item;
	int rc = 0;

	if (!json_is_object(v) || json_object_size(v) == 0)
		return merge_wants_add(w, MERGE_SET, p, v, err) ? 0 : -E_LIMIT;
	json_object_foreach(v, key, item)
	{
		p->n = depth;
		if (depth == MERGE_DEPTH_MAX)
			return err_set(err, E_LIMIT, "the earlier value is too deep");
		p->part[p->n++] = arena_str(w->arena, str_of(key));
		if ((rc = tree_back(w, p, item, err)) < 0)
			return rc;
	}
	p->n = depth;
	return rc;
}

static int gone_back(struct merge_wants *w, const struct merge_path *p, const json_t *was,
	bool if_empty, struct err *err)
{
	struct merge_want *made = merge_wants_add(w, MERGE_GONE, p, NULL, err);

	if (!made)
		return -E_LIMIT;
	made->keep = (unsigned)json_get_int(was, "there", p->n);
	made->if_empty = if_empty;
	return 0;
}

static int key_back(
	struct merge_wants *w, struct merge_path *p, json_t *was, json_t *now, struct err *err)
{
	json_t *adds = json_get(was, "adds"), *drops = json_get(was, "drops");
	int rc = 0;

	if (json_array_size(adds) > 0 && !merge_wants_add(w, MERGE_WITHOUT, p, adds, err))
		return -E_LIMIT;
	if (json_array_size(drops) > 0 && !json_get(was, "there") &&
		!merge_wants_add(w, MERGE_CONTAINS, p, drops, err))
		return -E_LIMIT;
	if (json_get(was, "value"))
		rc = tree_back(w, p, json_get(was, "value"), err);
	if (rc == 0 && json_get(was, "there"))
		rc = gone_back(w, p, was, adds || json_is_object(now), err);
	return rc;
}

int merge_wants_back(struct merge_wants *w, const char *file, struct str text, json_t *before,
	const json_t *left, const char **theirs, struct err *err)
{
	struct merge_doc *d;
	const char *key;
	json_t *was;
	int rc = merge_parse(w->format, w->arena, file, text, &d, err);

	*theirs = NULL;
	if (rc < 0)
		return rc;
	json_object_foreach(before, key, was)
	{
		AUTO_JSON now = NULL;
		struct merge_path p;

		if ((rc = merge_path_parse(w->arena, str_of(key), &p, err)) < 0)
			return rc;
		/* a part on the way that is no map: then the key is not there */
		rc = w->format->get(d, &p, &now, err);
		if (rc < 0 && rc != -E_CONFLICT)
			return rc;
		rc = 0;
		if (is_before(now, was))
			continue;
		if (!is_left(now, json_get(left, key)))
			*theirs = arena_strdup(w->arena, key);
		else if ((rc = key_back(w, &p, was, now, err)) < 0)
			return rc;
	}
	return 0;
}
