#include "controller/fleet/pack_file.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "controller/fleet/pack.h"
#include "controller/fleet/pack_priv.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMBERS      3
#define MANIFEST_MAX ((size_t)8 << 20)
#define READ_SIZE    (64u << 10)

static const struct {
	const char *name;
	size_t max;
} MEMBER[MEMBERS] = {
	{"manifest", MANIFEST_MAX},
	{"manifest.sig", SIGN_TEXT_MAX},
	{"payload.tar.zst", PACK_BYTES_MAX},
};

/* --- writing --- */

static int fail_archive(struct archive *a, const char *path, struct err *err)
{
	const char *why = archive_error_string(a);

	return err_set(err, archive_errno(a) == ENOSPC ? E_NOSPACE : E_IO, "cannot write '%s': %s",
		path, why ? why : "unknown");
}

static int write_member(struct archive *a, const char *name, struct str bytes)
{
	struct archive_entry *e = archive_entry_new();
	int rc;

	archive_entry_set_pathname(e, name);
	archive_entry_set_size(e, (int64_t)bytes.n);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_mtime(e, 0, 0);
	rc = archive_write_header(a, e);
	archive_entry_free(e);
	return rc == ARCHIVE_OK && archive_write_data(a, bytes.p, bytes.n) == (ssize_t)bytes.n
		       ? ARCHIVE_OK
		       : ARCHIVE_FATAL;
}

static int write_all(int fd, const struct pack *p, const char *path, struct err *err)
{
	const struct str parts[MEMBERS] = {p->manifest, p->sig, p->payload};
	struct archive *a = archive_write_new();
	int rc;

	if (!a)
		return err_set(err, E_INTERNAL, "libarchive is out of memory");
	rc = archive_write_set_format_ustar(a);
	if (rc == ARCHIVE_OK)
		rc = archive_write_open_fd(a, fd);
	for (int i = 0; rc == ARCHIVE_OK && i < MEMBERS; i++)
		rc = write_member(a, MEMBER[i].name, parts[i]);
	if (rc == ARCHIVE_OK)
		rc = archive_write_close(a);
	rc = rc == ARCHIVE_OK ? 0 : fail_archive(a, path, err);
	archive_write_free(a);
	if (rc == 0 && fsync(fd) != 0)
		rc = err_sys(err, errno, "cannot write '%s'", path);
	return rc;
}

