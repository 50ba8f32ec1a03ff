/*
 * pack - how: one folder per content beside the database, made under a lock, renamed into place.
 *
 * The manifest of a kept bundle is read back and its signature checked with our
 * own key, so a touched file is packed anew rather than sent.
 */
#include "controller/fleet/pack.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/pack_priv.h"
#include "inventory/store/order.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define DAY               INT64_C(86400)
#define MANIFEST_TEXT_MAX (8u << 20)
#define LOCK_FILE         ".lock"
#define MAKING            ".making" /* the folder of a bundle that is not complete */

struct pack_private {
	struct buf manifest, sig;
	void *map;
	size_t map_size;
};

void pack_done(struct pack *p)
{
	struct pack_private *own = p ? p->priv : NULL;

	if (!own)
		return;
	buf_done(&own->manifest);
	buf_done(&own->sig);
	if (own->map)
		munmap(own->map, own->map_size);
	free(own);
	*p = (struct pack){0};
}

static int64_t now_seconds(void)
{
	return clock_wall() / CLOCK_SEC;
}

static int map_payload(int dir, const char *content, struct pack_private *own, struct err *err)
{
	AUTO_STR path = xasprintf("%s/payload.tar.zst", content);
	AUTO_FD fd = fs_open(dir, path, O_RDONLY, 0, false, err);
	struct stat st;
	void *map;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0)
		return err_sys(err, errno, "cannot read '%s'", path);
	if (st.st_size <= 0)
		return err_set(err, E_VERIFY, "'%s' is empty", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "cannot map '%s'", path);
	own->map = map;
	own->map_size = (size_t)st.st_size;
	return 0;
}

/* The kept bundle of this content; parsed manifest in *m. */
static int load(struct arena *a, int dir, const char *content, struct pack *out, struct manifest *m,
	struct err *err)
{
	struct pack_private *own = xcalloc(1, sizeof *own);
	int rc;

	*out = (struct pack){.priv = own};
	buf_init(&own->manifest, MANIFEST_TEXT_MAX);
	buf_init(&own->sig, SIGN_TEXT_MAX);
	rc = fs_read(dir, arena_printf(a, "%s/manifest", content), &own->manifest, err);
	if (rc == 0)
		rc = fs_read(dir, arena_printf(a, "%s/manifest.sig", content), &own->sig, err);
	if (rc == 0)
		rc = map_payload(dir, content, own, err);
	if (rc == 0)
		rc = manifest_parse(a, buf_str(&own->manifest), m, err);
	if (rc < 0) {
		pack_done(out);
		return rc;
	}
	out->manifest = buf_str(&own->manifest);
	out->sig = buf_str(&own->sig);
	out->payload = (struct str){own->map, own->map_size};
	memcpy(out->digest, m->digest, sizeof out->digest);
	return 0;
}

/* A kept bundle that nodes may go on using for half of its life at least, and the last of its
 * name: nodes refuse one that is older than what they have seen. */
static bool load_fresh(struct arena *a, int dir, const struct manifest *wanted, int64_t last,
	const struct keys *keys, struct pack *out)
{
	struct manifest m = {0};
	const int64_t now = now_seconds();

	if (load(a, dir, wanted->content, out, &m, NULL) < 0)
		return false;
	if (strcmp(m.content, wanted->content) == 0 && strcmp(m.name, wanted->name) == 0 &&
		m.serial == last && m.created <= now &&
		now < m.created + PACK_LIFE_DAYS * DAY / 2 &&
		manifest_check(out->manifest, out->sig, keys->sign, now, &m, NULL) == 0)
		return true;
	pack_done(out);
	return false;
}

/* Kept before use, so that a number is never given twice; the clock keeps it growing even when the
 * database is one of yesterday. */
static int next_serial(struct store *s, const char *name, const char *signer, int64_t last,
	int64_t *serial, struct err *err)
{
	const int64_t now = now_seconds();
	int rc = store_begin(s, err);

	*serial = last + 1 > now ? last + 1 : now;
	if (rc < 0)
		return rc;
	rc = store_serial_put(s, name, signer, *serial, err);
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return rc;
}

