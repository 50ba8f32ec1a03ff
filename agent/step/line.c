/* line - one line of a file that others own too. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/diff.h"
#include "agent/step/kinds.h"
#include "agent/step/merge.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"

#include <string.h>

#define FILE_MAX (1u << 20)

struct wish {
	const char *path;
	struct str line, key; /* key empty: the whole line is the key */
	bool absent, create, exists, hidden;
};

static bool is_ours(const void *ctx, struct str line)
{
	const struct wish *w = ctx;

	if (w->key.n == 0)
		return str_eq(line, w->line);
	return line.n >= w->key.n && str_eq(str_first(line, w->key.n), w->key);
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	memset(w, 0, sizeof *w);
	w->path = json_get_str(args, "path", "");
	w->line = str_of(json_get_str(args, "line", ""));
	w->key = str_of(json_get_str(args, "key", ""));
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	w->create = json_get_bool(args, "create", false);
	if (str_find(w->line, '\n') != STR_NONE) {
		err_set(err, E_SCHEMA, "'line' holds a newline, expected one line");
		return err_hint(err, "use one 'line' step per line, or a 'file' step");
	}
	if (w->line.n == 0 && w->key.n == 0)
		return err_set(err, E_SCHEMA, "'line' is empty and there is no 'key'");
	/* Otherwise the line would not be found again and be added at each run. */
	if (!w->absent && w->key.n > 0 && !is_ours(w, w->line)) {
		err_set(err, E_SCHEMA, "'line' does not begin with its key '" STR_FMT "'",
			STR_ARG(w->key));
		return err_hint(err, "the key is the beginning of the line, such as 'Port '");
	}
	return 0;
}

static int read_file(const struct step_env *env, struct wish *w, struct buf *old, struct err *err)
{
	struct stat st;
	int rc;

	rc = fs_stat(env->root, w->path, false, &st, err);
	w->exists = rc == 0;
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	if (S_ISLNK(st.st_mode)) {
		err_set(err, E_CONFLICT, "'%s' is a symbolic link, expected a file", w->path);
		return err_hint(err, "give the path of the file it points to");
	}
	w->hidden = diff_is_private(st.st_mode);
	return fs_read(env->root, w->path, old, err);
}

static int make_new(const struct wish *w, const struct buf *old, struct buf *new, struct err *err)
{
	const struct str nothing = {NULL, 0};

	merge_line(buf_str(old), is_ours, w, w->absent ? nothing : w->line, new);
	if (!buf_ok(new))
		return err_set(
			err, E_LIMIT, "'%s' would be longer than %u bytes", w->path, FILE_MAX);
	return 0;
}

static void show(const struct wish *w, struct str old, struct str new, struct step_report *rep)
{
	AUTO_BUF diff;

	buf_init(&diff, 4 * REPORT_DIFF_MAX);
	if (w->hidden)
		diff_private(&old.n, new.n, w->path, &diff);
	else if (diff_is_text(old) && diff_is_text(new))
		diff_unified(w->exists ? &old : NULL, &new, w->path, &diff);
	else
		buf_addf(&diff, "%c" STR_FMT "\n", w->absent ? '-' : '+', STR_ARG(w->line));
	report_add(rep, buf_str(&diff));
}

/* A file that is absent: nothing to remove, not ours to make, or to be made. */
static int judge_absent_file(
	const struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	if (w->exists || w->absent || w->create)
		return 0;
	if (env->dry) {
		report_unknown(rep, "'%s' does not exist yet", w->path);
		return 0;
	}
	err_set(err, E_NOTFOUND, "'%s' does not exist", w->path);
	return err_hint(err, "say 'create: true' if this recipe may make it");
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF old, new;
	struct wish w;
	int rc;

	buf_init(&old, FILE_MAX);
	buf_init(&new, FILE_MAX);
	rc = read_args(args, &w, err);
	if (rc < 0)
		return rc;
	rc = read_file(env, &w, &old, err);
	if (rc < 0)
		return rc;
	rc = judge_absent_file(env, &w, rep, err);
	if (rc < 0 || rep->state == STEP_UNKNOWN)
		return rc;
	rc = make_new(&w, &old, &new, err);
	if (rc < 0 || str_eq(buf_str(&old), buf_str(&new)))
		return rc;
	report_differs(rep, w.absent ? "the line is there" : "the line is not as wanted");
	show(&w, buf_str(&old), buf_str(&new), rep);
	return 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF old, new;
	struct wish w;
	int rc;

	buf_init(&old, FILE_MAX);
	buf_init(&new, FILE_MAX);
	rc = read_args(args, &w, err);
	if (rc < 0)
		return rc;
	rc = read_file(env, &w, &old, err);
	if (rc < 0)
		return rc;
	rc = judge_absent_file(env, &w, rep, err);
	if (rc < 0)
		return rc;
	rc = make_new(&w, &old, &new, err);
	if (rc < 0 || (!w.exists && w.absent) || str_eq(buf_str(&old), buf_str(&new)))
		return rc;
	rc = fs_replace(
		env->root, w.path, buf_str(&new), FS_KEEP_MODE, FS_KEEP_ID, (gid_t)FS_KEEP_ID, err);
	if (rc == -E_NOTFOUND)
		return err_hint(err, "add a 'directory' step for its folder before this one");
	return rc;
}

static struct own_lines lines_of(const struct wish *w)
{
	return (struct own_lines){w->path, FILE_MAX, is_ours, w};
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object();
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = lines_of(&w);

	if (rc == 0)
		rc = own_lines_before(env, &ours, into, err);
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	bool changed = false;
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = lines_of(&w);

	if (rc == 0)
		rc = own_lines_undo(env, &ours, before, after, &changed, err);
	if (changed)
		report_differs(rep, "brought back");
	return rc;
}

const struct step_ops STEP_LINE = {
	.kind = "line", .check = check, .apply = apply, .before = before, .undo = undo};
