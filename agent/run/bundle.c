/*
 * bundle - how: a folder named by the manifest's digest is complete, since it gets that name last.
 * Reception works in ".in.RANDOM", held by flock while its maker lives; those of the dead are
 * removed by the next reception. One that is found damaged loses its manifest, so that it counts as
 * absent from then on, is asked for again and replaced.
 */
#include "agent/run/bundle.h"

#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/base/vec.h"
#include "agent/run/serial.h"
#include "agent/unpack/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST_MAX (8u << 20)
#define LISTED_MAX   4096 /* bundles looked at; more than BUNDLE_KEEP only after a crash */
#define DIR_DEPTH    32
#define IN_PREFIX    ".in."
#define IN_RANDOM    8u /* bytes */
/* What tar and zstd add at most: headers and padding per file, and the frame. */
#define EXTRA_PER_FILE 4096u
#define EXTRA_TOTAL    (1u << 20)

struct bundle {
	int files;   /* the folder of the files */
	bool is_dir; /* a plain folder: hashes are computed, not checked */
	struct manifest m;
};

struct bundle_in {
	const struct bundle_store *store;
	struct arena *arena;
	struct manifest m;
	char tmp[sizeof IN_PREFIX + 2 * IN_RANDOM];
	int dir, files;
	uint64_t size, got;
	struct unpack *unpack;
};

struct row {
	char digest[HASH_HEX];
	struct timespec at;
};

struct rows vec(struct row);

static int by_age(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->at.tv_sec != y->at.tv_sec)
		return x->at.tv_sec < y->at.tv_sec ? 1 : -1;
	if (x->at.tv_nsec != y->at.tv_nsec)
		return x->at.tv_nsec < y->at.tv_nsec ? 1 : -1;
	return strcmp(x->digest, y->digest);
}

static DIR *open_list(int dirfd, const char *path, struct err *err)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		err_sys(err, errno, "cannot list folder '%s'", path);
		mem_close_fd(&fd);
	}
	return list;
}

