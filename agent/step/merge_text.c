/* merge_text - one want after the other: parse, make one edit, parse again. */
#include "agent/step/merge_want.h"

#include <string.h>

#define EDITS_MAX 20000

/* The text at hand and its parse. */
struct work {
	const struct merge_format *format;
	const char *file;
	struct buf text;
	struct arena *arena;
	struct merge_doc *doc;
	unsigned edits;
};

static int reparse(struct work *k, struct err *err)
{
	arena_free(k->arena);
	k->arena = arena_new();
	return merge_parse(k->format, k->arena, k->file, buf_str(&k->text), &k->doc, err);
}

/* Copies text, \n as the file's own line ends. */
static void add_lines(const struct work *k, struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n')
			buf_add_text(out, k->doc->eol);
		else
			buf_add_char(out, text.p[i]);
	}
}

static int use_edit(struct work *k, struct merge_edit *e, struct err *err)
{
	const struct str old = buf_str(&k->text);
	struct buf next;

	buf_init(&next, MERGE_BYTES_MAX);
	buf_add_str(&next, str_first(old, e->from));
	add_lines(k, buf_str(&e->text), &next);
	buf_add_str(&next, str_from(old, e->to));
	if (!buf_ok(&next) || !buf_ok(&e->text)) {
		buf_done(&next);
		return err_set(err, E_LIMIT, "'%s' would be longer than %u bytes", k->file,
			MERGE_BYTES_MAX);
	}
	/* its text would be read otherwise from then on */
	if (k->doc->begin == 0 && str_starts(buf_str(&next), "\xEF\xBB\xBF")) {
		buf_done(&next);
		err_set(err, E_CONFLICT, "'%s' would begin with a byte order mark", k->file);
		return err_hint(err, "take the one inside the file out by hand");
	}
	buf_done(&k->text);
	k->text = next;
	if (++k->edits > EDITS_MAX)
		return err_set(err, E_LIMIT, "'%s' needs more than %d changes", k->file, EDITS_MAX);
	return reparse(k, err);
}

enum edit_kind {
	EDIT_SET,
	EDIT_REMOVE,
	EDIT_ADD,
	EDIT_DROP
};

static int edit(struct work *k, enum edit_kind kind, const struct merge_path *p, json_t *value,
	size_t index, struct err *err)
{
	struct merge_edit e = {0, 0, {0}};
	int rc = 0;

	buf_init(&e.text, MERGE_BYTES_MAX);
	switch (kind) {
	case EDIT_SET:
		rc = k->format->set(k->doc, p, value, &e, err);
		break;
	case EDIT_REMOVE:
		rc = k->format->remove(k->doc, p, &e, err);
		break;
	case EDIT_ADD:
		rc = k->format->add(k->doc, p, value, &e, err);
		break;
	case EDIT_DROP:
		rc = k->format->drop(k->doc, p, index, &e, err);
		break;
	}
	if (rc == 0)
		rc = use_edit(k, &e, err);
	buf_done(&e.text);
	return rc;
}

static int get(const struct work *k, const struct merge_path *p, json_t **out, struct err *err)
{
	json_decref(*out);
	*out = NULL;
	return k->format->get(k->doc, p, out, err);
}

static int fail_kind(
	const struct work *k, const struct merge_path *p, const char *is, struct err *err)
{
	err_set(err, E_CONFLICT, "'%s' in '%s' is %s", merge_path_show(k->arena, p), k->file, is);
	return err_hint(err, "change it by hand, or name it under 'absent' first");
}

/* What is there as a list, when a single row stands for a list of one. */
static json_t *as_list(const struct work *k, json_t *have)
{
	json_t *list;

	if (json_is_array(have))
		return json_incref(have);
	if (!k->format->single || json_is_object(have))
		return NULL;
	list = json_array();
	json_array_append(list, have);
	return list;
}

static bool has_item(const json_t *list, json_t *item)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (merge_is_same(json_array_get(list, i), item))
			return true;
	return false;
}

