/*
 * pack_tar - recipe folders to a manifest and to a payload that is the same each time.
 *
 * Taken are recipe.yaml, files/ and templates/ of each folder; plain files only.
 * Owner, time and the umask's part of the mode are left out, the order is the
 * manifest's, so the same files give the same bytes on any machine.
 */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"
#include "controller/fleet/pack_priv.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 32
#define CHUNK     (64u << 10)
/* The highest levels save a tenth of the bytes and cost the controller 80 MB of memory. */
#define LEVEL "3"

/* --- listing --- */

struct listing {
	struct arena *arena;
	struct vec(struct manifest_file) files;
	uint64_t bytes;
	struct err *err;
};

static int refuse(struct listing *l, const char *path, const char *what)
{
	err_set(l->err, E_UNSUPPORTED, "'%s' is %s; a recipe is made of plain files", path, what);
	return err_hint(l->err, "put the file itself there, or make the link with a step");
}

/* One plain file: its hash and mode. fd is at offset 0. */
static int add_file(struct listing *l, int fd, const char *path, const struct stat *st)
{
	struct manifest_file *f;

	if (l->files.n == MANIFEST_FILES_MAX || l->bytes + (uint64_t)st->st_size > PACK_BYTES_MAX)
		return err_set(l->err, E_LIMIT, "the recipes are more than %d files or %llu bytes",
			MANIFEST_FILES_MAX, (unsigned long long)PACK_BYTES_MAX);
	f = vec_push(&l->files);
	f->path = path;
	f->size = (uint64_t)st->st_size;
	f->mode = st->st_mode & S_IXUSR ? 0755 : 0644;
	l->bytes += f->size;
	return hash_fd(fd, f->sha256, l->err);
}

static int walk(struct listing *l, int dir, const char *path, unsigned depth);

/* What stands at name below dir, called path in the bundle. */
static int add_entry(struct listing *l, int dir, const char *name, const char *path, unsigned depth)
{
	struct stat st;
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ELOOP)
		return refuse(l, path, "a symbolic link");
	if (fd < 0 || fstat(fd, &st) != 0)
		return err_sys(l->err, errno, "cannot read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return walk(l, fd, path, depth + 1);
	if (!S_ISREG(st.st_mode))
		return refuse(l, path, "a device, pipe or socket");
	return add_file(l, fd, path, &st);
}

