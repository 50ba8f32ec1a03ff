#include "controller/airgap/listing.h"

#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_MAX  ((size_t)64 << 20)
#define DEPTH_MAX 16
#define NAME      "manifest.json"
#define NAME_SIG  "manifest.sig"

static int add_file(int dir, const char *path, const struct stat *st, json_t *out, struct err *err)
{
	AUTO_FD fd = fs_open(dir, path, O_RDONLY, 0, false, err);
	char sum[HASH_HEX];
	json_t *one;
	int rc;

	if (fd < 0)
		return fd;
	if ((rc = hash_fd(fd, sum, err)) < 0)
		return rc;
	if (json_object_size(out) >= LISTING_FILES_MAX)
		return err_set(
			err, E_LIMIT, "the bundle has more than %d files", LISTING_FILES_MAX);
	one = json_object();
	json_put_int(one, "size", st->st_size);
	json_put_str(one, "sha256", sum);
	json_object_set_new(out, path, one);
	return 0;
}

static int walk(
	struct arena *a, int dir, const char *path, unsigned depth, json_t *out, struct err *err)
{
	DIR *d = depth < DEPTH_MAX ? fs_dir_open(dir, path, err) : NULL;
	const struct dirent *e;
	struct stat st;
	int rc = 0;

	if (!d)
		return depth < DEPTH_MAX ? -(int)err->code
					 : err_set(err, E_LIMIT, "'%s' is too deep", path);
	while (rc == 0 && (e = readdir(d))) {
		const char *inside = depth ? arena_printf(a, "%s/%s", path, e->d_name)
					   : arena_strdup(a, e->d_name);

		if (e->d_name[0] == '.' || strcmp(inside, NAME) == 0 ||
			strcmp(inside, NAME_SIG) == 0)
			continue;
		rc = fs_stat(dir, inside, false, &st, err);
		if (rc == 0 && S_ISDIR(st.st_mode))
			rc = walk(a, dir, inside, depth + 1, out, err);
		else if (rc == 0 && S_ISREG(st.st_mode))
			rc = add_file(dir, inside, &st, out, err);
	}
	closedir(d);
	return rc;
}

int listing_of(int dir, json_t **out, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_JSON files = json_object();
	const int rc = walk(a, dir, ".", 0, files, err);

	if (rc == 0)
		*out = json_incref(files);
	arena_free(a);
	return rc;
}

int listing_write(int dir, const json_t *doc, const struct sign_key *key, struct err *err)
{
	char sig[SIGN_TEXT_MAX];
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, TEXT_MAX);
	json_write_pretty(doc, &text);
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "the manifest is too long");
	rc = sign_make(key, buf_str(&text), sig, err);
	if (rc == 0)
		rc = fs_replace(dir, NAME_SIG, str_of(sig), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	return rc < 0 ? rc
		      : fs_replace(dir, NAME, buf_str(&text), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

int listing_remove(int dir, struct err *err)
{
	return fs_remove(dir, NAME, false, err);
}

int listing_read(int dir, const struct sign_key *key, json_t **doc, struct err *err)
{
	AUTO_BUF text = {0}, sig = {0};
	int rc;

	buf_init(&text, TEXT_MAX);
	buf_init(&sig, 4096);
	rc = fs_read(dir, NAME, &text, err);
	if (rc == -E_NOTFOUND) {
		err_set(err, E_VERIFY, "there is no " NAME ": the bundle was not finished");
		return err_hint(
			err, "run the same 'stoika bundle make' again; it goes on from there");
	}
	if (rc == 0)
		rc = fs_read(dir, NAME_SIG, &sig, err);
	if (rc == 0)
		rc = sign_check(key, buf_str(&text), str_trim(buf_str(&sig)), err);
	return rc < 0 ? rc : json_parse(buf_str(&text), TEXT_MAX, NAME, doc, err);
}

static void complain(json_t *bad, const char *path, const char *what)
{
	AUTO_STR text = xasprintf("%s %s", path, what);

	json_array_append_new(bad, json_string(text));
}

void listing_compare(int dir, const json_t *doc, json_t *bad)
{
	const char *path;
	char sum[HASH_HEX];
	json_t *one;

	json_object_foreach(json_get(doc, "files"), path, one)
	{
		AUTO_FD fd = fs_open(dir, path, O_RDONLY, 0, false, NULL);

		if (fd < 0)
			complain(bad, path, "is missing");
		else if (hash_fd(fd, sum, NULL) < 0 ||
			 strcmp(sum, json_get_str(one, "sha256", "")) != 0)
			complain(bad, path, "is not as the manifest says");
	}
}