/* All digests present, newest first. */
static int list_rows(const struct bundle_store *s, struct rows *rows, struct err *err)
{
	DIR *list = open_list(s->dirfd, ".", err);
	if (!list)
		return err ? -(int)err->code : -E_IO;
	for (struct dirent *e; rows->n < LISTED_MAX && (e = readdir(list)) != NULL;) {
		struct stat st;
		if (!hash_is_hex(e->d_name) ||
			fstatat(s->dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISDIR(st.st_mode))
			continue;
		struct row *r = vec_push(rows);
		memcpy(r->digest, e->d_name, HASH_HEX);
		r->at = st.st_mtim;
	}
	closedir(list);
	vec_sort(rows, by_age);
	return 0;
}

int bundle_list(const struct bundle_store *s, struct arena *a, const char **out, unsigned max,
	unsigned *n, struct err *err)
{
	struct rows rows = VEC_INIT;
	struct err why = {0};
	int rc = list_rows(s, &rows, &why);
	unsigned count = 0;
	for (; !rc && count < max && count < rows.n; count++)
		out[count] = arena_strdup(a, rows.at[count].digest);
	vec_done(&rows);
	if (rc && err)
		*err = why;
	if (!rc)
		*n = count;
	return rc;
}

/* Best effort; dir is the bundle's folder or one in it, and way leads from there to the manifest.
 */
static void condemn(int dir, const char *way, struct err *err)
{
	unlinkat(dir, way, 0);
	err_hint(err, "apply again: the bundle is then sent to the node once more");
}

static int read_manifest(
	int store, const char *digest, struct arena *a, struct manifest *m, struct err *err)
{
	AUTO_BUF text;
	char path[HASH_HEX + 16], hex[HASH_HEX];
	buf_init(&text, MANIFEST_MAX);
	snprintf(path, sizeof path, "%s/manifest", digest);
	int rc = fs_read(store, path, &text, err);
	if (rc)
		return rc;
	hash_hex(buf_str(&text), hex);
	if (strcmp(hex, digest) != 0) {
		err_set(err, E_VERIFY, "its manifest is damaged");
		condemn(store, path, err);
		return -E_VERIFY;
	}
	return manifest_parse(a, buf_str(&text), m, err);
}

int bundle_open(const struct bundle_store *s, struct arena *a, const char *digest,
	struct bundle **out, struct err *err)
{
	char path[HASH_HEX + 16];
	if (!hash_is_hex(digest))
		return err_set(err, E_NOTFOUND, "'%.80s' is not the digest of a bundle", digest);
	struct bundle *b = arena_alloc(a, sizeof *b);
	int rc = read_manifest(s->dirfd, digest, a, &b->m, err);
	if (rc) {
		err_wrap(err, "bundle '%.12s'", digest);
		return rc;
	}
	snprintf(path, sizeof path, "%s/files", digest);
	b->files = fs_open(s->dirfd, path, O_RDONLY | O_DIRECTORY, 0, false, err);
	if (b->files < 0)
		return b->files;
	*out = b;
	return 0;
}

int bundle_vet(const struct bundle_store *s, const struct bundle *b, int64_t now, bool begun,
	struct err *err)
{
	char expired[24];
	int rc;
	if (now >= b->m.expires) {
		clock_format(b->m.expires * CLOCK_SEC, expired);
		err_set(err, E_VERIFY, "bundle: it expired at %s", expired);
		return err_hint(err, "apply again, which makes a new bundle; or check the node's "
				     "clock (date -u)");
	}
	if (begun)
		return 0;
	rc = serial_check(s->dirfd, &b->m, err);
	return rc == 0 ? serial_note(s->dirfd, &b->m, err) : rc;
}

void bundle_close(struct bundle *b)
{
	if (!b)
		return;
	mem_close_fd(&b->files);
	b->files = -1;
}

const struct manifest_file *bundle_find(const struct bundle *b, const char *path)
{
	struct manifest probe = b->m;
	const struct manifest_file *f = manifest_find(&probe, path);
	if (!f || !b->is_dir || f->sha256[0])
		return f;
	struct manifest_file *lazy = &b->m.files[f - b->m.files];
	AUTO_FD fd = fs_open(b->files, path, O_RDONLY, 0, false, NULL);
	return fd >= 0 && hash_fd(fd, lazy->sha256, NULL) == 0 ? f : NULL;
}

/* Opens a file that the manifest names, of the size that it says. */
static int open_known(
	const struct bundle *b, const char *path, const struct manifest_file **f, struct err *err)
{
	struct stat st;
	*f = manifest_find(&b->m, path);
	if (!*f)
		return err_set(err, E_NOTFOUND, "there is no file '%s' in the bundle", path);
	int fd = fs_open(b->files, path, O_RDONLY, 0, false, err);
	if (fd < 0 && fd != -E_NOTFOUND)
		return fd;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		(b->is_dir || (uint64_t)st.st_size == (*f)->size))
		return fd;
	mem_close_fd(&fd);
	err_set(err, E_VERIFY, "'%s' in the bundle is damaged: not a file of %llu bytes", path,
		(unsigned long long)(*f)->size);
	if (!b->is_dir)
		condemn(b->files, "../manifest", err);
	return -E_VERIFY;
}

static int check_hash(const struct bundle *b, const struct manifest_file *f,
	const char hex[static HASH_HEX], struct err *err)
{
	if (b->is_dir || strcmp(hex, f->sha256) == 0)
		return 0;
	err_set(err, E_VERIFY, "'%s' in the bundle is damaged: another SHA-256", f->path);
	condemn(b->files, "../manifest", err);
	return -E_VERIFY;
}

int bundle_read(const struct bundle *b, const char *path, struct buf *out, struct err *err)
{
	const struct manifest_file *f;
	char hex[HASH_HEX];
	size_t before = out->n;
	AUTO_FD fd = open_known(b, path, &f, err);
	if (fd < 0)
		return fd;
	int rc = fs_read(b->files, path, out, err);
	if (rc)
		return rc;
	hash_hex(str_from(buf_str(out), before), hex);
	return check_hash(b, f, hex, err);
}

int bundle_open_file(const struct bundle *b, const char *path, struct err *err)
{
	const struct manifest_file *f;
	char hex[HASH_HEX];
	int fd = open_known(b, path, &f, err);
	if (fd < 0 || b->is_dir)
		return fd;
	int rc = hash_fd(fd, hex, err);
	if (!rc)
		rc = check_hash(b, f, hex, err);
	if (!rc && lseek(fd, 0, SEEK_SET) < 0)
		rc = err_sys(err, errno, "cannot rewind '%s'", path);
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

struct found vec(struct manifest_file);

/* One entry of a plain folder: files are noted, folders entered, the rest is not for recipes. */
static int scan_folder(int root, const char *folder, struct arena *a, struct found *found,
	int depth, struct err *err);

static int scan_entry(int root, const char *path, struct arena *a, struct found *found, int depth,
	struct err *err)
{
	struct stat st;
	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW))
		return err_sys(err, errno, "cannot look at '%s'", path);
	if (S_ISDIR(st.st_mode))
		return scan_folder(root, path, a, found, depth + 1, err);
	if (!S_ISREG(st.st_mode))
		return 0;
	if (found->n >= MANIFEST_FILES_MAX)
		return err_set(
			err, E_LIMIT, "more than %d files in a recipe folder", MANIFEST_FILES_MAX);
	struct manifest_file *f = vec_push(found);
	f->path = path;
	f->size = (uint64_t)st.st_size;
	f->mode = st.st_mode & 0777;
	return 0;
}