static int add_items(
	struct work *k, const struct merge_path *p, json_t *items, size_t from, struct err *err)
{
	int rc = 0;

	for (size_t i = from; i < json_array_size(items) && rc == 0; i++)
		rc = edit(k, EDIT_ADD, p, json_array_get(items, i), 0, err);
	return rc;
}

/* Rows that are not wanted go, the rest is added; in another order all are written anew. */
static int set_rows(
	struct work *k, const struct merge_path *p, json_t *have, json_t *want, struct err *err)
{
	size_t same = 0;
	int rc = 0;

	for (size_t i = json_array_size(have); i-- > 0 && rc == 0;) {
		if (has_item(want, json_array_get(have, i)))
			continue;
		json_array_remove(have, i);
		rc = edit(k, EDIT_DROP, p, NULL, i, err);
	}
	while (same < json_array_size(have) &&
		merge_is_same(json_array_get(have, same), json_array_get(want, same)))
		same++;
	for (size_t i = json_array_size(have); i-- > same && rc == 0;)
		rc = edit(k, EDIT_DROP, p, NULL, i, err);
	return rc < 0 ? rc : add_items(k, p, want, same, err);
}

static int verify(const struct work *k, const struct merge_path *p, json_t *want, struct err *err)
{
	AUTO_JSON have = NULL;
	AUTO_JSON list = NULL;
	int rc = get(k, p, &have, err);

	if (rc < 0)
		return rc;
	if (have && json_is_array(want))
		list = as_list(k, have);
	if (merge_is_same(list ? list : have, want) ||
		(k->format->rows && json_is_array(want) && json_array_size(want) == 0 && !have))
		return 0;
	err_set(err, E_INTERNAL, "'%s' could not be written to '%s'", merge_path_show(k->arena, p),
		k->file);
	return err_hint(err, "please report this with the file");
}

static int do_set_list(
	struct work *k, const struct merge_path *p, json_t *have, json_t *want, struct err *err)
{
	AUTO_JSON list = have ? as_list(k, have) : json_array();
	AUTO_JSON mine = NULL;

	if (!list)
		return fail_kind(k, p, "no list", err);
	if (merge_is_same(list, want))
		return 0;
	mine = json_copy(list);
	return set_rows(k, p, mine, want, err);
}

static int do_set(struct work *k, const struct merge_want *w, struct err *err)
{
	AUTO_JSON have = NULL;
	int rc = get(k, &w->path, &have, err);

	if (rc < 0)
		return rc;
	if (have && (merge_is_same(have, w->value) ||
			    (json_is_object(have) && json_is_object(w->value))))
		return 0;
	if (json_is_object(have))
		return fail_kind(k, &w->path, "a map", err);
	if (json_is_array(have) && k->format->rows && !k->format->single &&
		!json_is_array(w->value))
		return fail_kind(k, &w->path, "a list", err);
	if (k->format->rows && json_is_array(w->value)) {
		rc = do_set_list(k, &w->path, have, w->value, err);
	} else {
		for (size_t n = json_array_size(have); k->format->rows && n > 1 && rc == 0; n--)
			rc = edit(k, EDIT_DROP, &w->path, NULL, 0, err);
		if (rc == 0)
			rc = edit(k, EDIT_SET, &w->path, w->value, 0, err);
	}
	if (rc < 0 || json_is_object(w->value))
		return rc;
	return verify(k, &w->path, w->value, err);
}

static int remove_all(struct work *k, const struct merge_path *p, struct err *err)
{
	AUTO_JSON have = NULL;
	int rc = get(k, p, &have, err);

	while (rc == 0 && have) {
		rc = edit(k, EDIT_REMOVE, p, NULL, 0, err);
		if (rc == 0)
			rc = get(k, p, &have, err);
	}
	return rc;
}