static int write_payload(int dir, const struct pack_recipe *recipes, unsigned n,
	const struct manifest *m, struct err *err)
{
	AUTO_FD fd = openat(dir, "payload.tar.zst", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int rc;

	if (fd < 0)
		return err_sys(err, errno, "cannot create the bundle's payload");
	rc = pack_write_payload(fd, recipes, n, m, err);
	if (rc == 0 && fsync(fd) != 0)
		rc = err_sys(err, errno, "cannot write the bundle's payload");
	return rc;
}

/* The three files of a bundle into the empty folder MAKING. */
static int fill(struct arena *a, int bundles, const struct keys *keys,
	const struct pack_recipe *recipes, unsigned n, struct manifest *m, struct err *err)
{
	char sig[SIGN_TEXT_MAX];
	AUTO_BUF text = {0};
	AUTO_FD dir = -1;
	struct manifest check;
	int rc;

	buf_init(&text, MANIFEST_TEXT_MAX);
	m->created = now_seconds();
	m->expires = m->created + PACK_LIFE_DAYS * DAY;
	manifest_format(m, &text);
	/* read back: this refuses names that no node would take */
	rc = manifest_parse(a, buf_str(&text), &check, err);
	if (rc == 0)
		rc = sign_make(keys->sign, buf_str(&text), sig, err);
	if (rc < 0)
		return rc;
	dir = fs_open(bundles, MAKING, O_RDONLY | O_DIRECTORY, 0, false, err);
	if (dir < 0)
		return dir;
	rc = write_payload(dir, recipes, n, m, err);
	if (rc == 0)
		rc = fs_replace(
			dir, "manifest.sig", str_of(sig), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	if (rc == 0)
		rc = fs_replace(dir, "manifest", buf_str(&text), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	return rc;
}

/* Expired bundles and what is not readable as one. */
static void sweep(struct arena *a, int dir)
{
	const int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	if (!d && copy >= 0)
		close(copy);
	while (d && (e = readdir(d)) != NULL) {
		struct manifest m = {0};
		struct pack old;

		if (!hash_is_hex(e->d_name))
			continue;
		if (load(a, dir, e->d_name, &old, &m, NULL) == 0) {
			pack_done(&old);
			if (m.expires > now_seconds())
				continue;
		}
		(void)fs_remove(dir, e->d_name, true, NULL);
	}
	if (d)
		closedir(d);
}

static int make(struct arena *a, int dir, const struct keys *keys,
	const struct pack_recipe *recipes, unsigned n, struct manifest *m, struct err *err)
{
	int rc = fs_remove(dir, MAKING, true, err);

	if (rc == 0)
		rc = fs_mkdirs(dir, MAKING, 0755, err);
	if (rc == 0)
		rc = fill(a, dir, keys, recipes, n, m, err);
	if (rc == 0)
		rc = fs_remove(dir, m->content, true, err);
	if (rc == 0 && (renameat(dir, MAKING, dir, m->content) != 0 || fsync(dir) != 0))
		rc = err_sys(err, errno, "cannot move the bundle into place");
	if (rc < 0)
		(void)fs_remove(dir, MAKING, true, NULL);
	else
		sweep(a, dir);
	return rc;
}

static int open_bundles(const char *path, struct err *err)
{
	int fd;

	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(err, errno, "cannot open the folder '%s'", path) : fd;
}

static int lock_bundles(int dir, struct err *err)
{
	const int fd = openat(dir, LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, errno, "cannot open the lock of the bundles");
	while (flock(fd, LOCK_EX) != 0)
		if (errno != EINTR) {
			const int rc = err_sys(err, errno, "cannot lock the bundles");

			close(fd);
			return rc;
		}
	return fd;
}

static int compare_names(const void *a, const void *b)
{
	const char *const *na = a, *const *nb = b;

	return strcmp(*na, *nb);
}

/* What serials are counted for: the recipes of the set, sorted. */
static const char *set_name(struct arena *a, const struct pack_recipe *recipes, unsigned n)
{
	const char **names = arena_alloc(a, (n + 1) * sizeof *names);
	AUTO_BUF text;

	buf_init(&text, MANIFEST_NAME_MAX);
	for (unsigned i = 0; i < n; i++)
		names[i] = recipes[i].name;
	if (n > 1)
		qsort(names, n, sizeof *names, compare_names);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&text, "%s%s", i > 0 ? "," : "", names[i]);
	return arena_strdup(a, buf_text(&text));
}

static int find_or_make(struct arena *a, struct store *store, const struct keys *keys,
	const struct pack_recipe *recipes, unsigned n, struct pack *out, struct err *err)
{
	AUTO_BUF text = {0};
	AUTO_FD dir = open_bundles(keys_path(a, store_path(store), "bundles"), err);
	AUTO_FD lock = dir < 0 ? dir : lock_bundles(dir, err);
	const char *signer = sign_key_id(keys->sign);
	struct manifest m = {0}, kept = {0};
	int64_t last = 0;
	int rc = lock < 0 ? lock : pack_list_files(a, recipes, n, &m, err);

	if (rc < 0)
		return rc;
	buf_init(&text, MANIFEST_TEXT_MAX);
	m.name = set_name(a, recipes, n);
	manifest_format(&m, &text); /* sorts, and tells the content */
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "the recipes have too many files");
	rc = store_serial_get(store, m.name, signer, &last, err);
	if (rc < 0)
		return rc;
	if (load_fresh(a, dir, &m, last, keys, out))
		return 0;
	rc = next_serial(store, m.name, signer, last, &m.serial, err);
	if (rc == 0)
		rc = make(a, dir, keys, recipes, n, &m, err);
	return rc < 0 ? rc : load(a, dir, m.content, out, &kept, err);
}

int pack_make(struct store *store, const struct keys *keys, const struct pack_recipe *recipes,
	unsigned n, struct pack *out, struct err *err)
{
	struct arena *a = arena_new();
	const int rc = find_or_make(a, store, keys, recipes, n, out, err);

	arena_free(a);
	return rc;
}
