/* probe - the functions of expressions that ask the node: exists, contains, running ... */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/kernel_log.h"
#include "agent/step/cache.h"
#include "agent/step/gres_lint.h"
#include "agent/step/http.h"
#include "agent/step/packager.h"
#include "agent/step/probe_file.h"
#include "agent/step/probe_text.h"
#include "agent/step/step.h"

#include <stdio.h>
#include <string.h>

#define CONTAINS_MAX (16u << 20)
#define COMM_MAX     15

static int answer(struct value *out, bool yes)
{
	*out = value_of(json_boolean(yes));
	return 0;
}

static int probe_exists(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	struct stat st;
	const int rc =
		fs_stat(env->root, json_string_value(json_array_get(args, 0)), true, &st, err);

	return rc < 0 && rc != -E_NOTFOUND ? rc : answer(out, rc == 0);
}

static int probe_contains(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *path = json_string_value(json_array_get(args, 0));
	const char *text = json_string_value(json_array_get(args, 1));
	AUTO_BUF content;
	int rc;

	buf_init(&content, CONTAINS_MAX);
	rc = fs_read(env->root, path, &content, err);
	if (rc == -E_NOTFOUND)
		return answer(out, false);
	if (rc < 0)
		return rc;
	return answer(out, str_find_str(buf_str(&content), str_of(text)) != STR_NONE);
}

static int probe_running(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *name = json_string_value(json_array_get(args, 0));
	char needle[COMM_MAX + 3];
	struct str names;
	int rc;

	if (!*name || strpbrk(name, "/\n"))
		return err_set(err, E_SCHEMA, "'%.40s' is not the name of a process", name);
	rc = cache_processes(env, &names, err);
	if (rc < 0)
		return rc;
	/* The kernel keeps the first 15 characters of a process's name. */
	snprintf(needle, sizeof needle, "\n%.*s\n", COMM_MAX, name);
	return answer(out, str_find_str(names, str_of(needle)) != STR_NONE);
}

static int probe_version(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *name = json_string_value(json_array_get(args, 0));
	const struct packager *with = packager_find(env, NULL);
	struct str version = {"", 0};
	struct package_state found = {0};
	struct dpkg_spec spec = {0};
	int rc = 0;

	if (!(with ? with->parse : dpkg_spec_parse)(str_of(name), &spec) || spec.version.n > 0)
		return err_set(err, E_SCHEMA, "'%.80s' is not the name of a package", name);
	if (with)
		rc = with->find(env, &spec, &found, err);
	if (rc < 0)
		return rc;
	if (found.installed)
		version = found.version;
	*out = value_of(json_stringn(version.p, version.n));
	return 0;
}

static int probe_port_open(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const json_int_t port = json_integer_value(json_array_get(args, 0));

	(void)env;
	if (port < 1 || port > 65535)
		return err_set(
			err, E_SCHEMA, "port %lld is not between 1 and 65535", (long long)port);
	return answer(out, http_port_open((unsigned)port, CLOCK_SEC));
}

static int probe_http_ok(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *url = json_string_value(json_array_get(args, 0));
	const char *text = json_string_value(json_array_get(args, 1));
	unsigned status;
	AUTO_BUF body;
	int rc;

	(void)env;
	buf_init(&body, HTTP_BODY_MAX);
	rc = http_get(url, &status, &body, err);
	if (rc < 0)
		return rc;
	return answer(out, status == 200 && str_find_str(buf_str(&body), str_of(text)) != STR_NONE);
}

static int probe_kernel_log(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *text = json_string_value(json_array_get(args, 0));
	AUTO_BUF log;
	int rc;

	buf_init(&log, CONTAINS_MAX);
	rc = kernel_log_read(env->root, &log, err);
	return rc < 0 ? rc : answer(out, str_find_str(buf_str(&log), str_of(text)) != STR_NONE);
}

static int probe_json(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	return probe_file(env, "json_file", args, out, err);
}

static int probe_toml(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	return probe_file(env, "toml_file", args, out, err);
}

static int probe_ini(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	return probe_file(env, "ini_file", args, out, err);
}

/* What each takes: 's' text, 'i' a whole number, 'l' a list. */
static const struct probe {
	const char *name, *takes;
	int (*ask)(
		const struct step_env *env, const json_t *args, struct value *out, struct err *err);
} PROBES[] = {
	{"exists", "s", probe_exists},
	{"contains", "ss", probe_contains},
	{"running", "s", probe_running},
	{"version", "s", probe_version},
	{"port_open", "i", probe_port_open},
	{"http_ok", "ss", probe_http_ok},
	{"json_file", "s", probe_json},
	{"toml_file", "s", probe_toml},
	{"ini_file", "s", probe_ini},
	{"kernel_log", "s", probe_kernel_log},
	{"unit_setting", "ss", probe_unit_setting},
	{"text_file", "s", probe_text_file},
	{"lines", "ss", probe_lines},
	{"glob", "s", probe_glob},
	{"program", "l", probe_program},
	{"gres_lint", "ssssi", probe_gres_lint},
};

static int judge_args(const struct probe *p, const json_t *args, struct err *err)
{
	if (json_array_size(args) != strlen(p->takes))
		return err_set(err, E_SCHEMA, "%s() takes %zu arguments, not %zu", p->name,
			strlen(p->takes), json_array_size(args));
	for (size_t i = 0; p->takes[i]; i++) {
		const json_t *a = json_array_get(args, i);

		const bool fits = p->takes[i] == 's'   ? json_is_string(a)
				  : p->takes[i] == 'i' ? json_is_integer(a)
						       : json_is_array(a);

		if (!fits)
			return err_set(err, E_SCHEMA, "argument %zu of %s() is not %s", i + 1,
				p->name,
				p->takes[i] == 's'   ? "text"
				: p->takes[i] == 'i' ? "a whole number"
						     : "a list");
	}
	return 0;
}

int step_probe(void *ctx, const char *name, const json_t *args, struct value *out, struct err *err)
{
	const struct step_env *env = ctx;
	int rc;

	for (size_t i = 0; i < sizeof PROBES / sizeof PROBES[0]; i++) {
		if (strcmp(PROBES[i].name, name) != 0)
			continue;
		rc = judge_args(&PROBES[i], args, err);
		return rc < 0 ? rc : PROBES[i].ask(env, args, out, err);
	}
	return err_set(err, E_NOTFOUND, "there is no function '%s'", name);
}