static int scan_folder(int root, const char *folder, struct arena *a, struct found *found,
	int depth, struct err *err)
{
	if (depth > DIR_DEPTH)
		return err_set(
			err, E_LIMIT, "'%s' lies more than %d folders deep", folder, DIR_DEPTH);
	DIR *list = open_list(root, folder, err);
	int rc = list ? 0 : -E_IO;
	for (struct dirent *e; !rc && (e = readdir(list)) != NULL;) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		bool top = strcmp(folder, ".") == 0;
		const char *path = top ? arena_strdup(a, e->d_name)
				       : arena_printf(a, "%s/%s", folder, e->d_name);
		rc = scan_entry(root, path, a, found, depth, err);
	}
	if (list)
		closedir(list);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	const struct manifest_file *x = a, *y = b;
	return strcmp(x->path, y->path);
}

int bundle_open_dir(struct arena *a, const char *dir, struct bundle **out, struct err *err)
{
	struct found found = VEC_INIT;
	struct bundle *b = arena_alloc(a, sizeof *b);
	b->is_dir = true;
	b->files = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->files < 0)
		return err_sys(err, errno, "cannot open folder '%s'", dir);
	int rc = scan_folder(b->files, ".", a, &found, 0, err);
	if (!rc) {
		vec_sort(&found, by_path);
		b->m.n_files = (unsigned)found.n;
		b->m.files = arena_alloc(a, (found.n + 1) * sizeof *b->m.files);
		for (unsigned i = 0; i < found.n; i++) {
			b->m.files[i] = found.at[i];
			b->m.bytes += found.at[i].size;
		}
		*out = b;
	} else {
		bundle_close(b);
	}
	vec_done(&found);
	return rc;
}

