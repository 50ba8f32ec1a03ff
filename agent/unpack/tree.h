/*
 * tree - a whole archive (tar: plain, gzip, zstd) to files, in a confined child, after a policy.
 *
 * The child has three threads: one reads and hashes, one decompresses, one judges the entries and
 * writes them below the target's descriptor. Entries: files, folders, links that stay
 * inside, hard links to files of the archive. What a failure leaves in the target is the caller's
 * to remove. On success the file system is synced once. The caller must have one thread only (it
 * forks).
 */
#pragma once

#include "agent/base/hash.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;

#define TREE_BYTES_MAX   (UINT64_C(1) << 40)
#define TREE_ENTRIES_MAX 4000000u
#define PEEK_TEXT_MAX    (1u << 20)

struct tree_policy {
	unsigned strip; /* so many leading parts of each name are cut; shorter names are left out */
	bool image; /* an operating system's root: owners, set-uid bits, devices, links anywhere */
	uint64_t bytes; /* caps; 0: the largest that is allowed */
	unsigned entries;
};

struct tree_result {
	uint64_t bytes;
	unsigned files, folders, links;
	char sha256[HASH_HEX]; /* of the archive as it was read, compressed */
};

/* The archive is read from a descriptor, from its offset to the end. */
int unpack_tree(
	int from, int dirfd, const struct tree_policy *p, struct tree_result *out, struct err *err);

/*
 * The small JSON files of an archive, for a look into container images: each entry of at most
 * PEEK_TEXT_MAX bytes that begins with '{' or '[', as its name, a NUL, its size as eight decimal
 * digits, a NUL and the bytes. E_LIMIT when they do not fit into out.
 */
int unpack_peek(int from, struct buf *out, struct err *err);
