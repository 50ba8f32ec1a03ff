/* extract - the child's work: judge each entry, write it below the folder, hash it, sync it all. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/unpack/unpack_priv.h"
#include "agent/wire/manifest.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK        (64u << 10)
#define FOLDER_SLACK 64u /* folders that an archive may name beyond one per file */

struct extract {
	int dirfd;
	struct archive *a;
	const struct manifest *m;
	unsigned next, folders; /* the file that must come; folders seen */
};

static const char *judge_kind(struct archive_entry *e)
{
	mode_t type = archive_entry_filetype(e);
	if (archive_entry_hardlink(e) || archive_entry_symlink(e))
		return "is a link, only files and folders are allowed";
	if (type != AE_IFREG && type != AE_IFDIR)
		return "is a special file, only files and folders are allowed";
	if (archive_entry_mode(e) & (S_ISUID | S_ISGID | S_ISVTX))
		return "has a set-uid, set-gid or sticky bit";
	if (archive_entry_sparse_count(e))
		return "is sparse";
	return NULL;
}

/* A folder is let by if it leads to the next file, and is made with it. */
static const char *judge_folder(struct extract *x, const char *name)
{
	size_t n = strlen(name);
	const char *next = x->next < x->m->n_files ? x->m->files[x->next].path : "";
	if (x->folders++ >= x->m->n_files + FOLDER_SLACK)
		return "is one folder too many";
	if (n && name[n - 1] == '/')
		n--;
	return strncmp(next, name, n) == 0 && next[n] == '/' ? NULL : "is not in the manifest";
}

static const char *judge_file(const struct extract *x, struct archive_entry *e, const char *name)
{
	if (x->next >= x->m->n_files)
		return manifest_find(x->m, name) ? "comes twice" : "is not in the manifest";
	const struct manifest_file *f = &x->m->files[x->next];
	if (strcmp(f->path, name) != 0)
		return manifest_find(x->m, name) ? "is not in the manifest's order"
						 : "is not in the manifest";
	if (!archive_entry_size_is_set(e) || archive_entry_size(e) < 0 ||
		(uint64_t)archive_entry_size(e) != f->size)
		return "has not the size that the manifest says";
	return NULL;
}

/* Parents are only ever folders made here, so there is no link to be led astray by. */
static int make_parents(int dirfd, const char *path, struct err *err)
{
	char upto[PATH_MAX];
	for (const char *p = path; (p = strchr(p, '/')) != NULL; p++) {
		size_t n = (size_t)(p - path);
		memcpy(upto, path, n);
		upto[n] = '\0';
		if (mkdirat(dirfd, upto, 0755) && errno != EEXIST)
			return err_sys(err, errno, "cannot make folder '%s'", upto);
	}
	return 0;
}

static int write_blocks(const struct extract *x, const struct manifest_file *f, int fd,
	struct hash *h, struct err *err)
{
	uint64_t done = 0;
	for (;;) {
		const void *p;
		size_t n;
		la_int64_t at;
		int rc = archive_read_data_block(x->a, &p, &n, &at);
		if (rc == ARCHIVE_EOF)
			break;
		if (rc != ARCHIVE_OK)
			return archive_fail(x->a, err);
		if (at < 0 || (uint64_t)at != done || n > f->size - done)
			return archive_refuse(
				f->path, "has not the size that the manifest says", err);
		hash_update(h, p, n);
		rc = fs_write_all(fd, (struct str){p, n}, err);
		if (rc) {
			err_wrap(err, "'%s'", f->path);
			return rc;
		}
		done += n;
	}
	return done == f->size ? 0
			       : archive_refuse(f->path, "is shorter than the manifest says", err);
}