/* Best effort: what a dead reception left. */
static void sweep_dead(int store)
{
	DIR *list = open_list(store, ".", NULL);
	if (!list)
		return;
	for (struct dirent *e; (e = readdir(list)) != NULL;) {
		if (strncmp(e->d_name, IN_PREFIX, sizeof IN_PREFIX - 1) != 0)
			continue;
		AUTO_FD fd =
			openat(store, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
			fs_remove(store, e->d_name, true, NULL);
	}
	closedir(list);
}

/* Only the newest stay; best effort too, a full disk shows elsewhere. */
static void prune(const struct bundle_store *s)
{
	struct rows rows = VEC_INIT;
	if (list_rows(s, &rows, NULL) == 0)
		for (size_t i = BUNDLE_KEEP; i < rows.n; i++)
			fs_remove(s->dirfd, rows.at[i].digest, true, NULL);
	vec_done(&rows);
}

static int check_room(const struct bundle_in *in, struct err *err)
{
	uint64_t bytes, inodes;
	uint64_t want = in->m.bytes + (uint64_t)in->m.n_files * EXTRA_PER_FILE + EXTRA_TOTAL;
	if (in->size > want)
		return err_set(err, E_LIMIT,
			"a bundle of %llu bytes is announced, its files need at most %llu",
			(unsigned long long)in->size, (unsigned long long)want);
	int rc = fs_free_space(in->store->dirfd, ".", &bytes, &inodes, err);
	if (rc)
		return rc;
	if (bytes < want || inodes < in->m.n_files + 64u)
		return err_set(err, E_NOSPACE,
			"the bundle needs %llu MiB and %u files, the node's state folder has %llu MiB "
			"and %llu",
			(unsigned long long)(want >> 20), in->m.n_files,
			(unsigned long long)(bytes >> 20), (unsigned long long)inodes);
	return 0;
}

static int make_folder(struct bundle_in *in, struct err *err)
{
	char hex[2 * IN_RANDOM + 1];
	int store = in->store->dirfd;
	int rc = sign_random_hex(IN_RANDOM, hex, err);
	if (rc)
		return rc;
	snprintf(in->tmp, sizeof in->tmp, IN_PREFIX "%s", hex);
	if (mkdirat(store, in->tmp, 0700))
		return err_sys(err, errno, "cannot make a folder for the bundle");
	in->dir = openat(store, in->tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in->dir < 0 || flock(in->dir, LOCK_EX | LOCK_NB) || mkdirat(in->dir, "files", 0755))
		return err_sys(err, errno, "cannot make a folder for the bundle");
	in->files = openat(in->dir, "files", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return in->files < 0 ? err_sys(err, errno, "cannot open the bundle's folder") : 0;
}

static int begin(struct bundle_in *in, struct str manifest, struct str sig, struct err *err)
{
	gid_t keep = (gid_t)FS_KEEP_ID;
	int rc = check_room(in, err);
	if (rc)
		return rc;
	sweep_dead(in->store->dirfd);
	rc = make_folder(in, err);
	if (!rc)
		rc = fs_replace(in->dir, "manifest", manifest, 0644, FS_KEEP_ID, keep, err);
	if (!rc)
		rc = fs_replace(in->dir, "manifest.sig", sig, 0644, FS_KEEP_ID, keep, err);
	if (!rc)
		rc = unpack_start(in->files, &in->m, &in->unpack, err);
	return rc;
}

int bundle_in_begin(const struct bundle_store *s, struct str manifest, struct str sig,
	uint64_t size, int64_t now, struct bundle_in **out, struct err *err)
{
	struct bundle_in *in = xcalloc(1, sizeof *in);
	in->store = s;
	in->size = size;
	in->dir = in->files = -1;
	in->arena = arena_new();
	int rc = manifest_parse(in->arena, manifest, &in->m, err);
	if (!rc)
		rc = manifest_check(manifest, sig, s->key, now, &in->m, err);
	if (!rc)
		rc = serial_check(s->dirfd, &in->m, err);
	if (!rc)
		rc = begin(in, manifest, sig, err);
	if (rc)
		bundle_in_cancel(in);
	else
		*out = in;
	return rc;
}

int bundle_in_add(struct bundle_in *in, struct str bytes, struct err *err)
{
	if (bytes.n > in->size - in->got)
		return err_set(err, E_LIMIT, "the bundle is longer than the %llu bytes announced",
			(unsigned long long)in->size);
	in->got += bytes.n;
	return unpack_add(in->unpack, bytes, err);
}

/* The moment at which the bundle exists. */
static int put_in_place(struct bundle_in *in, struct err *err)
{
	int store = in->store->dirfd;
	if (fsync(in->dir))
		return err_sys(err, errno, "cannot write the bundle through to the disk");
	char old[HASH_HEX + 16];
	snprintf(old, sizeof old, "%s/manifest", in->m.digest);
	if (faccessat(store, in->m.digest, F_OK, 0) == 0 && faccessat(store, old, F_OK, 0)) {
		int rc = fs_remove(store, in->m.digest, true, err); /* condemned */
		if (rc)
			return rc;
	}
	if (renameat(store, in->tmp, store, in->m.digest)) {
		/* another session was first: the same digest is the same content */
		if (errno == EEXIST || errno == ENOTEMPTY)
			return fs_remove(store, in->tmp, true, err);
		return err_sys(err, errno, "cannot put the bundle in place");
	}
	in->tmp[0] = '\0';
	if (fsync(store))
		return err_sys(err, errno, "cannot write the bundle through to the disk");
	prune(in->store);
	return 0;
}

int bundle_in_finish(struct bundle_in *in, struct err *err)
{
	int rc = 0;
	if (in->got != in->size)
		rc = err_set(err, E_VERIFY, "the bundle ended after %llu of %llu bytes",
			(unsigned long long)in->got, (unsigned long long)in->size);
	if (!rc) {
		rc = unpack_finish(in->unpack, err);
		in->unpack = NULL;
	}
	if (!rc)
		rc = put_in_place(in, err);
	bundle_in_cancel(in);
	if (rc)
		err_wrap(err, "bundle");
	return rc;
}

void bundle_in_cancel(struct bundle_in *in)
{
	if (!in)
		return;
	unpack_cancel(in->unpack);
	if (in->tmp[0])
		fs_remove(in->store->dirfd, in->tmp, true, NULL);
	mem_close_fd(&in->files);
	mem_close_fd(&in->dir);
	arena_free(in->arena);
	free(in);
}
