/*
 * unit - a systemd unit's file or drop-in, and the unit's state behind it.
 *
 * The file is judged by systemd before it replaces the old one. What runs and
 * what is enabled is left to the kind service, with arguments made here.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/run/bundle.h"
#include "agent/step/content.h"
#include "agent/step/edit.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/service_priv.h"
#include "agent/step/unit_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER     "/etc/systemd/system"
#define MASK       "/dev/null"
#define UNIT_MAX   (1u << 20)
#define NAME_SIGNS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@"

struct wish {
	char unit[SERVICE_NAME_MAX], path[PATH_MAX];
	const char *dropin; /* NULL: the unit's own file */
	const char *state, *source, *content;
	bool absent, masked, verify;
	json_t *service; /* arguments for the kind service; NULL: nothing asked */
};

static void wish_done(struct wish *w)
{
	json_decref(w->service);
}

static int judge_name(const char *name, const char *what, struct err *err)
{
	if (*name && !name[strspn(name, NAME_SIGNS)] && name[0] != '-' && name[0] != '.' &&
		strlen(name) < SERVICE_NAME_MAX - sizeof ".service")
		return 0;
	return err_set(err, E_SCHEMA, "'%.60s' is not the name of a %s", name, what);
}

static int judge_dropin(const char *name, struct err *err)
{
	const struct str text = str_of(name);

	if (!str_ends(text, ".conf") || text.n == strlen(".conf"))
		return judge_name(name, "drop-in", err);
	err_set(err, E_SCHEMA, "the drop-in '%.60s' has '.conf' at its end already", name);
	return err_hint(err, "leave it out: dropin: %.*s", (int)(text.n - strlen(".conf")), name);
}

/* What has no file of its own to write must say so. */
static int judge_content(const struct wish *w, struct err *err)
{
	const bool given = w->source || w->content;

	if (w->source && w->content)
		return err_set(err, E_CONFLICT, "'source' and 'content' are both given");
	if (w->masked && (given || w->dropin)) {
		err_set(err, E_CONFLICT, "a masked unit has neither content nor drop-in");
		return err_hint(err, "leave 'source', 'content' and 'dropin' out");
	}
	if (!given && !w->absent && !w->masked) {
		err_set(err, E_SCHEMA, "a unit needs 'source' or 'content'");
		return err_hint(err, "for a unit that is there already use 'service'");
	}
	return 0;
}

/* Asked of the kind service; a mask or an absence means that it neither runs nor starts. */
static void make_service(const json_t *args, struct wish *w)
{
	const json_t *enabled = json_get(args, "enabled");
	const bool gone = w->masked || (w->absent && !w->dropin);
	const bool runs = strcmp(w->state, "running") == 0, ends = strcmp(w->state, "stopped") == 0;

	if (!gone && !runs && !ends && !enabled)
		return;
	w->service = json_object();
	json_put_str(w->service, "name", w->unit);
	json_put_str(w->service, "state",
		runs           ? "running"
		: gone || ends ? "stopped"
			       : "unchanged");
	if (gone || enabled)
		json_put_bool(w->service, "enabled", !gone && json_is_true(enabled));
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	const char *name = json_get_str(args, "name", "");
	int rc;

	memset(w, 0, sizeof *w);
	w->dropin = json_get_str(args, "dropin", NULL);
	w->state = json_get_str(args, "state", "present");
	w->source = json_get_str(args, "source", NULL);
	w->content = json_get_str(args, "content", NULL);
	w->absent = strcmp(w->state, "absent") == 0;
	w->masked = strcmp(w->state, "masked") == 0;
	w->verify = json_get_bool(args, "verify", true);
	rc = judge_name(name, "unit", err);
	if (rc == 0 && w->dropin)
		rc = judge_dropin(w->dropin, err);
	if (rc == 0)
		rc = judge_content(w, err);
	if (rc < 0)
		return rc;
	systemd_unit_name(name, w->unit);
	snprintf(w->path, sizeof w->path, w->dropin ? FOLDER "/%s.d/%s.conf" : FOLDER "/%s",
		w->unit, w->dropin ? w->dropin : "");
	make_service(args, w);
	return 0;
}

