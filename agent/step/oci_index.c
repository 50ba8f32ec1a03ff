#include "agent/step/oci_index.h"

#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "agent/base/json.h"

#include <stdio.h>
#include <string.h>

#define ENTRY_MAX (1u << 20)
#define NESTING   3 /* an index may name an index */

struct entry {
	struct str name, bytes;
};

/* Cuts the next entry off: NAME NUL SIZE NUL BYTES. */
static bool next_entry(struct str *rest, struct entry *out)
{
	struct str size;
	uint64_t n;

	if (!str_next(rest, '\0', &out->name) || !str_next(rest, '\0', &size) ||
		!str_to_u64(size, &n) || n > rest->n)
		return false;
	out->bytes = str_first(*rest, (size_t)n);
	*rest = str_from(*rest, (size_t)n);
	if (str_starts(out->name, "./"))
		out->name = str_from(out->name, 2);
	return true;
}

static bool find_entry(struct str text, const char *name, struct str *bytes)
{
	struct entry e;

	while (next_entry(&text, &e))
		if (str_is(e.name, name)) {
			*bytes = e.bytes;
			return true;
		}
	return false;
}

/* A blob of the layout, compared with its own name. */
static int read_blob(struct str text, const char *digest, json_t **out, struct err *err)
{
	char path[96], hex[HASH_HEX];
	struct str bytes;

	snprintf(path, sizeof path, "blobs/sha256/%.64s", digest + strlen("sha256:"));
	if (!find_entry(text, path, &bytes))
		return err_set(err, E_VERIFY, "the archive lacks the blob %.19s...", digest);
	hash_hex(bytes, hex);
	if (strcmp(hex, digest + strlen("sha256:")) != 0)
		return err_set(err, E_VERIFY, "the blob %.19s... has other bytes", digest);
	return json_parse(bytes, ENTRY_MAX, path, out, err);
}

static struct oci_image *add(struct oci_index *x)
{
	return x->n < OCI_IMAGES_MAX ? &x->images[x->n++] : NULL;
}

/* containerd and skopeo give the whole name, others the tag alone. */
static const char *name_of(const json_t *descriptor)
{
	const json_t *notes = json_get(descriptor, "annotations");
	const char *name = json_get_str(notes, "io.containerd.image.name", NULL);

	return name ? name : json_get_str(notes, "org.opencontainers.image.ref.name", "");
}

static bool is_for(const json_t *descriptor, const char *architecture)
{
	const json_t *platform = json_get(descriptor, "platform");

	return !platform ||
	       (strcmp(json_get_str(platform, "architecture", ""), architecture) == 0 &&
		       strcmp(json_get_str(platform, "os", "linux"), "linux") == 0);
}

struct walk {
	struct str text;
	const char *architecture;
	struct oci_index *out;
};

static int take_index(const struct walk *w, const json_t *index, const char *top, const char *name,
	int depth, struct err *err);

/* top: the digest that the engine will know the image by, when it is an index. */
static int take_descriptor(const struct walk *w, const json_t *d, const char *top, const char *name,
	int depth, struct err *err)
{
	const char *digest = json_get_str(d, "digest", ""), *config;
	struct oci_image *image;
	AUTO_JSON blob = NULL;
	int rc;

	if (!engine_is_digest(digest))
		return err_set(err, E_SCHEMA, "'%.80s' is no digest", digest);
	rc = read_blob(w->text, digest, &blob, err);
	if (rc < 0)
		return rc;
	if (json_is_array(json_get(blob, "manifests")))
		return take_index(w, blob, top ? top : digest, name, depth + 1, err);
	config = json_get_str(json_get(blob, "config"), "digest", "");
	if (!engine_is_digest(config))
		return err_set(err, E_SCHEMA, "the manifest %.19s... names no config", digest);
	image = add(w->out);
	if (!image)
		return err_set(
			err, E_LIMIT, "the archive holds more than %d images", OCI_IMAGES_MAX);
	snprintf(image->id.config, sizeof image->id.config, "%.71s", config);
	snprintf(image->id.manifest, sizeof image->id.manifest, "%.71s", top ? top : digest);
	snprintf(image->name, sizeof image->name, "%.255s", name);
	return 0;
}

