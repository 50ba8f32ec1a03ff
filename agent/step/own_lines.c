#include "agent/step/own_lines.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/step.h"

static int read_file(const struct step_env *env, const struct own_lines *o, struct buf *text,
	bool *exists, struct err *err)
{
	struct stat st;
	int rc = fs_stat(env->root, o->path, false, &st, err);

	*exists = rc == 0;
	if (rc == -E_NOTFOUND)
		return 0;
	return rc < 0 ? rc : fs_read(env->root, o->path, text, err);
}

static json_t *list_ours(const struct own_lines *o, struct str text)
{
	json_t *list = json_array();
	struct str line;

	for (int at = 0; str_next(&text, '\n', &line); at++) {
		json_t *one;

		if (!o->is_ours(o->ctx, line))
			continue;
		one = json_object();
		json_put_int(one, "at", at);
		json_put_text(one, "text", line);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *describe(const struct own_lines *o, struct str text, bool exists)
{
	json_t *d = json_object();

	json_put_bool(d, "exists", exists);
	if (text.n > 0 && !str_ends(text, "\n"))
		json_put_bool(d, "open_end", true);
	json_object_set_new(d, "lines", list_ours(o, text));
	return d;
}

int own_lines_before(
	const struct step_env *env, const struct own_lines *o, json_t *into, struct err *err)
{
	AUTO_BUF text;
	bool exists;
	int rc;

	buf_init(&text, o->max);
	rc = read_file(env, o, &text, &exists, err);
	if (rc == 0)
		json_object_set_new(into, o->path, describe(o, buf_str(&text), exists));
	return rc;
}

/* The same texts in the same order; where they stand is not asked. */
static bool are_same_lines(const json_t *a, const json_t *b)
{
	const json_t *one = json_get(a, "lines"), *other = json_get(b, "lines");
	const size_t n = json_array_size(one);

	if (n != json_array_size(other) ||
		json_get_bool(a, "exists", false) != json_get_bool(b, "exists", false))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!json_equal(json_get(json_array_get(one, i), "text"),
			    json_get(json_array_get(other, i), "text")))
			return false;
	return true;
}

static void put(struct buf *out, struct str line)
{
	buf_add_str(out, line);
	buf_add_char(out, '\n');
}

/* Earlier lines that belong at or before this place; past the end, all that are left. */
static void put_earlier(struct buf *out, const json_t *lines, size_t *next, int at, int *made)
{
	for (; *next < json_array_size(lines); (*next)++) {
		const json_t *one = json_array_get(lines, *next);

		if (at >= 0 && json_get_int(one, "at", 0) > *made)
			return;
		put(out, str_of(json_get_str(one, "text", "")));
		(*made)++;
	}
}

static void rebuild(const struct own_lines *o, struct str text, const json_t *was, struct buf *out)
{
	const json_t *lines = json_get(was, "lines");
	struct str line;
	size_t next = 0;
	int made = 0;

	while (str_next(&text, '\n', &line)) {
		if (o->is_ours(o->ctx, line))
			continue;
		put_earlier(out, lines, &next, 0, &made);
		put(out, line);
		made++;
	}
	put_earlier(out, lines, &next, -1, &made);
	if (json_get_bool(was, "open_end", false) && str_ends(buf_str(out), "\n"))
		buf_cut(out, out->n - 1);
}

static int conflict(const struct own_lines *o, struct err *err)
{
	err_set(err, E_CONFLICT, "somebody else changed our lines in '%s' since", o->path);
	return err_hint(err, "look at them and set them yourself: they are left as they are");
}

static int write_back(const struct step_env *env, const struct own_lines *o, struct str old,
	const json_t *was, struct err *err)
{
	AUTO_BUF new;

	buf_init(&new, 2 * o->max);
	rebuild(o, old, was, &new);
	if (!buf_ok(&new))
		return err_set(err, E_LIMIT, "'%s' would become too long", o->path);
	if (new.n == 0 && !json_get_bool(was, "exists", true))
		return fs_remove(env->root, o->path, false, err);
	return fs_replace(env->root, o->path, buf_str(&new), FS_KEEP_MODE, FS_KEEP_ID,
		(gid_t)FS_KEEP_ID, err);
}

int own_lines_undo(const struct step_env *env, const struct own_lines *o, const json_t *before,
	const json_t *after, bool *changed, struct err *err)
{
	const json_t *was = json_get(before, o->path), *left = json_get(after, o->path);
	AUTO_JSON now = NULL;
	AUTO_BUF old;
	bool exists;
	int rc;

	*changed = false;
	buf_init(&old, o->max);
	rc = read_file(env, o, &old, &exists, err);
	if (rc < 0 || !was)
		return rc;
	now = describe(o, buf_str(&old), exists);
	if (are_same_lines(now, was))
		return 0;
	if (!exists && json_array_size(json_get(was, "lines")) == 0)
		return 0;
	if (left && !are_same_lines(now, left))
		return conflict(o, err);
	rc = write_back(env, o, buf_str(&old), was, err);
	*changed = rc == 0;
	return rc;
}
