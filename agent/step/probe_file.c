#include "agent/step/probe_file.h"

#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"
#include "agent/step/merge_doc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DROPINS_MAX 1000

/* Where units lie, the first folder that has one counts. */
static const char *const FOLDERS[] = {"/etc/systemd/system", "/run/systemd/system",
	"/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", NULL};

static int root_json(const struct merge_doc *d, json_t **out)
{
	const struct merge_node *n;

	if (!d->format->rows) {
		*out = merge_node_json(d->root);
		return 0;
	}
	*out = json_object();
	for (n = d->root->first; n; n = n->next) {
		const struct merge_path p = {1, {n->key}};
		json_t *v = NULL;

		if (d->format->get(d, &p, &v, NULL) == 0 && v)
			json_object_set_new(*out, n->key.p, v);
	}
	return 0;
}

int probe_file(const struct step_env *env, const char *name, const json_t *args, struct value *out,
	struct err *err)
{
	const char *path = json_string_value(json_array_get(args, 0));
	char format[16];
	struct merge_doc *d;
	json_t *v = NULL;
	struct arena *a;
	AUTO_BUF text;
	int rc;

	buf_init(&text, MERGE_BYTES_MAX);
	snprintf(format, sizeof format, "%.*s", (int)strcspn(name, "_"), name);
	rc = fs_read(env->root, path, &text, err);
	if (rc == -E_NOTFOUND) {
		*out = value_of(json_object());
		return 0;
	}
	if (rc < 0)
		return rc;
	a = arena_new();
	rc = merge_parse(merge_format_find(format), a, path, buf_str(&text), &d, err);
	if (rc == 0)
		rc = root_json(d, &v);
	if (rc == 0)
		*out = value_of(v);
	arena_free(a);
	return rc;
}

/* --- units --- */

struct setting {
	const struct step_env *env;
	struct merge_path path;
	json_t *values;
};

/* What one file says: each assignment adds, an empty one forgets what was before. */
static int read_unit_file(const struct setting *s, const char *path, struct err *err)
{
	AUTO_JSON v = NULL;
	AUTO_JSON list = json_array();
	struct merge_doc *d;
	struct arena *a;
	AUTO_BUF text;
	int rc;

	buf_init(&text, MERGE_BYTES_MAX);
	rc = fs_read(s->env->root, path, &text, err);
	if (rc < 0)
		return rc == -E_NOTFOUND ? 0 : rc;
	a = arena_new();
	rc = merge_parse(&MERGE_INI, a, path, buf_str(&text), &d, err);
	if (rc == 0)
		rc = MERGE_INI.get(d, &s->path, &v, err);
	arena_free(a);
	if (rc < 0 || !v)
		return rc;
	if (json_is_array(v))
		json_array_extend(list, v);
	else
		json_array_append(list, v);
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i);

		if (!json_is_string(item) || json_string_length(item) == 0)
			json_array_clear(s->values);
		else
			json_array_append(s->values, item);
	}
	return 0;
}

/* Adds name -> path of UNIT.d/ in one folder; a name that is there already comes from a folder that
 * counts more. */
static int list_dropins(const struct setting *s, const char *folder, const char *unit, json_t *into,
	struct err *err)
{
	char path[PATH_MAX];
	const struct dirent *e;
	DIR *d;
	int fd;

	snprintf(path, sizeof path, "%s/%s.d", folder, unit);
	fd = fs_open(s->env->root, path, O_RDONLY | O_DIRECTORY, 0, true, err);
	if (fd < 0)
		return fd == -E_NOTFOUND ? 0 : fd;
	d = fdopendir(fd);
	if (!d) {
		const int sys = errno;

		close(fd);
		return err_sys(err, sys, "cannot read '%s'", path);
	}
	while ((e = readdir(d)) && json_object_size(into) < DROPINS_MAX) {
		char file[PATH_MAX];

		if (!str_ends(str_of(e->d_name), ".conf") || json_get(into, e->d_name))
			continue;
		if (snprintf(file, sizeof file, "%s/%s", path, e->d_name) < (int)sizeof file)
			json_put_str(into, e->d_name, file);
	}
	closedir(d);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int read_dropins(const struct setting *s, const char *unit, struct err *err)
{
	AUTO_JSON found = json_object();
	struct vec(const char *) names = VEC_INIT;
	const char *name;
	json_t *path;
	int rc = 0;

	for (const char *const *f = FOLDERS; *f && rc == 0; f++)
		rc = list_dropins(s, *f, unit, found, err);
	json_object_foreach(found, name, path) * vec_push(&names) = name;
	if (names.n > 0)
		qsort(names.at, names.n, sizeof *names.at, by_name);
	for (size_t i = 0; i < names.n && rc == 0; i++)
		rc = read_unit_file(s, json_get_str(found, names.at[i], ""), err);
	vec_done(&names);
	return rc;
}

static int read_unit(const struct setting *s, const char *unit, struct err *err)
{
	for (const char *const *f = FOLDERS; *f; f++) {
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof path, "%s/%s", *f, unit);
		if (fs_stat(s->env->root, path, true, &st, NULL) < 0)
			continue;
		return read_unit_file(s, path, err);
	}
	return 0;
}

int probe_unit_setting(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *unit = json_string_value(json_array_get(args, 0));
	const char *key = json_string_value(json_array_get(args, 1));
	AUTO_JSON values = json_array();
	struct setting s = {.env = env, .values = values};
	struct arena *a;
	char name[NAME_MAX + 1];
	int rc;

	if (!*unit || strchr(unit, '/') || strlen(unit) > 200)
		return err_set(err, E_SCHEMA, "'%.60s' is not the name of a unit", unit);
	snprintf(name, sizeof name, "%s%s", unit, strchr(unit, '.') ? "" : ".service");
	a = arena_new();
	rc = merge_path_parse(a, str_of(key), &s.path, err);
	if (rc == 0 && s.path.n != 2) {
		err_set(err, E_SCHEMA, "'%.60s' is no section and key", key);
		rc = err_hint(err, "such as 'Service.ExecStart'");
	}
	if (rc == 0)
		rc = read_unit(&s, name, err);
	if (rc == 0)
		rc = read_dropins(&s, name, err);
	if (rc == 0)
		*out = value_of(json_incref(values));
	arena_free(a);
	return rc;
}