static int take_index(const struct walk *w, const json_t *index, const char *top, const char *name,
	int depth, struct err *err)
{
	const json_t *d;
	size_t i;
	int rc = 0;

	if (depth > NESTING)
		return err_set(err, E_LIMIT, "the archive's indexes nest deeper than %d", NESTING);
	json_array_foreach(
		json_get(index, "manifests"), i, d) if (rc == 0 && is_for(d, w->architecture)) rc =
		take_descriptor(w, d, top, top ? name : name_of(d), depth, err);
	return rc;
}

static int read_layout(const struct walk *w, struct str bytes, struct err *err)
{
	AUTO_JSON index = NULL;
	int rc = json_parse(bytes, ENTRY_MAX, "index.json", &index, err);

	return rc < 0 ? rc : take_index(w, index, NULL, "", 0, err);
}

/* "CONFIG.json" of docker before 25, "blobs/sha256/CONFIG" since. */
static bool config_digest(const char *path, char out[static 72])
{
	struct str s = str_of(path);

	if (str_starts(s, "blobs/sha256/"))
		s = str_from(s, strlen("blobs/sha256/"));
	if (str_ends(s, ".json"))
		s.n -= strlen(".json");
	snprintf(out, 72, "sha256:" STR_FMT, STR_ARG(str_first(s, 64)));
	return s.n == 64 && engine_is_digest(out);
}

static int take_saved(const struct json_t *item, struct oci_index *out, struct err *err)
{
	const char *config = json_get_str(item, "Config", "");
	const json_t *tags = json_get(item, "RepoTags"), *tag;
	size_t n = json_array_size(tags), i;
	struct image_id id = {"", ""};

	if (!config_digest(config, id.config))
		return err_set(err, E_SCHEMA, "'%.80s' is no config of an image", config);
	for (i = 0; i < (n ? n : 1); i++) {
		struct oci_image *image = add(out);

		if (!image)
			return err_set(err, E_LIMIT, "the archive holds more than %d images",
				OCI_IMAGES_MAX);
		tag = json_array_get(tags, i);
		image->id = id;
		snprintf(image->name, sizeof image->name, "%.255s",
			json_is_string(tag) ? json_string_value(tag) : "");
	}
	return 0;
}

static int read_saved(struct str bytes, struct oci_index *out, struct err *err)
{
	AUTO_JSON list = NULL;
	const json_t *item;
	size_t i;
	int rc = json_parse(bytes, ENTRY_MAX, "manifest.json", &list, err);

	if (rc == 0 && !json_is_array(list))
		rc = err_set(err, E_SCHEMA, "'manifest.json' is no list of images");
	json_array_foreach(list, i, item) if (rc == 0) rc = take_saved(item, out, err);
	return rc;
}

/* docker since 25 writes both: the names stand in manifest.json, the digests in index.json. */
static void add_digests(struct oci_index *x, const struct oci_index *layout)
{
	for (unsigned i = 0; i < x->n; i++)
		for (unsigned k = 0; k < layout->n; k++)
			if (strcmp(x->images[i].id.config, layout->images[k].id.config) == 0)
				memcpy(x->images[i].id.manifest, layout->images[k].id.manifest,
					sizeof x->images[i].id.manifest);
}

int oci_index_read(
	struct str text, const char *architecture, struct oci_index *out, struct err *err)
{
	struct str index, saved;
	const bool layout = find_entry(text, "index.json", &index);
	struct oci_index from_layout = {.n = 0};
	const struct walk w = {text, architecture, &from_layout};
	int rc;

	memset(out, 0, sizeof *out);
	rc = layout ? read_layout(&w, index, err) : 0;
	if (rc < 0)
		return rc;
	if (find_entry(text, "manifest.json", &saved)) {
		rc = read_saved(saved, out, err);
		add_digests(out, &from_layout);
		if (rc < 0)
			return rc;
	} else {
		*out = from_layout;
	}
	if (out->n > 0)
		return 0;
	if (layout)
		return err_set(
			err, E_SCHEMA, "the archive holds no image for linux/%s", architecture);
	err_set(err, E_SCHEMA,
		"the archive holds neither an OCI layout nor what 'docker save' writes");
	return err_hint(
		err, "make it by 'docker save', 'podman save' or 'skopeo copy ... oci-archive:'");
}

const struct oci_image *oci_index_find(const struct oci_index *x, const char *name)
{
	for (unsigned i = 0; name && i < x->n; i++)
		if (strcmp(x->images[i].name, name) == 0)
			return &x->images[i];
	if (x->n == 1 && (!name || !x->images[0].name[0] || !strchr(x->images[0].name, '/')))
		return &x->images[0];
	return name ? NULL : &x->images[0];
}