static int find_content(struct step_env *env, const struct wish *w, struct content *out,
	struct buf *store, struct err *err)
{
	memset(out, 0, sizeof *out);
	out->text = str_of(w->content ? w->content : "");
	return w->source ? content_find(env, "files", w->source, store, &out->from, err) : 0;
}

static bool is_mask(const struct step_env *env, const char *path)
{
	char target[sizeof MASK + 1] = "";
	const char *name;
	AUTO_FD parent = fs_open_parent(env->root, path, &name, NULL);

	return parent >= 0 && readlinkat(parent, name, target, sizeof target - 1) > 0 &&
	       strcmp(target, MASK) == 0;
}

/* NULL: there is nothing at path; *mode tells what it is. */
static int look_at_path(
	const struct step_env *env, const char *path, bool *exists, mode_t *mode, struct err *err)
{
	struct stat st;
	const int rc = fs_stat(env->root, path, false, &st, err);

	*exists = rc == 0;
	*mode = rc == 0 ? st.st_mode : 0;
	return rc == -E_NOTFOUND ? 0 : rc;
}

static int check_masked(
	struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	bool exists;
	mode_t mode;
	int rc = look_at_path(env, w->path, &exists, &mode, err);

	if (rc < 0 || is_mask(env, w->path))
		return rc;
	if (exists) {
		err_set(err, E_CONFLICT, "'%s' is %s, expected nothing there or a mask", w->path,
			S_ISLNK(mode) ? "a link" : "a unit of this node's own");
		return err_hint(err, "take it away first, with 'state: absent'");
	}
	report_differs(rep, "is not masked");
	report_addf(rep, "mask %s\n", w->unit);
	return 0;
}

static int check_absent(
	struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	bool exists;
	mode_t mode;
	int rc = look_at_path(env, w->path, &exists, &mode, err);

	if (rc < 0 || !exists)
		return rc;
	if (S_ISDIR(mode))
		return err_set(err, E_CONFLICT, "'%s' is a directory, expected a file", w->path);
	report_differs(rep, "'%.160s' is there", w->path);
	report_addf(rep, "remove %s\n", w->path);
	return 0;
}

static int check_file(
	struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	const struct attr attr = {FS_KEEP_MODE, FS_KEEP_ID, (gid_t)FS_KEEP_ID};
	struct content want;
	AUTO_BUF store = {0};
	int rc;

	buf_init(&store, PATH_MAX);
	if (w->masked)
		return check_masked(env, w, rep, err);
	if (w->absent)
		return check_absent(env, w, rep, err);
	rc = find_content(env, w, &want, &store, err);
	return rc < 0 ? rc : content_check(env, w->path, &want, &attr, rep, err);
}

/* A unit of the same name that the distribution brings goes on without ours. */
static bool is_ours_alone(const struct step_env *env, const struct wish *w)
{
	char path[PATH_MAX];

	return !systemd_find_unit(env, w->unit, true, path);
}

/* Is there anything that the service's state can be asked of now? */
static bool asks_service(const struct step_env *env, const struct wish *w)
{
	char path[PATH_MAX];

	if (!w->service)
		return false;
	if (w->absent || w->masked)
		return systemd_is_here(env) && systemd_find_unit(env, w->unit, false, path) &&
		       (w->masked || is_ours_alone(env, w)) && !is_mask(env, w->path);
	return w->dropin || systemd_find_unit(env, w->unit, false, path);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc < 0)
		return rc;
	rc = check_file(env, &w, rep, err);
	if (rc == 0 && asks_service(env, &w))
		rc = STEP_SERVICE.check(env, w.service, rep, err);
	wish_done(&w);
	return rc;
}

static int verify(
	struct step_env *env, const struct wish *w, const struct content *want, struct err *err)
{
	AUTO_BUF text = {0};
	int rc = 0;

