/* manifest - canonical JSON both ways; what does not come out again byte for byte is not ours. */
#include "agent/wire/manifest.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/json.h"
#include "agent/base/sign.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT     1
#define TEXT_MAX   (8u << 20)
#define PATH_BYTES 1024
#define PART_BYTES 255
#define MODE_BITS  0777u
#define TIME_MAX   INT64_C(9000000000) /* seconds that still fit as nanoseconds */

static int compare_files(const void *a, const void *b)
{
	const struct manifest_file *fa = a, *fb = b;

	return strcmp(fa->path, fb->path);
}

static int compare_path(const void *key, const void *file)
{
	const char *path = key;
	const struct manifest_file *f = file;

	return strcmp(path, f->path);
}

static bool part_is_plain(struct str part)
{
	if (part.n == 0 || part.n > PART_BYTES || str_is(part, ".") || str_is(part, ".."))
		return false;
	for (size_t i = 0; i < part.n; i++)
		if ((unsigned char)part.p[i] < ' ' || part.p[i] == 127 || part.p[i] == '\\')
			return false;
	return true;
}

static bool path_is_plain(const char *path)
{
	struct str rest = str_of(path), part;

	if (rest.n == 0 || rest.n > PATH_BYTES || rest.p[rest.n - 1] == '/' || !str_is_utf8(rest))
		return false;
	while (str_next(&rest, '/', &part))
		if (!part_is_plain(part))
			return false;
	return true;
}

/* Plain names, each once and in order, with ',' between. */
static bool name_is_plain(const char *name)
{
	struct str rest = str_of(name), part, last = {NULL, 0};

	if (rest.n == 0 || rest.n > MANIFEST_NAME_MAX || rest.p[rest.n - 1] == ',')
		return false;
	while (str_next(&rest, ',', &part)) {
		const size_t n = part.n < last.n ? part.n : last.n;
		const int order = last.p ? memcmp(last.p, part.p, n) : -1;

		if (!str_is_name(part) || order > 0 || (order == 0 && part.n <= last.n))
			return false;
		last = part;
	}
	return true;
}

static json_t *files_json(const struct manifest *m)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < m->n_files; i++) {
		json_t *f = json_object();

		json_put_str(f, "path", m->files[i].path);
		json_put_int(f, "size", (int64_t)m->files[i].size);
		json_put_str(f, "sha256", m->files[i].sha256);
		json_put_int(f, "mode", m->files[i].mode);
		json_array_append_new(list, f);
	}
	return list;
}

static void hash_json(const json_t *v, char hex[static HASH_HEX])
{
	AUTO_BUF text;

	buf_init(&text, TEXT_MAX);
	json_write(v, &text);
	hash_hex(buf_str(&text), hex);
}

static int parse_file(struct arena *a, const json_t *item, struct manifest_file *f, struct err *err)
{
	const char *path = json_get_str(item, "path", ""), *sha = json_get_str(item, "sha256", "");
	const int64_t size = json_get_int(item, "size", -1), mode = json_get_int(item, "mode", -1);

	if (!path_is_plain(path))
		return err_set(err, E_SCHEMA, "manifest: '%s' is not a plain relative path", path);
	if (!hash_is_hex(sha))
		return err_set(
			err, E_SCHEMA, "manifest: '%s' has no SHA-256 of 64 hex digits", path);
	if (size < 0 || (uint64_t)size > MANIFEST_BYTES_MAX)
		return err_set(err, E_SCHEMA, "manifest: '%s' has no size that is possible", path);
	if (mode < 0 || mode > (int64_t)MODE_BITS)
		return err_set(err, E_SCHEMA, "manifest: '%s' has mode %lld, expected 0 to 0777",
			path, (long long)mode);
	f->path = arena_strdup(a, path);
	f->size = (uint64_t)size;
	f->mode = (unsigned)mode;
	memcpy(f->sha256, sha, HASH_HEX);
	return 0;
}

/* "a" and "a/b" cannot both be files; with plain parts sorted by bytes they need not be neighbours
 * ("a", "a-b", "a/b"), so each parent is looked up. */
static int check_no_file_as_folder(const struct manifest *m, struct err *err)
{
	for (unsigned i = 0; i < m->n_files; i++) {
		char parent[PATH_BYTES + 1];
		const size_t n = strlen(m->files[i].path);

		memcpy(parent, m->files[i].path, n + 1);
		for (size_t k = n; k-- > 0;) {
			if (parent[k] != '/')
				continue;
			parent[k] = '\0';
			if (manifest_find(m, parent))
				return err_set(err, E_CONFLICT,
					"manifest: '%s' is both a file and a folder", parent);
		}
	}
	return 0;
}

