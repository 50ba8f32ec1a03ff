#include "agent/step/engine.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/step/tool.h"

#include <stdio.h>
#include <string.h>

#define STORE_MAX  (32u << 20)
#define NAME_LIMIT 512

static const char *const NAMES[] = {"docker", "podman", "containerd"};

static const char *const PROGRAMS[][5] = {
	{"/usr/bin/docker", "/usr/local/bin/docker", NULL},
	{"/usr/bin/podman", "/usr/local/bin/podman", NULL},
	{"/usr/bin/nerdctl", "/usr/local/bin/nerdctl", "/usr/bin/ctr", "/usr/local/bin/ctr", NULL},
};

const char *engine_name(enum engine e)
{
	return e < ENGINE_NONE ? NAMES[e] : "none";
}

int engine_program(const struct step_env *env, enum engine e, const char **out, struct err *err)
{
	struct stat st;

	for (const char *const *p = PROGRAMS[e]; *p; p++) {
		const int rc = fs_stat(env->root, *p, true, &st, err);

		*out = *p;
		if (rc != -E_NOTFOUND)
			return rc;
	}
	err_set(err, E_NOTFOUND, "this node has no %s", NAMES[e]);
	return err_hint(err, "add a 'package' step that brings it before this one");
}

static int find_any(const struct step_env *env, enum engine *out, struct err *err)
{
	const char *program;

	for (unsigned i = 0; i < ENGINE_NONE; i++) {
		const int rc = engine_program(env, (enum engine)i, &program, err);

		*out = (enum engine)i;
		if (rc != -E_NOTFOUND)
			return rc;
	}
	*out = ENGINE_NONE;
	err_set(err, E_NOTFOUND, "this node has no docker, podman or containerd");
	return err_hint(err, "add a 'package' step that brings it before this one");
}

int engine_find(const struct step_env *env, const char *name, enum engine *out, struct err *err)
{
	const char *program;

	if (!name)
		return find_any(env, out, err);
	for (unsigned i = 0; i < ENGINE_NONE; i++) {
		*out = (enum engine)i;
		if (strcmp(name, NAMES[i]) == 0)
			return engine_program(env, *out, &program, err);
	}
	return err_set(err, E_SCHEMA, "'%.40s' is no container engine known here", name);
}

bool engine_is_digest(const char *s)
{
	return str_starts(str_of(s), "sha256:") && hash_is_hex(s + strlen("sha256:"));
}

int engine_judge_pinned(const char *image, struct err *err)
{
	const char *at = strchr(image, '@');

	if (strlen(image) > NAME_LIMIT)
		return err_set(err, E_LIMIT, "'%.60s...' is too long a name of an image", image);
	for (const char *p = image; *p; p++)
		if (*p <= ' ' || *p == 127 || strchr("'\"\\$%;", *p))
			return err_set(err, E_SCHEMA, "'%.80s' is no name of an image", image);
	if (image[0] == '-' || image[0] == '@' || !image[0])
		return err_set(err, E_SCHEMA, "'%.80s' is no name of an image", image);
	if (at ? engine_is_digest(at + 1) : engine_is_digest(image))
		return 0;
	err_set(err, E_SCHEMA,
		"image '%.200s' is not pinned, a tag may mean another image tomorrow", image);
	return err_hint(
		err, "write NAME@sha256:DIGEST; 'docker buildx imagetools inspect NAME' tells it");
}

/* False: not there, or not what we know. */
static bool read_store(const struct step_env *env, const char *path, json_t **out)
{
	AUTO_BUF text;

	buf_init(&text, STORE_MAX);
	return fs_read(env->root, path, &text, NULL) == 0 &&
	       json_parse(buf_str(&text), STORE_MAX, path, out, NULL) == 0;
}

/* {"Repositories": {"busybox": {"busybox:1": "sha256:CONFIG", "busybox@sha256:..": ...}}} */
static void docker_name(const json_t *root, const char *name, char out[static 72])
{
	const char *repository;
	json_t *names;

	/* clang-format off */
	json_object_foreach(json_get(root, "Repositories"), repository, names)
		if (engine_is_digest(json_get_str(names, name, "")))
			snprintf(out, 72, "%.71s", json_get_str(names, name, ""));
	/* clang-format on */
}

