/*
 * decode - an archive's bytes, hashed and decompressed by threads of their own.
 *
 * One thread reads and takes the SHA-256 of what it read; one decompresses (zstd), which takes the
 * longest by far and so does nothing else; the caller takes the outcome block by block. gzip is
 * left to libarchive, since it is rare here.
 */
#pragma once

#include "agent/base/hash.h"

struct err;
struct decode;

struct decode *decode_start(int in, struct err *err);
/* The next bytes, valid until the next call; *n 0 at the end and when it failed. */
const void *decode_next(struct decode *d, size_t *n);
/* Reads on to the end of in (unless given_up), and frees d. */
int decode_finish(struct decode *d, bool given_up, char sha256[static HASH_HEX], struct err *err);