static int write_file(const struct extract *x, const struct manifest_file *f, struct err *err)
{
	char hex[HASH_HEX];
	int rc = make_parents(x->dirfd, f->path, err);
	if (rc)
		return rc;
	AUTO_FD fd = openat(
		x->dirfd, f->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "cannot make '%s'", f->path);
	struct hash *h = hash_new();
	rc = write_blocks(x, f, fd, h, err);
	if (rc) {
		hash_free(h);
		return rc;
	}
	hash_final(h, hex);
	if (strcmp(hex, f->sha256) != 0)
		return archive_refuse(f->path, "has not the SHA-256 that the manifest says", err);
	if (fchmod(fd, f->mode & 0777))
		return err_sys(err, errno, "cannot set the mode of '%s'", f->path);
	return 0;
}

static int take_entry(struct extract *x, struct archive_entry *e, struct err *err)
{
	const char *name = archive_entry_pathname_utf8(e);
	if (!name)
		name = archive_entry_pathname(e);
	if (!name)
		name = "";
	const char *why = archive_judge_name(name);
	if (!why)
		why = judge_kind(e);
	if (!why && archive_entry_filetype(e) == AE_IFDIR) {
		why = judge_folder(x, name);
		return why ? archive_refuse(name, why, err) : 0;
	}
	if (!why)
		why = judge_file(x, e, name);
	if (why)
		return archive_refuse(name, why, err);
	return write_file(x, &x->m->files[x->next++], err);
}

static int take_all(struct extract *x, struct err *err)
{
	for (;;) {
		struct archive_entry *e;
		int rc = archive_read_next_header(x->a, &e);
		if (rc == ARCHIVE_EOF)
			break;
		if (rc != ARCHIVE_OK &&
			rc != ARCHIVE_WARN) /* a warning is about a name's charset */
			return archive_fail(x->a, err);
		rc = take_entry(x, e, err);
		if (rc)
			return rc;
	}
	if (x->next < x->m->n_files)
		return err_set(err, E_VERIFY, "the archive ends before '%s', %u of %u files came",
			x->m->files[x->next].path, x->next, x->m->n_files);
	return 0;
}

static int sync_one(int dirfd, const char *path, struct err *err)
{
	AUTO_FD fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		return err_sys(err, errno, "cannot write '%s' through to the disk", path);
	return 0;
}

/* The folder of path and all above it, unless before lay in the same one. */
static int sync_parents(int dirfd, const char *path, const char *before, struct err *err)
{
	char upto[PATH_MAX];
	const char *slash = strrchr(path, '/'), *other = before ? strrchr(before, '/') : NULL;
	size_t n = slash ? (size_t)(slash - path) : 0;
	int rc = 0;
	if (!slash || (other && (size_t)(other - before) == n && strncmp(path, before, n) == 0))
		return 0;
	memcpy(upto, path, n);
	upto[n] = '\0';
	while (!rc && *upto) {
		char *cut = strrchr(upto, '/');
		rc = sync_one(dirfd, upto, err);
		*(cut ? cut : upto) = '\0';
	}
	return rc;
}

/* At the end and in one go: the first sync takes the most along, the others find little to do. */
static int sync_all(int dirfd, const struct manifest *m, struct err *err)
{
	int rc = 0;
	for (unsigned i = 0; !rc && i < m->n_files; i++) {
		rc = sync_one(dirfd, m->files[i].path, err);
		if (!rc)
			rc = sync_parents(
				dirfd, m->files[i].path, i ? m->files[i - 1].path : NULL, err);
	}
	return rc ? rc : sync_one(dirfd, ".", err);
}

int extract_all(int in, int dirfd, const struct manifest *m, struct err *err)
{
	struct extract x = {.dirfd = dirfd, .m = m, .a = archive_reader()};
	if (!x.a)
		return err_set(err, E_INTERNAL, "no memory to read an archive");
	int rc = archive_read_open_fd(x.a, in, BLOCK) == ARCHIVE_OK ? take_all(&x, err)
								    : archive_fail(x.a, err);
	archive_read_free(x.a);
	return rc ? rc : sync_all(dirfd, m, err);
}
