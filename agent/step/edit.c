/* edit - how: the old text is read once, edited in memory, and written by fs_replace. */
#include "agent/step/edit.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/diff.h"
#include "agent/step/keep.h"
#include "agent/step/merge.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MADE "made" /* the folders above, in what is kept for undo */

int edit_open(const struct step_env *env, const char *path, struct edit *e, struct err *err)
{
	struct stat st;
	int rc;

	*e = (struct edit){.path = path, .mode = 0644};
	buf_init(&e->old, EDIT_MAX);
	buf_init(&e->now, EDIT_MAX);
	rc = fs_stat(env->root, path, false, &st, err);
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	if (!S_ISREG(st.st_mode)) {
		err_set(err, E_CONFLICT, "'%s' is %s, expected a file", path,
			S_ISLNK(st.st_mode)   ? "a symbolic link"
			: S_ISDIR(st.st_mode) ? "a directory"
					      : "a device, socket or pipe");
		return err_hint(err, "see what made it so ('ls -l %s') and move it away", path);
	}
	e->exists = true;
	e->hidden = diff_is_private(st.st_mode);
	rc = fs_read(env->root, path, &e->old, err);
	buf_add_str(&e->now, buf_str(&e->old));
	return rc;
}

void edit_done(struct edit *e)
{
	buf_done(&e->old);
	buf_done(&e->now);
}

int edit_line(struct edit *e, edit_ours *ours, const void *ctx, struct str line, struct err *err)
{
	struct buf next;

	buf_init(&next, EDIT_MAX);
	merge_line(buf_str(&e->now), ours, ctx, line, &next);
	buf_done(&e->now);
	e->now = next;
	return buf_ok(&e->now) ? 0
			       : err_set(err, E_LIMIT, "'%s' would be longer than %u bytes",
					 e->path, EDIT_MAX);
}

void edit_set(struct edit *e, struct str text)
{
	e->gone = false;
	buf_clear(&e->now);
	buf_add_str(&e->now, text);
}

void edit_remove(struct edit *e)
{
	e->gone = true;
	buf_clear(&e->now);
}

bool edit_differs(const struct edit *e)
{
	if (e->gone)
		return e->exists;
	if (!e->exists)
		return e->now.n > 0;
	return !str_eq(buf_str(&e->old), buf_str(&e->now));
}

void edit_show(const struct edit *e, struct step_report *rep)
{
	const struct str before = buf_str(&e->old), after = buf_str(&e->now);
	AUTO_BUF diff = {0};

	if (!edit_differs(e))
		return;
	buf_init(&diff, 4 * REPORT_DIFF_MAX);
	if (e->gone)
		report_differs(rep, "'%.160s' is there", e->path);
	else if (!e->exists)
		report_differs(rep, "'%.160s' does not exist", e->path);
	else
		report_differs(rep, "'%.160s' is not as wanted", e->path);
	if (e->hidden || (!e->exists && diff_is_private(e->mode)))
		diff_private(e->exists ? &before.n : NULL, after.n, e->path, &diff);
	else if (!diff_is_text(before) || !diff_is_text(after))
		buf_addf(&diff, "%s: size %zu -> %zu\n", e->path, before.n, after.n);
	else
		diff_unified(e->exists ? &before : NULL, &after, e->path, &diff);
	if (diff.n == 0)
		buf_addf(&diff, "%s %s\n", e->gone ? "remove" : "make", e->path);
	report_add(rep, buf_str(&diff));
}

static int make_folder(const struct step_env *env, const char *path, struct err *err)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof folder)
		return 0;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
	if (fs_stat(env->root, folder, true, &st, NULL) == 0)
		return 0;
	return fs_mkdirs(env->root, folder, 0755, err);
}

