/*
 * bundle - the cached, verified set of recipe files on a node.
 *
 * STATE/bundles/DIGEST/{manifest,manifest.sig,files/...}. Received into a
 * temporary folder, unpacked in a confined child, every file's size and hash
 * compared, fsync'd, then renamed into place; so a folder with a digest's name
 * is complete. Old ones beyond the newest BUNDLE_KEEP are removed. One that is
 * older than another of its name that this node has seen is refused (serial.h).
 */
#pragma once

#include "agent/wire/manifest.h"

#define BUNDLE_KEEP 8

struct bundle; /* an open bundle */

struct bundle_store {
	int dirfd; /* STATE/bundles */
	const struct sign_key *key;
};

/* Digests present, newest first, at most max; arena-owned. */
int bundle_list(const struct bundle_store *s, struct arena *a, const char **out, unsigned max,
	unsigned *n, struct err *err);
/* E_NOTFOUND when absent; E_VERIFY when the manifest on disk does not match its digest. */
int bundle_open(const struct bundle_store *s, struct arena *a, const char *digest,
	struct bundle **out, struct err *err);
/* Whether it may be used now: not expired, not older than what was seen; that is noted. E_VERIFY.
 * begun: for a run that began with it, newer ones may have been seen since. */
int bundle_vet(const struct bundle_store *s, const struct bundle *b, int64_t now, bool begun,
	struct err *err);
void bundle_close(struct bundle *b);
const struct manifest_file *bundle_find(const struct bundle *b, const char *path);
/* A whole file, checked against its hash. */
int bundle_read(const struct bundle *b, const char *path, struct buf *out, struct err *err);
/* A descriptor at offset 0 of a file whose hash was just checked. */
int bundle_open_file(const struct bundle *b, const char *path, struct err *err);

/* A plain folder as a bundle, for tests and local runs: hashes are computed when asked. */
int bundle_open_dir(struct arena *a, const char *dir, struct bundle **out, struct err *err);

/* Reception: begin, add bytes as they come, then finish (verifies all) or cancel. */
struct bundle_in;
int bundle_in_begin(const struct bundle_store *s, struct str manifest, struct str sig,
	uint64_t size, int64_t now, struct bundle_in **out, struct err *err);
int bundle_in_add(struct bundle_in *in, struct str bytes, struct err *err);
int bundle_in_finish(struct bundle_in *in, struct err *err); /* frees in, also on failure */
void bundle_in_cancel(struct bundle_in *in);
