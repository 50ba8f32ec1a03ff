/* repo - a source of packages: its file, its key and its priority; for apt or dnf. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/run/bundle.h"
#include "agent/step/apt.h"
#include "agent/step/content.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/package_lock.h"
#include "agent/step/packager.h"
#include "agent/step/pgp.h"
#include "agent/step/repo_plan.h"
#include "agent/step/report.h"

#include <string.h>

#define NOTES_MAX (16u << 10)
#define LOCK_WAIT 120
#define EDITS_MAX 200
#define FILES     "files" /* in what is kept for undo */

int repo_plan_init(
	struct repo_plan *p, const struct step_env *env, const json_t *args, struct err *err)
{
	*p = (struct repo_plan){.env = env, .args = args};
	buf_init(&p->notes, NOTES_MAX);
	p->arena = arena_new();
	p->name = json_get_str(args, "name", "");
	p->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	p->enabled = json_get_bool(args, "enabled", true);
	if (str_is_name(str_of(p->name)))
		return 0;
	err_set(err, E_SCHEMA, "'%.80s' is not a name for a repository", p->name);
	return err_hint(err, "it becomes a file's name: letters, digits and . _ -");
}

void repo_plan_done(struct repo_plan *p)
{
	vec_each(&p->edits, struct edit, e)
		edit_done(e);
	vec_done(&p->edits);
	buf_done(&p->notes);
	arena_free(p->arena);
	p->arena = NULL;
}

int repo_plan_edit(struct repo_plan *p, const char *path, struct edit **out, struct err *err)
{
	vec_each(&p->edits, struct edit, e) {
		if (strcmp(e->path, path) != 0)
			continue;
		*out = e;
		return 0;
	}
	if (p->edits.n >= EDITS_MAX)
		return err_set(err, E_LIMIT, "more than %d files would have to change", EDITS_MAX);
	*out = vec_push(&p->edits);
	return edit_open(p->env, arena_strdup(p->arena, path), *out, err);
}

int repo_plan_file(struct repo_plan *p, const char *path, struct str text, struct err *err)
{
	struct edit *e;
	const int rc = repo_plan_edit(p, path, &e, err);

	if (rc < 0)
		return rc;
	if (text.p)
		edit_set(e, text);
	else
		edit_remove(e);
	return 0;
}

int repo_plan_key(const struct repo_plan *p, struct buf *out, struct err *err)
{
	const char *source = json_get_str(p->args, "key", NULL);
	const char *text = json_get_str(p->args, "key_text", NULL);
	const struct manifest_file *file;
	AUTO_BUF path;
	int rc = 0;

	buf_init(&path, 1024);
	if (source) {
		rc = content_find(p->env, "files", source, &path, &file, err);
		if (rc == 0)
			rc = bundle_read(p->env->bundle, file->path, out, err);
	} else if (text) {
		buf_add_text(out, text);
		if (!str_ends(buf_str(out), "\n"))
			buf_add_char(out, '\n');
	}
	if (rc < 0 || out->n == 0)
		return rc;
	rc = pgp_check(buf_str(out), json_get_str(p->args, "fingerprint", NULL), err);
	return rc < 0 ? err_wrap(err, "key of repo '%s'", p->name) : 0;
}

static int make_plan(struct repo_plan *p, struct err *err)
{
	const struct packager *with = packager_find(p->env, err);

	if (!with)
		return -E_UNSUPPORTED;
	return with == &PACKAGER_APT ? repo_plan_apt(p, err) : repo_plan_dnf(p, err);
}

static bool differs(const struct repo_plan *p)
{
	vec_each(&p->edits, struct edit, e)
		if (edit_differs(e))
			return true;
	return false;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct repo_plan p;
	int rc = repo_plan_init(&p, env, args, err);

	if (rc == 0)
		rc = make_plan(&p, err);
	if (rc == 0 && differs(&p)) {
		vec_each(&p.edits, struct edit, e)
			edit_show(e, rep);
		report_add(rep, buf_str(&p.notes));
	}
	repo_plan_done(&p);
	return rc;
}

/* Every file as it was: what edit read is what is written back; made: folders that came along. */
static void bring_back(const struct repo_plan *p, size_t n, const json_t *made)
{
	for (size_t i = 0; i < n; i++) {
		const struct edit *e = &p->edits.at[i];

		if (!edit_differs(e))
			continue;
		if (e->exists)
			fs_replace(p->env->root, e->path, buf_str(&e->old), FS_KEEP_MODE,
				FS_KEEP_ID, FS_KEEP_ID, NULL);
		else
			fs_remove(p->env->root, e->path, false, NULL);
	}
	edit_drop_folders(p->env, made, NULL);
}

static int refresh(struct repo_plan *p, struct err *err)
{
	int rc;

	if (!p->refresh || !json_get_bool(p->args, "refresh", true))
		return 0;
	if (p->refresh[0] == '/') {
		rc = package_lock_wait(p->env, APT_LOCKS, LOCK_WAIT, err);
		if (rc == 0)
			rc = apt_update(p->env, p->refresh, err);
	} else {
		rc = repo_refresh_dnf(p->env, p->refresh, err);
	}
	return rc < 0 ? err_wrap(err, "repo '%s' does not work and was taken back", p->name) : 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_JSON made = json_array();
	struct repo_plan p;
	size_t saved = 0;
	int rc = repo_plan_init(&p, env, args, err);

	(void)rep;
	if (rc == 0)
		rc = make_plan(&p, err);
	if (rc == 0 && differs(&p)) {
		for (; rc == 0 && saved < p.edits.n; saved++) {
			edit_keep_folders(env, p.edits.at[saved].path, made);
			rc = edit_save(env, &p.edits.at[saved], err);
		}
		if (rc == 0)
			rc = refresh(&p, err);
		if (rc < 0)
			bring_back(&p, saved, made);
	}
	repo_plan_done(&p);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct repo_plan p;
	json_t *into = json_object();
	int rc = repo_plan_init(&p, env, args, err);

	if (rc == 0)
		rc = make_plan(&p, err);
	/* Those that are switched off already are among them, so that after knows them too. */
	for (size_t i = 0; rc == 0 && i < p.edits.n; i++)
		rc = edit_keep(env, p.edits.at[i].path, into, err);
	repo_plan_done(&p);
	if (rc < 0)
		json_decref(into);
	else
		*out = json_pack("{s:o}", FILES, into);
	return rc;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before_all,
	const json_t *after, struct step_report *rep, struct err *err)
{
	json_t *files = json_get(before_all, FILES);
	const struct edit_past past = {files, json_get(after, FILES)};
	const char *path;
	json_t *was;
	int rc = 0;

	(void)args;
	json_object_foreach(files, path, was)
	{
		if (rc == 0 && json_is_object(was))
			rc = edit_restore(env, path, past, rep, err);
	}
	return rc;
}

const struct step_ops STEP_REPO = {
	.kind = "repo", .check = check, .apply = apply, .before = before, .undo = undo};
