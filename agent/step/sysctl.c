/*
 * sysctl - kernel parameters: kept in a drop-in file, and live in /proc/sys.
 *
 * Values are compared with their blanks folded, as the kernel prints lists with
 * tabs. Lines of other parameters in the drop-in stay.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/diff.h"
#include "agent/step/kinds.h"
#include "agent/step/merge.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX  (1u << 20)
#define VALUE_MAX 4096

/* "a.b" and "a/b" are one name; the first of the two signs tells how it is written. */
static int live_path(const char *name, char out[static PATH_MAX], struct err *err)
{
	const char *sign = strpbrk(name, "./");
	const bool dotted = !sign || *sign == '.';
	int n;

	n = snprintf(out, PATH_MAX, "/proc/sys/%s", name);
	if (!*name || n < 0 || n >= PATH_MAX || strstr(name, "..") || strstr(name, "//") ||
		*name == '/' || *name == '.' || name[strcspn(name, " \t\n=")])
		return err_set(
			err, E_SCHEMA, "'%.80s' is not the name of a kernel parameter", name);
	if (!dotted)
		return 0;
	for (char *p = out + strlen("/proc/sys/"); *p; p++)
		*p = *p == '.' ? '/' : *p == '/' ? '.' : *p;
	return 0;
}

static void fold(struct str value, struct buf *out)
{
	bool gap = false;

	value = str_trim(value);
	for (size_t i = 0; i < value.n; i++) {
		const char c = value.p[i];

		if (c == ' ' || c == '\t' || c == '\n') {
			gap = true;
			continue;
		}
		if (gap)
			buf_add_char(out, ' ');
		gap = false;
		buf_add_char(out, c);
	}
}

static bool same_value(struct str a, struct str b)
{
	AUTO_BUF x, y;

	buf_init(&x, VALUE_MAX);
	buf_init(&y, VALUE_MAX);
	fold(a, &x);
	fold(b, &y);
	return str_eq(buf_str(&x), buf_str(&y));
}

struct setting {
	const char *name, *value;
	char live[PATH_MAX];
};

static int read_setting(const char *name, const json_t *value, struct setting *out, struct err *err)
{
	out->name = name;
	out->value = json_is_string(value) ? json_string_value(value) : "";
	if (out->value[strcspn(out->value, "\n")] || !*out->value ||
		strlen(out->value) >= VALUE_MAX)
		return err_set(err, E_SCHEMA,
			"the value of kernel parameter '%.80s' is not one line", name);
	return live_path(name, out->live, err);
}

/* Is this line of the drop-in the setting's? A leading '-' means "ignore errors". */
static bool is_ours(const void *ctx, struct str line)
{
	const struct setting *s = ctx;
	const size_t equal = str_find(line, '=');
	char name[256], live[PATH_MAX];

	if (equal == STR_NONE)
		return false;
	line = str_trim(str_first(line, equal));
	if (str_starts(line, "-"))
		line = str_trim(str_from(line, 1));
	if (line.n == 0 || line.n >= sizeof name || line.p[0] == '#' || line.p[0] == ';')
		return false;
	snprintf(name, sizeof name, STR_FMT, STR_ARG(line));
	return live_path(name, live, NULL) == 0 && strcmp(live, s->live) == 0;
}

/* Merges all settings; the two buffers take turns. *now holds the result. */
static int merge_all(json_t *values, struct buf *now, struct buf *next, struct err *err)
{
	struct setting s;
	const char *name;
	const json_t *value;
	AUTO_BUF line;
	int rc;

	buf_init(&line, VALUE_MAX + 512);
	json_object_foreach(values, name, value)
	{
		struct buf swap;

		rc = read_setting(name, value, &s, err);
		if (rc < 0)
			return rc;
		buf_clear(&line);
		buf_clear(next);
		buf_addf(&line, "%s = %s", s.name, s.value);
		merge_line(buf_str(now), is_ours, &s, buf_str(&line), next);
		swap = *now;
		*now = *next;
		*next = swap;
	}
	if (!buf_ok(now) || !buf_ok(next))
		return err_set(err, E_LIMIT, "the drop-in would be longer than %u bytes", FILE_MAX);
	return 0;
}

