/* unit_file - how: a folder of its own below /run, which systemd-analyze looks into first. */
#include "agent/step/unit_file.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/service_priv.h"
#include "agent/step/tool.h"

#include <stdio.h>
#include <string.h>

#define FOLDER   "/run/stoika-verify"
#define PATIENCE (30 * CLOCK_SEC)
#define UNIT_MAX (1u << 20)

/* A template cannot be judged without an instance. */
static void name_of(const char *unit, char out[static SERVICE_NAME_MAX + 16])
{
	const char *at = strchr(unit, '@');

	if (at && at[1] == '.')
		snprintf(out, SERVICE_NAME_MAX + 16, "%.*sverify%s", (int)(at - unit) + 1, unit,
			at + 1);
	else
		snprintf(out, SERVICE_NAME_MAX + 16, "%s", unit);
}

/* The installed unit beside its drop-in. */
static int copy_unit(const struct step_env *env, const char *unit, const char *to, struct err *err)
{
	char path[PATH_MAX];
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, UNIT_MAX);
	if (!systemd_find_unit(env, unit, false, path)) {
		err_set(err, E_NOTFOUND, "unit '%s' is not installed on this node", unit);
		return err_hint(err, "add the step that brings it before its drop-in");
	}
	rc = fs_read(env->root, path, &text, err);
	return rc < 0 ? rc : fs_replace(env->root, to, buf_str(&text), 0644, 0, 0, err);
}

static int lay_out(const struct step_env *env, const char *unit, const char *dropin,
	struct str text, char path[static PATH_MAX], struct err *err)
{
	char name[SERVICE_NAME_MAX + 16], conf[PATH_MAX];
	int rc;

	name_of(unit, name);
	snprintf(path, PATH_MAX, FOLDER "/%s", name);
	rc = fs_remove(env->root, FOLDER, true, err);
	if (rc == 0)
		rc = fs_mkdirs(env->root, FOLDER, 0700, err);
	if (rc < 0 || !dropin)
		return rc < 0 ? rc : fs_replace(env->root, path, text, 0644, 0, 0, err);
	rc = copy_unit(env, unit, path, err);
	if (rc < 0)
		return rc;
	snprintf(conf, sizeof conf, FOLDER "/%s.d", name);
	rc = fs_mkdirs(env->root, conf, 0700, err);
	snprintf(conf, sizeof conf, FOLDER "/%s.d/%s.conf", name, dropin);
	return rc < 0 ? rc : fs_replace(env->root, conf, text, 0644, 0, 0, err);
}

/* The first line that is about our unit; others may be wrong for long. */
static bool find_complaint(struct str output, const char *path, struct buf *out)
{
	const char *name = strrchr(path, '/') + 1;
	char begin[SERVICE_NAME_MAX + 24];
	struct str line;

	snprintf(begin, sizeof begin, "%.*s:", SERVICE_NAME_MAX + 16, name);
	while (str_line(&output, &line)) {
		const size_t at = str_find_str(line, STR_LIT(FOLDER "/"));

		if (at == STR_NONE && !str_starts(line, begin))
			continue;
		if (at != STR_NONE)
			line = str_from(line, at + strlen(FOLDER "/"));
		buf_add_printable(out, str_trim(line));
		return true;
	}
	return false;
}

static int judge(const struct step_env *env, const char *unit, const char *path, struct err *err)
{
	const char *const argv[] = {"systemd-analyze", "verify", "--man=no", path, NULL};
	struct proc_result res;
	AUTO_BUF complaint = {0};
	int rc = tool_run(env, argv, NULL, PATIENCE, &res, err);

	if (rc < 0)
		return rc;
	buf_init(&complaint, 1024);
	if (find_complaint(buf_str(&res.out), path, &complaint)) {
		err_set(err, E_SCHEMA, "systemd does not take unit '%s': %s", unit,
			buf_text(&complaint));
		rc = err_hint(err, "correct it, or say 'verify: false' if this systemd is too old "
				   "to know it");
	}
	proc_result_done(&res);
	return rc;
}

int unit_file_verify(const struct step_env *env, const char *unit, const char *dropin,
	struct str text, struct err *err)
{
	char path[PATH_MAX];
	int rc;

	if (!tool_is_there(env, "systemd-analyze"))
		return 0;
	rc = lay_out(env, unit, dropin, text, path, err);
	if (rc == 0)
		rc = judge(env, unit, path, err);
	(void)fs_remove(env->root, FOLDER, true, NULL);
	return rc;
}

int unit_file_judge(const struct step_env *env, const char *what, const char *text, const char *key,
	struct err *err)
{
	const char *const argv[] = {"systemd-analyze", what, "--", text, NULL};
	struct proc_result res;
	int rc;

	if (!tool_is_there(env, "systemd-analyze"))
		return 0;
	rc = tool_run(env, argv, NULL, PATIENCE, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res)) {
		AUTO_BUF tail = {0};

		buf_init(&tail, 200);
		tool_tail(buf_str(&res.out), 1, &tail);
		err_set(err, E_SCHEMA, "systemd does not take '%.80s' for '%s': %s", text, key,
			buf_text(&tail));
		rc = err_hint(err, "try it with 'systemd-analyze %s'", what);
	}
	proc_result_done(&res);
	return rc;
}

void unit_file_quote(struct str argument, struct buf *out)
{
	buf_add_char(out, '"');
	for (size_t i = 0; i < argument.n; i++) {
		const char c = argument.p[i];

		if (c == '\n') {
			buf_add_text(out, "\\n");
			continue;
		}
		if (c == '"' || c == '\\')
			buf_add_char(out, '\\');
		if (c == '%' || c == '$')
			buf_add_char(out, c);
		buf_add_char(out, c);
	}
	buf_add_char(out, '"');
}
