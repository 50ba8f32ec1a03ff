/*
 * engine - the container engines of a node, and their image stores as files.
 *
 * docker keeps images below /var/lib/docker/image, podman below /var/lib/containers/storage,
 * containerd their blobs below /var/lib/containerd. Where the names lie in a database of the
 * engine's own (containerd), its program is asked.
 */
#pragma once

#include "agent/step/step.h"

#define ENGINE_NAMESPACE "k8s.io" /* of containerd: where the kubelet looks */

enum engine {
	ENGINE_DOCKER,
	ENGINE_PODMAN,
	ENGINE_CONTAINERD, /* by nerdctl, or ctr where only that is there */
	ENGINE_NONE
};

/* What an image is known by. */
struct image_id {
	char config[72], manifest[72]; /* "sha256:HEX"; "" unknown */
};

const char *engine_name(enum engine e);
/* name NULL: the first that is installed; E_NOTFOUND with a hint. */
int engine_find(const struct step_env *env, const char *name, enum engine *out, struct err *err);
/* Its program: "/usr/bin/docker"; nerdctl or ctr for containerd. E_NOTFOUND with a hint. */
int engine_program(const struct step_env *env, enum engine e, const char **out, struct err *err);
/* The digest of the image that name leads to ("sha256:HEX"), "" when there is none. */
int engine_image_of(struct step_env *env, enum engine e, const char *name, char out[static 72],
	struct err *err);
bool engine_is_image(const struct image_id *id, const char *digest);
/* "NAME@sha256:HEX", or "sha256:HEX" of an image that is there; E_SCHEMA with a hint. */
int engine_judge_pinned(const char *image, struct err *err);
bool engine_is_digest(const char *s); /* "sha256:" and 64 hex digits */
