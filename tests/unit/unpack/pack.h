/* pack - archives for these tests, honest and hostile, by libarchive's writer. */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/wire/manifest.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#define PACK_MAX (16u << 20)

/* One entry; body NULL with a size: so many zero bytes. */
struct packed {
	const char *name, *body;
	mode_t type; /* 0: a regular file */
	unsigned mode;
	const char *link, *hard;
	uint64_t size; /* of zeros, when there is no body */
};

static inline uint64_t packed_size(const struct packed *p)
{
	return p->body ? strlen(p->body) : p->size;
}

static inline void pack_body(struct archive *a, const struct packed *p)
{
	static const char zeros[65536];
	for (uint64_t left = packed_size(p); left;) {
		size_t n = left < sizeof zeros ? (size_t)left : sizeof zeros;
		assert_true(archive_write_data(a, p->body ? p->body : zeros, n) >= 0);
		left -= n;
	}
}

static inline ssize_t pack_sink(struct archive *a, void *out, const void *p, size_t n)
{
	(void)a;
	buf_add(out, p, n);
	return (ssize_t)n;
}

/* filter: 0 none, 'z' zstd, 'g' gzip. */
static inline void pack_make(const struct packed *list, size_t n, char filter, struct buf *out)
{
	struct archive *a = archive_write_new();
	archive_write_set_format_pax_restricted(a);
	if (filter == 'z')
		archive_write_add_filter_zstd(a);
	if (filter == 'g')
		archive_write_add_filter_gzip(a);
	archive_write_set_bytes_in_last_block(a, 1);
	assert_int_equal(archive_write_open(a, out, NULL, pack_sink, NULL), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++) {
		const struct packed *p = &list[i];
		struct archive_entry *e = archive_entry_new();
		archive_entry_set_pathname(e, p->name);
		archive_entry_set_filetype(e, p->type ? p->type : AE_IFREG);
		archive_entry_set_perm(e, p->mode ? p->mode : 0644);
		if (p->link)
			archive_entry_set_symlink(e, p->link);
		if (p->hard)
			archive_entry_set_hardlink(e, p->hard);
		if (!p->type && !p->hard)
			archive_entry_set_size(e, (la_int64_t)packed_size(p));
		assert_true(archive_write_header(a, e) >= ARCHIVE_WARN);
		if (!p->type && !p->hard)
			pack_body(a, p);
		archive_entry_free(e);
	}
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

static inline void pack_hash(const struct packed *p, char hex[static HASH_HEX])
{
	static const char zeros[65536];
	struct hash *h = hash_new();
	if (p->body)
		hash_update(h, p->body, strlen(p->body));
	for (uint64_t left = p->body ? 0 : p->size; left;) {
		size_t n = left < sizeof zeros ? (size_t)left : sizeof zeros;
		hash_update(h, zeros, n);
		left -= n;
	}
	hash_final(h, hex);
}

/* The manifest of an honest list. */
static inline void pack_manifest(
	struct arena *a, const struct packed *list, size_t n, struct manifest *m)
{
	*m = (struct manifest){.files = arena_alloc(a, (n + 1) * sizeof *m->files)};
	for (size_t i = 0; i < n; i++) {
		struct manifest_file *f = &m->files[m->n_files++];
		f->path = list[i].name;
		f->mode = list[i].mode ? list[i].mode : 0644;
		f->size = packed_size(&list[i]);
		pack_hash(&list[i], f->sha256);
		m->bytes += f->size;
	}
}