/* Reads the drop-in and what it shall be; *exists false when it is not there. */
static int plan_file(const struct step_env *env, const json_t *args, struct buf *old,
	struct buf *new, bool *exists, struct err *err)
{
	const char *path = json_get_str(args, "path", "/etc/sysctl.d/90-stoika.conf");
	AUTO_BUF spare;
	struct stat st;
	int rc;

	buf_init(&spare, FILE_MAX);
	rc = fs_stat(env->root, path, false, &st, err);
	*exists = rc == 0;
	if (rc == 0 && !S_ISREG(st.st_mode))
		return err_set(err, E_CONFLICT, "'%s' is not a regular file", path);
	if (rc == 0)
		rc = fs_read(env->root, path, old, err);
	else if (rc == -E_NOTFOUND)
		rc = 0;
	if (rc < 0)
		return rc;
	buf_add_str(new, buf_str(old));
	return merge_all(json_get(args, "values"), new, &spare, err);
}

static int check_file(
	struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF old, new, diff;
	bool exists;
	int rc;

	buf_init(&old, FILE_MAX);
	buf_init(&new, FILE_MAX);
	buf_init(&diff, 4 * REPORT_DIFF_MAX);
	rc = plan_file(env, args, &old, &new, &exists, err);
	if (rc < 0 || (exists && str_eq(buf_str(&old), buf_str(&new))))
		return rc;

	const struct str before = buf_str(&old), after = buf_str(&new);

	report_differs(rep, "the drop-in is not as wanted");
	diff_unified(exists ? &before : NULL, &after, json_get_str(args, "path", ""), &diff);
	report_add(rep, buf_str(&diff));
	return 0;
}

static int check_live(
	struct step_env *env, const struct setting *s, struct step_report *rep, struct err *err)
{
	AUTO_BUF now;
	int rc;

	buf_init(&now, VALUE_MAX);
	rc = fs_read(env->root, s->live, &now, err);
	if (rc == -E_NOTFOUND) {
		/* A module that an earlier step loads may bring it. */
		if (env->dry)
			report_unknown(rep, "kernel parameter '%s' does not exist yet", s->name);
		else
			report_differs(rep, "kernel parameter '%s' does not exist", s->name);
		return 0;
	}
	if (rc < 0)
		return rc;
	if (same_value(buf_str(&now), str_of(s->value)))
		return 0;
	report_differs(rep, "a live value differs");
	report_addf(rep, "live %s " STR_FMT " -> %s\n", s->name, STR_ARG(str_trim(buf_str(&now))),
		s->value);
	return 0;
}

static int each_live(struct step_env *env, const json_t *args, struct step_report *rep,
	int (*todo)(struct step_env *, const struct setting *, struct step_report *, struct err *),
	struct err *err)
{
	json_t *values = json_get(args, "values");
	const char *name;
	const json_t *value;
	struct setting s;
	int rc;

