/* file - a file with given bytes, or the absence of one. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/content.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <limits.h>
#include <string.h>

/* What the arguments ask for; only_attr: neither source nor content, the bytes stay. */
struct wish {
	const char *path;
	bool absent, only_attr;
	struct content content;
	struct attr attr;
};

static int read_args(struct step_env *env, const json_t *args, struct wish *w, struct buf *store,
	struct step_report *rep, struct err *err)
{
	const char *source = json_get_str(args, "source", NULL);
	const json_t *content = json_get(args, "content");
	int rc = 0;

	memset(w, 0, sizeof *w);
	w->path = json_get_str(args, "path", "");
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	if (w->absent)
		return 0;
	if (source && content)
		return err_set(
			err, E_CONFLICT, "'source' and 'content' are both given for '%s'", w->path);
	if (source)
		rc = content_find(env, "files", source, store, &w->content.from, err);
	else if (json_is_string(content))
		w->content.text =
			(struct str){json_string_value(content), json_string_length(content)};
	else
		w->only_attr = true;
	return rc < 0 ? rc : attr_parse(env, args, &w->attr, rep, err);
}

static int check_absent(
	struct step_env *env, const char *path, struct step_report *rep, struct err *err)
{
	struct stat st;
	int rc;

	rc = fs_stat(env->root, path, false, &st, err);
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	if (S_ISDIR(st.st_mode)) {
		err_set(err, E_CONFLICT, "'%s' is a directory, expected a file", path);
		return err_hint(err, "remove it with a 'directory' step");
	}
	report_differs(rep, "is there");
	report_addf(rep, "remove %s\n", path);
	return 0;
}

/* Neither source nor content: the file must be there, whatever is in it. */
static int check_attr(
	struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	const struct content empty = {{"", 0}, NULL};
	struct stat st;
	int rc;

	rc = fs_stat(env->root, w->path, false, &st, err);
	if (rc == -E_NOTFOUND)
		return content_check(env, w->path, &empty, &w->attr, rep, err);
	if (rc < 0)
		return rc;
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_CONFLICT, "'%s' is not a regular file", w->path);
	attr_compare(env, &w->attr, &st, rep);
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF store;
	struct wish w;
	int rc;

	buf_init(&store, PATH_MAX);
	rc = read_args(env, args, &w, &store, rep, err);
	if (rc < 0)
		return rc;
	if (w.absent)
		return check_absent(env, w.path, rep, err);
	if (w.only_attr)
		return check_attr(env, &w, rep, err);
	return content_check(env, w.path, &w.content, &w.attr, rep, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF store;
	struct stat st;
	struct wish w;
	int rc;

	buf_init(&store, PATH_MAX);
	rc = read_args(env, args, &w, &store, rep, err);
	if (rc < 0)
		return rc;
	if (w.absent)
		return fs_remove(env->root, w.path, false, err);
	if (w.only_attr && fs_stat(env->root, w.path, false, &st, NULL) == 0)
		return attr_apply(env, w.path, &w.attr, err);
	return content_apply(env, w.path, &w.content, &w.attr, err);
}

const struct step_ops STEP_FILE = {
	.kind = "file", .check = check, .apply = apply, .before = keep_before, .undo = keep_undo};
