/* oci_index - which images an archive holds, from its small JSON files (unpack_peek). */
#pragma once

#include "agent/base/str.h"
#include "agent/step/engine.h"

#define OCI_IMAGES_MAX 64

struct oci_image {
	struct image_id id;
	char name[256]; /* as the archive says; "" unknown */
};

struct oci_index {
	unsigned n;
	struct oci_image images[OCI_IMAGES_MAX];
};

/*
 * text is what unpack_peek gives. An OCI layout (index.json, also with an index inside that lists
 * platforms: then that of linux/ARCHITECTURE), or what docker save writes (manifest.json). E_SCHEMA
 * when it is neither, E_VERIFY when a blob has not the digest that it is known by.
 */
int oci_index_read(
	struct str text, const char *architecture, struct oci_index *out, struct err *err);
/* The image of that name; the only one when name is NULL or the archive names none. NULL: none. */
const struct oci_image *oci_index_find(const struct oci_index *x, const char *name);
