/*
 * limits - one limit of one domain, in a drop-in of pam_limits.
 *
 * A line is the step's own when its domain, type and item are; for the type '-'
 * the lines 'soft' and 'hard' of the same item are too, for it stands for both.
 */
#include "agent/base/err.h"
#include "agent/step/edit.h"
#include "agent/step/kinds.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"

#include <stdio.h>
#include <string.h>

#define PRESET_PATH "/etc/security/limits.d/90-stoika.conf"
#define LINE_ROOM   512

static const char *const ITEMS[] = {"core", "data", "fsize", "memlock", "nofile", "rss", "stack",
	"cpu", "nproc", "as", "maxlogins", "maxsyslogins", "nonewprivs", "priority", "locks",
	"sigpending", "msgqueue", "nice", "rtprio", "chroot", NULL};

struct wish {
	const char *path, *domain, *type, *item, *value;
	bool absent;
};

static bool is_ours(const void *ctx, struct str line)
{
	const struct wish *w = ctx;
	const struct str type = edit_field(line, 1);

	return str_is(edit_field(line, 0), w->domain) && str_is(edit_field(line, 2), w->item) &&
	       (str_is(type, w->type) || (strcmp(w->type, "-") == 0 &&
						 (str_is(type, "soft") || str_is(type, "hard"))));
}

static bool is_value(const char *value)
{
	int64_t n;

	return str_to_i64(str_of(value), &n) || strcmp(value, "unlimited") == 0 ||
	       strcmp(value, "infinity") == 0;
}

static int judge_item(const struct wish *w, struct err *err)
{
	const char *near;

	for (unsigned i = 0; ITEMS[i]; i++)
		if (strcmp(ITEMS[i], w->item) == 0)
			return 0;
	near = err_nearest(w->item, ITEMS);
	err_set(err, E_SCHEMA, "'%.40s' is not an item that can be limited", w->item);
	return near ? err_hint(err, "did you mean '%s'?", near)
		    : err_hint(err, "such as nofile, memlock, nproc, stack or core");
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	int rc;

	w->path = json_get_str(args, "path", PRESET_PATH);
	w->domain = json_get_str(args, "domain", "");
	w->type = json_get_str(args, "type", "-");
	w->item = json_get_str(args, "item", "");
	w->value = json_get_str(args, "value", "");
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	if (!*w->domain || strlen(w->domain) > 128 || w->domain[strcspn(w->domain, " \t\n#")]) {
		err_set(err, E_SCHEMA, "'%.80s' is not a domain of limits", w->domain);
		return err_hint(err, "a user, '@group', '*' or 'root'");
	}
	rc = judge_item(w, err);
	if (rc < 0 || w->absent)
		return rc;
	if (strcmp(w->item, "chroot") == 0 ? w->value[0] == '/' : is_value(w->value))
		return 0;
	err_set(err, E_SCHEMA, "'%.40s' is not a value for '%s'", w->value, w->item);
	return err_hint(err, "a whole number, or 'unlimited'");
}

static int plan(const struct step_env *env, const struct wish *w, struct edit *e, struct err *err)
{
	char line[LINE_ROOM];
	int rc = edit_open(env, w->path, e, err);

	if (rc < 0)
		return rc;
	snprintf(line, sizeof line, "%s %s %s %.128s", w->domain, w->type, w->item, w->value);
	rc = edit_line(e, is_ours, w, w->absent ? (struct str){NULL, 0} : str_of(line), err);
	return rc;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT e = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = plan(env, &w, &e, err);
	if (rc == 0)
		edit_show(&e, rep);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT e = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	(void)rep;
	if (rc == 0)
		rc = plan(env, &w, &e, err);
	return rc < 0 ? rc : edit_save(env, &e, err);
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct wish w;
	int rc = read_args(args, &w, err);

	return rc < 0 ? rc
		      : edit_keep_lines(
				env, &(struct own_lines){w.path, EDIT_MAX, is_ours, &w}, out, err);
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = {w.path, EDIT_MAX, is_ours, &w};

	return rc < 0 ? rc : edit_restore_lines(env, &ours, past, rep, err);
}

const struct step_ops STEP_LIMITS = {
	.kind = "limits", .check = check, .apply = apply, .before = before, .undo = undo};