int edit_save(const struct step_env *env, const struct edit *e, struct err *err)
{
	int rc;

	if (!edit_differs(e))
		return 0;
	if (!buf_ok(&e->now))
		return err_set(
			err, E_LIMIT, "'%s' would be longer than %u bytes", e->path, EDIT_MAX);
	if (e->gone)
		return fs_remove(env->root, e->path, false, err);
	rc = make_folder(env, e->path, err);
	return rc < 0 ? rc
		      : fs_replace(env->root, e->path, buf_str(&e->now),
				e->exists ? FS_KEEP_MODE : e->mode, FS_KEEP_ID, (gid_t)FS_KEEP_ID,
				err);
}

struct str edit_field(struct str line, unsigned n)
{
	struct str field = {NULL, 0};

	line = str_trim(line);
	if (str_starts(line, "#"))
		return field;
	for (unsigned i = 0; i <= n && line.n > 0; i++) {
		size_t end = 0;

		while (end < line.n && line.p[end] != ' ' && line.p[end] != '\t')
			end++;
		field = str_first(line, end);
		line = str_trim(str_from(line, end));
		if (i == n)
			return field;
	}
	return (struct str){NULL, 0};
}

/* --- undo --- */

void edit_keep_folders(const struct step_env *env, const char *path, json_t *made)
{
	char folder[PATH_MAX], *slash;
	struct stat st;

	snprintf(folder, sizeof folder, "%s", path);
	while ((slash = strrchr(folder, '/')) && slash != folder) {
		*slash = '\0';
		if (fs_stat(env->root, folder, true, &st, NULL) == 0)
			return;
		json_array_append_new(made, json_string(folder));
	}
}

static void keep_folders(const struct step_env *env, const char *path, json_t *into)
{
	if (!json_get(into, MADE))
		json_object_set_new(into, MADE, json_array());
	edit_keep_folders(env, path, json_get(into, MADE));
}

int edit_keep(const struct step_env *env, const char *path, json_t *into, struct err *err)
{
	const int rc = keep_path(env, path, into, err);

	if (rc == 0)
		keep_folders(env, path, into);
	return rc;
}

int edit_drop_folders(const struct step_env *env, const json_t *made, struct err *err)
{
	AUTO_JSON absent = json_object();

	for (size_t i = 0; i < json_array_size(made); i++) {
		const char *folder = json_string_value(json_array_get(made, i));
		int rc;

		json_object_set_new(absent, folder, json_pack("{s:s}", "kind", "absent"));
		rc = keep_restore(env, folder, absent, NULL, err);
		/* a conflict: somebody else's file lies there by now */
		if (rc < 0 && rc != -E_CONFLICT)
			return rc;
	}
	return 0;
}

int edit_restore(const struct step_env *env, const char *path, struct edit_past past,
	struct step_report *rep, struct err *err)
{
	const struct step_env look = {.root = env->root, .root_path = env->root_path, .keep = -1};
	AUTO_JSON now = json_object();
	int rc = keep_path(&look, path, now, err);

	if (rc == 0 && !keep_is_same(json_get(now, path), json_get(past.before, path)))
		report_differs(rep, "brought back");
	if (rc == 0)
		rc = keep_restore(env, path, past.before, past.after, err);
	return rc < 0 ? rc : edit_drop_folders(env, json_get(past.before, MADE), err);
}

int edit_keep_lines(
	const struct step_env *env, const struct own_lines *ours, json_t **out, struct err *err)
{
	json_t *into = json_object();
	AUTO_EDIT e = {0};
	int rc = edit_open(env, ours->path, &e, err);

	if (rc == 0)
		rc = own_lines_before(env, ours, into, err);
	if (rc < 0) {
		json_decref(into);
		return rc;
	}
	keep_folders(env, ours->path, into);
	*out = into;
	return 0;
}

int edit_restore_lines(const struct step_env *env, const struct own_lines *ours,
	struct edit_past past, struct step_report *rep, struct err *err)
{
	bool changed = false;
	const int rc = own_lines_undo(env, ours, past.before, past.after, &changed, err);

	if (changed)
		report_differs(rep, "brought back");
	return rc < 0 ? rc : edit_drop_folders(env, json_get(past.before, MADE), err);
}