	buf_init(&text, UNIT_MAX);
	if (!w->verify)
		return 0;
	if (want->from)
		rc = bundle_read(env->bundle, want->from->path, &text, err);
	else
		buf_add_str(&text, want->text);
	return rc < 0 ? rc : unit_file_verify(env, w->unit, w->dropin, buf_str(&text), err);
}

static int write_file(struct step_env *env, const struct wish *w, struct err *err)
{
	const struct attr attr = {FS_KEEP_MODE, FS_KEEP_ID, (gid_t)FS_KEEP_ID};
	char folder[PATH_MAX];
	struct content want;
	AUTO_BUF store = {0};
	int rc;

	buf_init(&store, PATH_MAX);
	rc = find_content(env, w, &want, &store, err);
	if (rc == 0)
		rc = verify(env, w, &want, err);
	if (rc < 0)
		return rc;
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(w->path, '/') - w->path), w->path);
	rc = fs_mkdirs(env->root, folder, 0755, err);
	return rc < 0 ? rc : content_apply(env, w->path, &want, &attr, err);
}

static int mask(struct step_env *env, const struct wish *w, struct err *err)
{
	const char *name;
	int rc = fs_mkdirs(env->root, FOLDER, 0755, err);
	AUTO_FD parent = rc < 0 ? rc : fs_open_parent(env->root, w->path, &name, err);

	if (parent < 0)
		return parent;
	if (symlinkat(MASK, parent, name) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot mask '%s'", w->unit);
	return fsync(parent) < 0 ? err_sys(err, errno, "cannot sync '" FOLDER "'") : 0;
}

/* Stopped before its file goes: afterwards systemd no longer knows how. */
static int put_file(struct step_env *env, const struct wish *w, bool differs,
	struct step_report *rep, struct err *err)
{
	int rc = 0;

	if ((w->absent || w->masked) && asks_service(env, w))
		rc = STEP_SERVICE.apply(env, w->service, rep, err);
	if (rc < 0 || !differs)
		return rc;
	if (w->masked)
		rc = mask(env, w, err);
	else if (w->absent)
		rc = fs_remove(env->root, w->path, false, err);
	else
		rc = write_file(env, w, err);
	return rc < 0 ? rc : systemd_reload(env, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct step_report look;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc < 0)
		return rc;
	step_report_init(&look);
	rc = check_file(env, &w, &look, err);
	if (rc == 0)
		rc = put_file(env, &w, look.state == STEP_DIFFERS, rep, err);
	if (rc == 0 && w.service && !w.absent && !w.masked)
		rc = STEP_SERVICE.apply(env, w.service, rep, err);
	step_report_done(&look);
	wish_done(&w);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object(), *service = NULL;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = edit_keep(env, w.path, into, err);
	if (rc == 0 && w.service && systemd_is_here(env))
		rc = STEP_SERVICE.before(env, w.service, &service, err);
	if (service)
		json_object_set_new(into, "service", service);
	wish_done(&w);
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

static int undo_service(struct step_env *env, const struct wish *w, const json_t *before,
	struct step_report *rep, struct err *err)
{
	const json_t *was = json_get(before, "service");

	if (!w->service || !was || !systemd_is_here(env))
		return 0;
	return STEP_SERVICE.undo(env, w->service, was, NULL, rep, err);
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	struct wish w;
	int rc = read_args(args, &w, err);
	const bool was_new = rc == 0 && strcmp(json_get_str(json_get(before, w.path), "kind", ""),
						"absent") == 0;

	if (rc < 0)
		return rc;
	/* what had no file before is stopped while systemd still knows it */
	if (was_new && !w.masked)
		rc = undo_service(env, &w, before, rep, err);
	if (rc == 0)
		rc = edit_restore(env, w.path, past, rep, err);
	if (rc == 0)
		rc = systemd_reload(env, err);
	if (rc == 0 && (!was_new || w.masked))
		rc = undo_service(env, &w, before, rep, err);
	wish_done(&w);
	return rc;
}

const struct step_ops STEP_UNIT = {
	.kind = "unit", .check = check, .apply = apply, .before = before, .undo = undo};