	json_object_foreach(values, name, value)
	{
		rc = read_setting(name, value, &s, err);
		if (rc == 0)
			rc = todo(env, &s, rep, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	int rc;

	rc = check_file(env, args, rep, err);
	if (rc < 0 || !json_get_bool(args, "live", true))
		return rc;
	return each_live(env, args, rep, check_live, err);
}

static int cannot_set(const struct setting *s, int sys, struct err *err)
{
	if (sys == ENOENT) {
		err_set(err, E_NOTFOUND, "kernel parameter '%s' does not exist on this node",
			s->name);
		return err_hint(err, "load the module that brings it, or say 'live: false'");
	}
	if (sys == EINVAL) {
		err_set(err, E_SCHEMA, "the kernel refuses value '%s' for '%s'", s->value, s->name);
		return err_hint(err, "see the kernel's documentation of '%s'", s->name);
	}
	err_sys(err, sys, "cannot set kernel parameter '%s'", s->name);
	if (sys == EROFS || sys == EACCES || sys == EPERM)
		return err_hint(
			err, "in a container the host sets it: say 'live: false' to only keep it");
	return -(int)err->code;
}

static int apply_live(
	struct step_env *env, const struct setting *s, struct step_report *rep, struct err *err)
{
	AUTO_BUF now;
	struct err why;
	ssize_t n;

	(void)rep;
	buf_init(&now, VALUE_MAX);
	if (fs_read(env->root, s->live, &now, NULL) == 0 &&
		same_value(buf_str(&now), str_of(s->value)))
		return 0;
	AUTO_FD fd = fs_open(env->root, s->live, O_WRONLY, 0, false, &why);
	if (fd < 0)
		return cannot_set(s, why.sys, err);
	/* In one write: the kernel takes each as a whole value. */
	n = write(fd, s->value, strlen(s->value));
	return n < 0 ? cannot_set(s, errno, err) : 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const char *path = json_get_str(args, "path", "/etc/sysctl.d/90-stoika.conf");
	AUTO_BUF old, new;
	bool exists;
	int rc;

	buf_init(&old, FILE_MAX);
	buf_init(&new, FILE_MAX);
	rc = plan_file(env, args, &old, &new, &exists, err);
	if (rc < 0)
		return rc;
	/* Live first: a value that the kernel refuses must not wait in the file for the next boot.
	 */
	if (json_get_bool(args, "live", true))
		rc = each_live(env, args, rep, apply_live, err);
	if (rc < 0 || (exists && str_eq(buf_str(&old), buf_str(&new))))
		return rc;
	rc = fs_replace(
		env->root, path, buf_str(&new), FS_KEEP_MODE, FS_KEEP_ID, (gid_t)FS_KEEP_ID, err);
	if (rc == -E_NOTFOUND)
		return err_hint(err, "add a 'directory' step for its folder before this one");
	return rc;
}

/* A line of any of the step's parameters. */
static bool is_any_ours(const void *ctx, struct str line)
{
	json_t *values = json_get(ctx, "values");
	const json_t *value;
	struct setting s;
	const char *name;

	json_object_foreach(values, name, value)
	{
		if (read_setting(name, value, &s, NULL) == 0 && is_ours(&s, line))
			return true;
	}
	return false;
}

static struct own_lines lines_of(const json_t *args)
{
	return (struct own_lines){json_get_str(args, "path", "/etc/sysctl.d/90-stoika.conf"),
		FILE_MAX, is_any_ours, args};
}

static json_t *read_live(const struct step_env *env, const json_t *args)
{
	json_t *live = json_object(), *values = json_get(args, "values");
	const json_t *value;
	struct setting s;
	const char *name;

	json_object_foreach(values, name, value)
	{
		AUTO_BUF now;

		buf_init(&now, VALUE_MAX);
		if (read_setting(name, value, &s, NULL) == 0 &&
			fs_read(env->root, s.live, &now, NULL) == 0)
			json_put_text(live, name, str_trim(buf_str(&now)));
	}
	return live;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	const struct own_lines ours = lines_of(args);
	json_t *into = json_object();
	const int rc = own_lines_before(env, &ours, into, err);

	if (rc < 0) {
		json_decref(into);
		return rc;
	}
	if (json_get_bool(args, "live", true))
		json_object_set_new(into, "live", read_live(env, args));
	*out = into;
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct own_lines ours = lines_of(args);
	AUTO_JSON now = json_get_bool(args, "live", true) ? read_live(env, args) : NULL;
	json_t *live = json_get(before, "live");
	AUTO_JSON back = json_pack("{s:O?}", "values", live);
	bool changed = false;
	int rc = own_lines_undo(env, &ours, before, after, &changed, err);

	if (rc == 0 && now && live && !json_equal(now, live)) {
		changed = true;
		rc = each_live(env, back, rep, apply_live, err);
	}
	if (changed)
		report_differs(rep, "brought back");
	return rc;
}

const struct step_ops STEP_SYSCTL = {
	.kind = "sysctl", .check = check, .apply = apply, .before = before, .undo = undo};
