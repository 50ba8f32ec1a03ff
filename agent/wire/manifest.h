/*
 * manifest - the signed list of what a bundle holds.
 *
 * Canonical JSON: {"format":1,"name":TEXT,"content":HEX,"serial":N,"created":S,"expires":S,
 * "files":[{"path","size","sha256","mode"}]} sorted by path. A bundle's digest is
 * the SHA-256 of these bytes; content is the digest of the files array alone, so
 * that an unchanged set is not packed and sent again. Paths are relative, made
 * of plain parts. The payload is a tar.zst of just these files, in this order.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/hash.h"

struct buf;
struct err;
struct sign_key;

#define MANIFEST_FILES_MAX 20000
#define MANIFEST_NAME_MAX  16384
#define MANIFEST_BYTES_MAX (UINT64_C(64) << 30)

/* Beside the recipes, in a folder like theirs: the inventory as they see it. */
#define SITE_FOLDER "site.names"
#define SITE_FILE   SITE_FOLDER "/files/site.json"

struct manifest_file {
	const char *path;
	uint64_t size;
	char sha256[HASH_HEX];
	unsigned mode;
};

struct manifest {
	char digest[HASH_HEX]; /* of the text */
	char content[HASH_HEX];
	const char *name; /* of the set: its recipes, sorted, joined by ','; serials count per name
			   */
	int64_t serial, created, expires; /* wall, seconds */
	unsigned n_files;
	struct manifest_file *files;
	uint64_t bytes; /* sum of sizes */
};

/* Sorts files, computes content, formats, and fills digest. */
void manifest_format(struct manifest *m, struct buf *out);
int manifest_parse(struct arena *a, struct str text, struct manifest *out, struct err *err);
/* Signature and expiry against now (wall seconds). E_VERIFY with a hint. */
int manifest_check(struct str text, struct str sig, const struct sign_key *key, int64_t now,
	const struct manifest *m, struct err *err);
const struct manifest_file *manifest_find(const struct manifest *m, const char *path);
