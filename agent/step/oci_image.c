/*
 * oci_image - a container image in the engine's store, from an archive: for nodes without network.
 *
 * The archive says itself which image it holds; its bytes are believed no more than their digests.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/run/bundle.h"
#include "agent/step/content.h"
#include "agent/step/kinds.h"
#include "agent/step/oci_index.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"
#include "agent/unpack/tree.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MAX     (16u << 20)
#define LOAD_TIMEOUT (3600 * INT64_C(1000000000))
#define ARCHITECTURE "amd64"

struct wish {
	const char *name, *path, *digest;
	const struct manifest_file *file; /* NULL: path */
	enum engine engine;
	bool absent;
};

static int judge_name(const char *name, struct err *err)
{
	const char *last = strrchr(name, '/') ? strrchr(name, '/') : name;

	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p == 127 || *p == '@' || strlen(name) > 255)
			return err_set(err, E_SCHEMA, "'%.80s' is no name of an image", name);
	if (name[0] == '-' || name[0] == '/' || !strchr(last, ':')) {
		err_set(err, E_SCHEMA, "'%.80s' is no name of an image with a tag", name);
		return err_hint(err, "such as registry.example/tools/nccl:2.27");
	}
	return 0;
}

static int read_args(const struct step_env *env, const json_t *args, struct wish *w,
	struct buf *store, struct err *err)
{
	const char *source = json_get_str(args, "source", NULL);
	int rc;

	memset(w, 0, sizeof *w);
	w->name = json_get_str(args, "name", "");
	w->path = json_get_str(args, "path", NULL);
	w->digest = json_get_str(args, "digest", NULL);
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	rc = judge_name(w->name, err);
	if (rc == 0 && w->digest && !engine_is_digest(w->digest))
		rc = err_set(err, E_SCHEMA,
			"'%.80s' is no digest, expected sha256: and 64 hex digits", w->digest);
	if (rc == 0 && !w->absent && !source && !w->path)
		rc = err_set(
			err, E_SCHEMA, "neither 'source' nor 'path' is given for '%s'", w->name);
	if (rc == 0 && source && !w->absent)
		rc = content_find(env, "files", source, store, &w->file, err);
	return rc < 0 ? rc : engine_find(env, json_get_str(args, "engine", NULL), &w->engine, err);
}

static int open_archive(const struct step_env *env, const struct wish *w, struct err *err)
{
	int fd;

	if (w->file)
		return bundle_open_file(env->bundle, w->file->path, err);
	fd = fs_open(env->root, w->path, O_RDONLY | O_NONBLOCK, 0, true, err);
	if (fd == -E_NOTFOUND)
		err_hint(err, "add a 'download' step that brings it before this one");
	return fd;
}

static int read_archive(
	const struct step_env *env, const struct wish *w, struct oci_image *out, struct err *err)
{
	const struct oci_image *image;
	struct oci_index index;
	AUTO_BUF text;
	int rc;

	buf_init(&text, LOOK_MAX);
	AUTO_FD fd = open_archive(env, w, err);
	if (fd < 0)
		return fd;
	rc = unpack_peek(fd, &text, err);
	if (rc == 0)
		rc = oci_index_read(buf_str(&text), ARCHITECTURE, &index, err);
	if (rc < 0) {
		err_wrap(err, "'%s'", w->file ? w->file->path : w->path);
		return rc;
	}
	image = oci_index_find(&index, w->name);
	if (!image) {
		err_set(err, E_NOTFOUND, "the archive holds no image '%s'", w->name);
		return err_hint(err, "it holds '%s'", index.images[0].name);
	}
	*out = *image;
	if (w->digest && !engine_is_image(&image->id, w->digest))
		return err_set(err, E_VERIFY, "the archive's image is %.19s..., expected %.19s...",
			image->id.config, w->digest);
	return 0;
}

/* With the digest given an image that is there needs no look into the archive. */
static int is_there(struct step_env *env, const struct wish *w, char now[static 72], bool *there,
	struct oci_image *image, struct err *err)
{
	int rc = engine_image_of(env, w->engine, w->name, now, err);

	*there = rc == 0 && w->digest && strcmp(now, w->digest) == 0;
	if (rc < 0 || *there)
		return rc;
	rc = read_archive(env, w, image, err);
	*there = rc == 0 && engine_is_image(&image->id, now);
	return rc;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct oci_image image;
	char now[72];
	struct wish w;
	AUTO_BUF store;
	bool there;
	int rc;

	buf_init(&store, PATH_MAX);
	rc = read_args(env, args, &w, &store, err);
	if (rc == -E_NOTFOUND && env->dry && !w.file) {
		report_unknown(rep, "the container engine is not installed yet");
		return 0;
	}
	if (rc == 0 && w.absent)
		rc = engine_image_of(env, w.engine, w.name, now, err);
	if (rc == 0 && !w.absent)
		rc = is_there(env, &w, now, &there, &image, err);
	if (rc == -E_NOTFOUND && env->dry && w.path) {
		report_unknown(rep, "the archive '%s' is not there yet", w.path);
		return 0;
	}
	if (rc < 0)
		return rc;
	if (w.absent && *now) {
		report_differs(rep, "is there");
		report_addf(rep, "remove image %s\n", w.name);
	} else if (!w.absent && !there) {
		report_differs(rep, *now ? "another image" : "is not there");
		report_addf(rep, "load %s %.19s into %s\n", w.name, image.id.config,
			engine_name(w.engine));
	}
	return 0;
}