int pack_file_write(const struct pack *p, const char *path, struct err *err)
{
	AUTO_STR making = xasprintf("%s.%d.tmp", path, (int)getpid());
	AUTO_FD fd = open(making, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int rc;

	if (fd < 0)
		return err_sys(err, errno, "cannot create '%s'", making);
	rc = write_all(fd, p, path, err);
	if (rc == 0 && rename(making, path) != 0)
		rc = err_sys(err, errno, "cannot put '%s' in place", path);
	if (rc < 0)
		(void)unlink(making);
	return rc;
}

/* --- reading --- */

static int no_bundle(const char *path, const char *why, struct err *err)
{
	err_set(err, E_VERIFY, "'%s' is no bundle, or was cut short: %s", path, why);
	return err_hint(err, "'stoika bundle make' makes one; compare its size with the original");
}

/* The whole of one member, which must be the one that is due. */
static int read_member(
	struct archive *a, int at, const char *path, struct buf *out, struct err *err)
{
	struct archive_entry *e;
	const char *name;
	int64_t size;
	char *to;

	if (archive_read_next_header(a, &e) != ARCHIVE_OK)
		return no_bundle(path, MEMBER[at].name, err);
	name = archive_entry_pathname(e);
	size = archive_entry_size(e);
	if (!name || strcmp(name, MEMBER[at].name) != 0 || archive_entry_filetype(e) != AE_IFREG)
		return no_bundle(path, MEMBER[at].name, err);
	if (size <= 0 || (uint64_t)size > MEMBER[at].max)
		return no_bundle(path, "a member's size is out of reason", err);
	buf_init(out, (size_t)size + 1);
	to = buf_room(out, (size_t)size);
	if (!to || archive_read_data(a, to, (size_t)size) != (ssize_t)size)
		return no_bundle(path, MEMBER[at].name, err);
	buf_grew(out, (size_t)size);
	return 0;
}

static int read_members(struct archive *a, const char *path, struct buf *parts, struct err *err)
{
	struct archive_entry *e;
	int rc = 0;

	for (int i = 0; rc == 0 && i < MEMBERS; i++)
		rc = read_member(a, i, path, &parts[i], err);
	if (rc == 0 && archive_read_next_header(a, &e) != ARCHIVE_EOF)
		rc = no_bundle(path, "something stands behind it", err);
	return rc;
}

/* One that cannot be read was not written by 'bundle make', or was changed since: refused, not
 * misused. */
static int read_manifest(
	struct arena *arena, const char *path, struct pack_file *out, struct err *err)
{
	struct err why = {0};

	if (manifest_parse(arena, out->manifest, &out->m, &why) == 0)
		return 0;
	if (why.code == E_UNSUPPORTED) {
		if (err)
			*err = why;
		return err_wrap(err, "'%s'", path);
	}
	err_set(err, E_VERIFY, "'%s' is damaged or was changed: %s", path, why.msg);
	return err_hint(err, "copy it anew from where it was made");
}

int pack_file_read(struct arena *arena, const char *path, struct pack_file *out, struct err *err)
{
	struct buf *parts = xcalloc(MEMBERS, sizeof *parts);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* no waiting for a FIFO */
	struct archive *a = archive_read_new();
	struct stat st;
	int rc;

	*out = (struct pack_file){.held = parts};
	if (fd < 0)
		rc = err_sys(err, errno, "cannot open '%s'", path);
	else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		rc = no_bundle(path, "it is no plain file", err);
	else if (archive_read_support_format_tar(a) != ARCHIVE_OK ||
		 archive_read_open_fd(a, fd, READ_SIZE) != ARCHIVE_OK)
		rc = no_bundle(path, "it is no tar", err);
	else
		rc = read_members(a, path, parts, err);
	archive_read_free(a);
	out->manifest = buf_str(&parts[0]);
	out->sig = str_trim(buf_str(&parts[1]));
	out->payload = buf_str(&parts[2]);
	if (rc == 0)
		rc = read_manifest(arena, path, out, err);
	if (rc < 0)
		pack_file_done(out);
	return rc;
}

void pack_file_done(struct pack_file *b)
{
	struct buf *parts = b ? b->held : NULL;

	for (int i = 0; parts && i < MEMBERS; i++)
		buf_done(&parts[i]);
	free(parts);
	if (b)
		b->held = NULL;
}

/* --- the files in it --- */

/* Each file of the payload in the manifest's order. */
struct walk {
	const struct pack_file *b;
	struct archive *archive;
	int dir; /* where they go, -1: they are only looked at */
	unsigned n_good;
};

static int copy_out(const struct walk *w, const struct manifest_file *f, struct err *err)
{
	const char *slash = strrchr(f->path, '/');
	AUTO_STR folder = slash ? xstrndup(f->path, (size_t)(slash - f->path)) : NULL;
	int rc = w->dir >= 0 && folder ? fs_mkdirs(w->dir, folder, 0755, err) : 0;

	if (rc < 0 || w->dir < 0)
		return rc < 0 ? rc : -1;
	return fs_open(w->dir, f->path, O_WRONLY | O_CREAT | O_EXCL, f->mode, false, err);
}

static int take_file(struct walk *w, const struct manifest_file *f, struct err *err)
{
	AUTO_FD fd = -1;
	struct hash *hash;
	char hex[HASH_HEX], *chunk;
	uint64_t got = 0;
	ssize_t n;
	int rc = 0;

	if (w->dir >= 0 && (fd = copy_out(w, f, err)) < 0)
		return fd;
	hash = hash_new();
	chunk = xmalloc(READ_SIZE);
	while (rc == 0 && (n = archive_read_data(w->archive, chunk, READ_SIZE)) > 0) {
		got += (uint64_t)n;
		if (got > f->size)
			break;
		hash_update(hash, chunk, (size_t)n);
		if (fd >= 0)
			rc = fs_write_all(fd, (struct str){chunk, (size_t)n}, err);
	}
	hash_final(hash, hex);
	free(chunk);
	if (rc == 0 && (got != f->size || strcmp(hex, f->sha256) != 0))
		return err_set(err, E_VERIFY, "'%s' is not as the manifest says", f->path);
	if (rc == 0)
		w->n_good++;
	return rc;
}

static int take_entries(struct walk *w, struct err *err)
{
	const struct manifest *m = &w->b->m;
	struct archive_entry *e;
	unsigned at = 0;
	int rc;

	while ((rc = archive_read_next_header(w->archive, &e)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(e);

		/* no folder either: millions of them would take hours and few bytes */
		if (!name || at >= m->n_files || strcmp(name, m->files[at].path) != 0 ||
			archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e))
			return err_set(err, E_VERIFY,
				"the payload holds '%s', which is not due there", name ? name : "");
		rc = take_file(w, &m->files[at++], err);
		if (rc < 0)
			return rc;
	}
	if (rc != ARCHIVE_EOF)
		return err_set(err, E_VERIFY, "the payload is damaged");
	return at == m->n_files
		       ? 0
		       : err_set(err, E_VERIFY, "the payload lacks '%s'", m->files[at].path);
}

static int walk_payload(struct walk *w, struct err *err)
{
	const struct str bytes = w->b->payload;
	int rc;

	w->archive = archive_read_new();
	if (archive_read_support_format_tar(w->archive) != ARCHIVE_OK ||
		archive_read_support_filter_zstd(w->archive) != ARCHIVE_OK ||
		archive_read_open_memory(w->archive, bytes.p, bytes.n) != ARCHIVE_OK)
		rc = err_set(err, E_VERIFY, "the payload is no tar.zst");
	else
		rc = take_entries(w, err);
	archive_read_free(w->archive);
	return rc;
}

int pack_file_unpack(const struct pack_file *b, int dir, struct err *err)
{
	struct walk w = {.b = b, .dir = dir};

	return walk_payload(&w, err);
}

/* --- the verdict --- */

const char *bundle_check_name(enum bundle_check c)
{
	static const char *const names[] = {"signature", "expiry", "serial", "files"};

	return names[c];
}

static void judge(struct bundle_verdict *v, enum bundle_check c, bool ok, const char *why)
{
	v->check[c].ok = ok;
	snprintf(v->check[c].why, sizeof v->check[c].why, "%s", why);
	v->ok = v->ok && ok;
}

void pack_file_verify(const struct pack_file *b, const struct sign_key *key, int64_t now,
	int64_t seen, struct bundle_verdict *out)
{
	struct walk w = {.b = b, .dir = -1};
	struct err err = {0};
	char when[24], why[200];
	bool fine;

	*out = (struct bundle_verdict){.ok = true};
	fine = sign_check(key, b->manifest, b->sig, NULL) == 0;
	snprintf(why, sizeof why, "%s key %s", fine ? "by" : "not by", sign_key_id(key));
	judge(out, BUNDLE_SIGNATURE, fine, why);

	clock_format(b->m.expires * CLOCK_SEC, when);
	fine = now < b->m.expires;
	snprintf(why, sizeof why, "%s %s", fine ? "good until" : "expired at", when);
	judge(out, BUNDLE_EXPIRY, fine, why);

	fine = b->m.serial >= seen;
	if (fine)
		snprintf(why, sizeof why, "%lld", (long long)b->m.serial);
	else
		snprintf(why, sizeof why, "%lld is older than %lld, which was seen",
			(long long)b->m.serial, (long long)seen);
	judge(out, BUNDLE_SERIAL, fine, why);

	fine = walk_payload(&w, &err) == 0;
	out->n_good = w.n_good;
	out->n_bad = b->m.n_files - w.n_good;
	if (fine)
		snprintf(why, sizeof why, "all %u as the manifest says", w.n_good);
	else
		snprintf(why, sizeof why, "%.190s", err.msg);
	judge(out, BUNDLE_FILES, fine, why);
}