/* What has no registry lies below localhost/ or docker.io/library/. */
static bool name_is(const char *full, const char *name)
{
	static const char *const PREFIXES[] = {
		"", "docker.io/", "docker.io/library/", "localhost/", NULL};
	char text[NAME_LIMIT + 64];

	for (const char *const *p = PREFIXES; *p; p++) {
		snprintf(text, sizeof text, "%s%s", *p, name);
		if (strcmp(text, full) == 0)
			return true;
	}
	return false;
}

static void podman_name(const json_t *root, const char *name, char out[static 72])
{
	const json_t *image, *n;
	size_t i, k;

	json_array_foreach(root, i, image) json_array_foreach(json_get(image, "names"), k,
		n) if (json_is_string(n) && name_is(json_string_value(n), name))
		snprintf(out, 72, "sha256:%.64s", json_get_str(image, "id", ""));
}

/* The engine itself, where its store is not where or what we know. */
static int ask(
	struct step_env *env, enum engine e, const char *name, char out[static 72], struct err *err)
{
	const char *argv[] = {NULL, "image", "inspect", "--format", "{{.Id}}", name, NULL};
	struct proc_result res;
	struct str line;
	int rc = engine_program(env, e, &argv[0], err);

	if (rc == 0)
		rc = tool_run(env, argv, NULL, TOOL_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	line = str_trim(buf_str(&res.out));
	if (proc_ok(&res) && line.n == 64)
		snprintf(out, 72, "sha256:" STR_FMT, STR_ARG(line));
	else if (proc_ok(&res) && line.n == 71)
		snprintf(out, 72, STR_FMT, STR_ARG(line));
	proc_result_done(&res);
	return 0;
}

/* Which name leads to which blob stands in a database of containerd's own. */
static int ask_containerd(
	struct step_env *env, const char *name, char out[static 72], struct err *err)
{
	const char *argv[] = {
		NULL, "--namespace", ENGINE_NAMESPACE, "image", "list", "--no-trunc", NULL};
	struct str rest, line, full;
	struct proc_result res;
	int rc = engine_program(env, ENGINE_CONTAINERD, &argv[0], err);

	if (rc == 0 && str_ends(str_of(argv[0]), "/ctr")) {
		argv[3] = "images";
		argv[5] = NULL;
	}
	if (rc == 0)
		rc = tool_run(env, argv, NULL, TOOL_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	rest = buf_str(&res.out);
	while (str_line(&rest, &line)) {
		const size_t at = str_find_str(line, STR_LIT("sha256:"));
		char text[NAME_LIMIT];

		if (at == STR_NONE || !str_next(&line, ' ', &full) || full.n >= sizeof text)
			continue;
		snprintf(text, sizeof text, STR_FMT, STR_ARG(full));
		if (name_is(text, name))
			snprintf(out, 72, "%.71s", full.p + at);
	}
	proc_result_done(&res);
	return 0;
}

int engine_image_of(
	struct step_env *env, enum engine e, const char *name, char out[static 72], struct err *err)
{
	AUTO_JSON root = NULL;

	out[0] = '\0';
	if (e == ENGINE_CONTAINERD)
		return ask_containerd(env, name, out, err);
	if (!read_store(env,
		    e == ENGINE_DOCKER ? "/var/lib/docker/image/overlay2/repositories.json"
				       : "/var/lib/containers/storage/overlay-images/images.json",
		    &root))
		return ask(env, e, name, out, err);
	if (e == ENGINE_DOCKER)
		docker_name(root, name, out);
	else
		podman_name(root, name, out);
	return 0;
}

bool engine_is_image(const struct image_id *id, const char *digest)
{
	return *digest && (strcmp(id->config, digest) == 0 || strcmp(id->manifest, digest) == 0);
}