static int run(const struct step_env *env, const char *const *argv, struct err *err)
{
	return tool_must_within(env, argv, LOAD_TIMEOUT, err);
}

/* file: a path that the engine's program can open. */
static int load(struct step_env *env, const struct wish *w, const char *file, struct err *err)
{
	const char *program;
	int rc = engine_program(env, w->engine, &program, err);

	if (rc < 0)
		return rc;

	const char *const plain[] = {program, "load", "--input", file, NULL};
	const char *const nerdctl[] = {
		program, "--namespace", ENGINE_NAMESPACE, "load", "--input", file, NULL};
	const char *const by_ctr[] = {program, "--namespace", ENGINE_NAMESPACE, "images", "import",
		"--index-name", w->name, file, NULL};

	if (w->engine != ENGINE_CONTAINERD)
		return run(env, plain, err);
	return run(env, str_ends(str_of(program), "/ctr") ? by_ctr : nerdctl, err);
}

static int tag(struct step_env *env, const struct wish *w, const char *digest, struct err *err)
{
	const char *program;
	int rc = engine_program(env, w->engine, &program, err);

	if (rc < 0)
		return rc;
	/* podman knows images by the digits alone */
	if (w->engine == ENGINE_PODMAN)
		digest += strlen("sha256:");

	const char *const plain[] = {program, "tag", digest, w->name, NULL};
	const char *const nerdctl[] = {
		program, "--namespace", ENGINE_NAMESPACE, "tag", digest, w->name, NULL};

	return run(env, w->engine == ENGINE_CONTAINERD ? nerdctl : plain, err);
}

static int remove_name(struct step_env *env, enum engine e, const char *name, struct err *err)
{
	const char *program;
	int rc = engine_program(env, e, &program, err);

	if (rc < 0)
		return rc;

	const bool ctr = str_ends(str_of(program), "/ctr");
	const char *const plain[] = {program, "rmi", name, NULL};
	const char *const spaced[] = {program, "--namespace", ENGINE_NAMESPACE,
		ctr ? "images" : "image", "rm", name, NULL};

	return run(env, e == ENGINE_CONTAINERD ? spaced : plain, err);
}

static int load_and_name(
	struct step_env *env, const struct wish *w, const struct oci_image *image, struct err *err)
{
	char file[PATH_MAX], now[72];
	AUTO_FD fd = open_archive(env, w, err);
	int rc;

	if (fd < 0)
		return fd;
	if (w->file)
		snprintf(file, sizeof file, "/proc/%d/fd/%d", getpid(), fd);
	else
		snprintf(file, sizeof file, "%s", w->path);
	rc = load(env, w, file, err);
	if (rc == 0)
		rc = engine_image_of(env, w->engine, w->name, now, err);
	if (rc < 0 || engine_is_image(&image->id, now))
		return rc;
	/* the archive did not say the name */
	return tag(env, w, image->id.config, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct oci_image image;
	char now[72];
	struct wish w;
	AUTO_BUF store;
	bool there;
	int rc;

	(void)rep;
	buf_init(&store, PATH_MAX);
	rc = read_args(env, args, &w, &store, err);
	if (rc == 0 && w.absent) {
		rc = engine_image_of(env, w.engine, w.name, now, err);
		return rc < 0 || !*now ? rc : remove_name(env, w.engine, w.name, err);
	}
	if (rc == 0)
		rc = is_there(env, &w, now, &there, &image, err);
	return rc < 0 || there ? rc : load_and_name(env, &w, &image, err);
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	const char *name = json_get_str(args, "name", "");
	enum engine e;
	char now[72] = "";
	int rc = engine_find(env, json_get_str(args, "engine", NULL), &e, err);

	if (rc == 0)
		rc = engine_image_of(env, e, name, now, err);
	if (rc < 0)
		return rc;
	*out = json_object();
	json_put_str(*out, "engine", engine_name(e));
	json_put_str(*out, "image", now);
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *old, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const char *was = json_get_str(old, "image", "");
	struct wish w = {.name = json_get_str(args, "name", "")};
	char now[72] = "";
	int rc = engine_find(env, json_get_str(old, "engine", NULL), &w.engine, err);

	if (rc == 0)
		rc = engine_image_of(env, w.engine, w.name, now, err);
	if (rc < 0 || strcmp(now, was) == 0)
		return rc;
	if (after && strcmp(now, json_get_str(after, "image", "")) != 0) {
		err_set(err, E_CONFLICT,
			"'%s' is neither as this step left it nor as it was before", w.name);
		return err_hint(err, "see '%s images' on the node", engine_name(w.engine));
	}
	report_differs(rep, *was ? "named again" : "removed again");
	report_addf(rep, "%s %s\n", *was ? "name again" : "remove image", w.name);
	return *was ? tag(env, &w, was, err) : remove_name(env, w.engine, w.name, err);
}

const struct step_ops STEP_OCI_IMAGE = {
	.kind = "oci_image", .check = check, .apply = apply, .before = before, .undo = undo};