static int parse_files(struct arena *a, json_t *list, struct manifest *m, struct err *err)
{
	const size_t n = json_array_size(list);

	if (!json_is_array(list))
		return err_set(err, E_SCHEMA, "manifest: 'files' must be a list");
	if (n > MANIFEST_FILES_MAX)
		return err_set(err, E_LIMIT, "manifest: %zu files, at most %d are allowed", n,
			MANIFEST_FILES_MAX);
	m->files = arena_alloc(a, (n + 1) * sizeof *m->files);
	for (; m->n_files < n; m->n_files++) {
		struct manifest_file *f = &m->files[m->n_files];
		const int rc = parse_file(a, json_array_get(list, m->n_files), f, err);

		if (rc < 0)
			return rc;
		if (m->n_files > 0 && strcmp(f[-1].path, f->path) >= 0)
			return err_set(err, E_SCHEMA, "manifest: '%s' is not in order", f->path);
		m->bytes += f->size;
		if (m->bytes > MANIFEST_BYTES_MAX)
			return err_set(err, E_LIMIT, "manifest: more than %llu bytes in all",
				(unsigned long long)MANIFEST_BYTES_MAX);
	}
	return check_no_file_as_folder(m, err);
}

/* The text must be the one form that its content has, else two texts could mean the same. */
static int check_canonical(struct str text, json_t *files, struct manifest *m, struct err *err)
{
	AUTO_BUF again;
	char content[HASH_HEX];

	buf_init(&again, TEXT_MAX);
	hash_json(files, content);
	if (strcmp(content, m->content) != 0)
		return err_set(err, E_VERIFY, "manifest: 'content' is not the digest of its files");
	manifest_format(m, &again);
	if (!buf_ok(&again) || !str_eq(buf_str(&again), text))
		return err_set(err, E_SCHEMA, "manifest: not in canonical form");
	return 0;
}

void manifest_format(struct manifest *m, struct buf *out)
{
	AUTO_JSON top = json_object();
	json_t *files;

	if (m->n_files > 1)
		qsort(m->files, m->n_files, sizeof *m->files, compare_files);
	files = files_json(m);
	hash_json(files, m->content);
	json_put_int(top, "format", FORMAT);
	json_put_str(top, "name", m->name);
	json_put_str(top, "content", m->content);
	json_put_int(top, "serial", m->serial);
	json_put_int(top, "created", m->created);
	json_put_int(top, "expires", m->expires);
	json_object_set_new(top, "files", files);

	const size_t before = out->n;

	json_write(top, out);
	hash_hex(str_from(buf_str(out), before), m->digest);
}

int manifest_parse(struct arena *a, struct str text, struct manifest *out, struct err *err)
{
	AUTO_JSON top = NULL;
	struct manifest m = {0};
	int rc = json_parse(text, TEXT_MAX, "manifest", &top, err);

	if (rc < 0)
		return rc;
	if (json_get_int(top, "format", 0) != FORMAT) {
		err_set(err, E_UNSUPPORTED, "manifest: its format is not %d", FORMAT);
		return err_hint(err,
			"the agent may be older than the controller: stoika agent install NODE");
	}
	m.serial = json_get_int(top, "serial", -1);
	m.created = json_get_int(top, "created", -1);
	m.expires = json_get_int(top, "expires", -1);
	if (m.serial < 0 || m.created < 0 || m.expires < m.created || m.expires > TIME_MAX)
		return err_set(err, E_SCHEMA,
			"manifest: 'serial', 'created' or 'expires' is missing or wrong");

	const char *content = json_get_str(top, "content", ""),
		   *name = json_get_str(top, "name", "");

	if (!name_is_plain(name))
		return err_set(err, E_SCHEMA,
			"manifest: 'name' must be the names of its recipes, sorted, with ',' "
			"between");
	m.name = arena_strdup(a, name);

	if (!hash_is_hex(content))
		return err_set(err, E_SCHEMA, "manifest: 'content' must be 64 hex digits");
	memcpy(m.content, content, HASH_HEX);
	rc = parse_files(a, json_get(top, "files"), &m, err);
	if (rc < 0)
		return rc;
	rc = check_canonical(text, json_get(top, "files"), &m, err);
	if (rc == 0)
		*out = m;
	return rc;
}

int manifest_check(struct str text, struct str sig, const struct sign_key *key, int64_t now,
	const struct manifest *m, struct err *err)
{
	char digest[HASH_HEX], expired[24];
	const int rc = sign_check(key, text, sig, err);

	if (rc < 0) {
		err_wrap(err, "bundle");
		return err_hint(
			err, "the node trusts another controller's key: stoika agent install NODE");
	}
	hash_hex(text, digest);
	if (strcmp(digest, m->digest) != 0)
		return err_set(err, E_VERIFY, "bundle: its manifest is not the one that was read");
	if (now < m->expires)
		return 0;
	clock_format(m->expires * CLOCK_SEC, expired);
	err_set(err, E_VERIFY, "bundle: it expired at %s", expired);
	return err_hint(err,
		"check the node's clock (date -u); else apply again, which makes a new bundle");
}

const struct manifest_file *manifest_find(const struct manifest *m, const char *path)
{
	if (m->n_files == 0)
		return NULL;
	return bsearch(path, m->files, m->n_files, sizeof *m->files, compare_path);
}