static int walk(struct listing *l, int dir, const char *path, unsigned depth)
{
	const int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	int rc = 0;

	if (!d) {
		err_sys(l->err, errno, "cannot list '%s'", path);
		if (copy >= 0)
			close(copy);
		return -(int)E_IO;
	}
	if (depth > DEPTH_MAX)
		rc = err_set(l->err, E_LIMIT, "'%s' is more than %d folders deep", path, DEPTH_MAX);
	while (rc == 0 && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = add_entry(l, dir, e->d_name,
				arena_printf(l->arena, "%s/%s", path, e->d_name), depth);
	closedir(d);
	return rc;
}

static int add_recipe(struct listing *l, const struct pack_recipe *r)
{
	static const char *const parts[] = {"recipe.yaml", "files", "templates"};
	AUTO_FD dir = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (dir < 0)
		return err_sys(l->err, errno, "cannot open the recipe's folder '%s'", r->dir);
	for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++) {
		if (i > 0 && faccessat(dir, parts[i], F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		rc = add_entry(
			l, dir, parts[i], arena_printf(l->arena, "%s/%s", r->name, parts[i]), 0);
	}
	return rc < 0 ? err_wrap(l->err, "recipe '%s'", r->name) : 0;
}

int pack_list_files(struct arena *a, const struct pack_recipe *recipes, unsigned n,
	struct manifest *out, struct err *err)
{
	struct listing l = {.arena = a, .err = err};
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = add_recipe(&l, &recipes[i]);
	if (rc == 0) {
		*out = (struct manifest){.n_files = (unsigned)l.files.n, .bytes = l.bytes};
		out->files = arena_alloc(a, l.files.n * sizeof *out->files + 1);
		if (l.files.n > 0)
			memcpy(out->files, l.files.at, l.files.n * sizeof *out->files);
	}
	vec_done(&l.files);
	return rc;
}

/* --- writing --- */

struct payload {
	struct archive *archive;
	const struct pack_recipe *recipes;
	unsigned n;
	struct err *err;
};

static int archive_failed(const struct payload *p)
{
	const int sys = archive_errno(p->archive);
	const char *why = archive_error_string(p->archive);

	return err_set(p->err, sys == ENOSPC ? E_NOSPACE : E_IO, "cannot write the bundle: %s",
		why ? why : "unknown");
}

/* "NAME/files/x" opened below the folder of recipe NAME. */
static int open_source(const struct payload *p, const char *path)
{
	const size_t n = strcspn(path, "/");

	for (unsigned i = 0; i < p->n; i++) {
		const struct pack_recipe *r = &p->recipes[i];

		if (strlen(r->name) != n || memcmp(r->name, path, n) != 0)
			continue;

		AUTO_FD dir = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (dir < 0)
			return err_sys(p->err, errno, "cannot open '%s'", r->dir);
		return fs_open(dir, path + n + 1, O_RDONLY, 0, false, p->err);
	}
	return err_set(p->err, E_INTERNAL, "'%s' belongs to no recipe", path);
}

static int write_header(const struct payload *p, const struct manifest_file *f)
{
	struct archive_entry *e = archive_entry_new();
	int rc;

	if (!e)
		return err_set(p->err, E_INTERNAL, "libarchive is out of memory");
	archive_entry_set_pathname(e, f->path);
	archive_entry_set_size(e, (int64_t)f->size);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, f->mode);
	archive_entry_set_mtime(e, 0, 0);
	rc = archive_write_header(p->archive, e);
	archive_entry_free(e);
	return rc == ARCHIVE_OK ? 0 : archive_failed(p);
}

/* Copies exactly f->size bytes and compares what went by with the listed hash. */
static int write_body(const struct payload *p, int fd, const struct manifest_file *f)
{
	struct hash *hash = hash_new();
	char *chunk = xmalloc(CHUNK), hex[HASH_HEX];
	uint64_t left = f->size;
	ssize_t n = 1;
	int rc = 0;

	while (rc == 0 && left > 0 && n > 0) {
		n = read(fd, chunk, left < CHUNK ? left : CHUNK);
		if (n < 0)
			rc = err_sys(p->err, errno, "cannot read '%s'", f->path);
		if (n <= 0)
			break;
		hash_update(hash, chunk, (size_t)n);
		left -= (uint64_t)n;
		if (archive_write_data(p->archive, chunk, (size_t)n) != n)
			rc = archive_failed(p);
	}
	hash_final(hash, hex);
	free(chunk);
	if (rc == 0 && (left > 0 || strcmp(hex, f->sha256) != 0))
		rc = err_set(p->err, E_VERIFY, "'%s' changed while it was packed", f->path);
	return rc;
}

static int write_file(const struct payload *p, const struct manifest_file *f)
{
	AUTO_FD fd = open_source(p, f->path);
	int rc = fd < 0 ? fd : write_header(p, f);

	return rc < 0 ? rc : write_body(p, fd, f);
}

static int open_archive(const struct payload *p, int fd)
{
	struct archive *a = p->archive;

	if (archive_write_set_format_pax_restricted(a) != ARCHIVE_OK ||
		archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
		archive_write_set_filter_option(a, "zstd", "compression-level", LEVEL) !=
			ARCHIVE_OK ||
		archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
		archive_write_open_fd(a, fd) != ARCHIVE_OK)
		return archive_failed(p);
	return 0;
}

int pack_write_payload(int fd, const struct pack_recipe *recipes, unsigned n,
	const struct manifest *m, struct err *err)
{
	struct payload p = {archive_write_new(), recipes, n, err};
	int rc;

	if (!p.archive)
		return err_set(err, E_INTERNAL, "libarchive is out of memory");
	rc = open_archive(&p, fd);
	for (unsigned i = 0; rc == 0 && i < m->n_files; i++)
		rc = write_file(&p, &m->files[i]);
	if (rc == 0 && archive_write_close(p.archive) != ARCHIVE_OK)
		rc = archive_failed(&p);
	archive_write_free(p.archive);
	return rc;
}