static bool is_empty(const json_t *v)
{
	return (json_is_object(v) && json_object_size(v) == 0) ||
	       (json_is_array(v) && json_array_size(v) == 0);
}

/* Maps above a path that have nothing left in them, but for the first keep parts. */
static int prune(struct work *k, struct merge_path up, unsigned keep, struct err *err)
{
	AUTO_JSON have = NULL;
	int rc = 0;

	while (rc == 0 && --up.n > keep) {
		rc = get(k, &up, &have, err);
		if (rc < 0 || (have && !is_empty(have)))
			break;
		rc = remove_all(k, &up, err);
	}
	return rc;
}

static int do_gone(struct work *k, const struct merge_want *w, struct err *err)
{
	AUTO_JSON have = NULL;
	int rc = get(k, &w->path, &have, err);

	if (rc < 0)
		/* a part on the way is no map: then the key is not there either */
		return rc == -E_CONFLICT ? 0 : rc;
	if (have && (!w->if_empty || is_empty(have)))
		rc = remove_all(k, &w->path, err);
	else if (have || !w->if_empty)
		return 0;
	return rc < 0 ? rc : prune(k, w->path, w->keep, err);
}

static int do_contains(struct work *k, const struct merge_want *w, struct err *err)
{
	AUTO_JSON have = NULL;
	AUTO_JSON list = NULL;
	AUTO_JSON empty = json_array();
	int rc = get(k, &w->path, &have, err);

	if (rc == 0 && !have && !k->format->rows)
		rc = edit(k, EDIT_SET, &w->path, empty, 0, err);
	if (rc < 0)
		return rc;
	list = have ? as_list(k, have) : json_array();
	if (!list)
		return fail_kind(k, &w->path, "no list", err);
	for (size_t i = 0; i < json_array_size(w->value) && rc == 0; i++) {
		json_t *item = json_array_get(w->value, i);

		if (!has_item(list, item))
			rc = edit(k, EDIT_ADD, &w->path, item, 0, err);
	}
	return rc;
}

static int do_without(struct work *k, const struct merge_want *w, struct err *err)
{
	AUTO_JSON have = NULL;
	AUTO_JSON list = NULL;
	int rc = get(k, &w->path, &have, err);

	if (rc < 0 || !have)
		return rc == -E_CONFLICT ? 0 : rc;
	list = as_list(k, have);
	if (!list)
		return fail_kind(k, &w->path, "no list", err);
	for (size_t i = json_array_size(list); i-- > 0 && rc == 0;)
		if (has_item(w->value, json_array_get(list, i)))
			rc = edit(k, EDIT_DROP, &w->path, NULL, i, err);
	return rc;
}

static int do_want(struct work *k, const struct merge_want *w, struct err *err)
{
	switch (w->op) {
	case MERGE_SET:
		return do_set(k, w, err);
	case MERGE_GONE:
		return do_gone(k, w, err);
	case MERGE_CONTAINS:
		return do_contains(k, w, err);
	case MERGE_WITHOUT:
		break;
	}
	return do_without(k, w, err);
}

int merge_text(const struct merge_wants *w, const char *file, struct str text, struct buf *out,
	struct err *err)
{
	struct work k = {.format = w->format, .file = file};
	int rc;

	buf_init(&k.text, MERGE_BYTES_MAX);
	buf_add_str(&k.text, text);
	rc = buf_ok(&k.text)
		     ? reparse(&k, err)
		     : err_set(err, E_LIMIT, "'%s' is longer than %u bytes", file, MERGE_BYTES_MAX);
	for (unsigned i = 0; i < w->n && rc == 0; i++)
		rc = do_want(&k, &w->at[i], err);
	if (rc == 0)
		buf_add_str(out, buf_str(&k.text));
	arena_free(k.arena);
	buf_done(&k.text);
	if (rc == 0 && !buf_ok(out))
		rc = err_set(
			err, E_LIMIT, "'%s' would be longer than %u bytes", file, MERGE_BYTES_MAX);
	return rc;
}
