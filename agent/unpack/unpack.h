/*
 * unpack - a tar (plain, gzip or zstd) to files, in a confined child, only what a manifest names.
 *
 * The child holds three descriptors, no capabilities, no new privileges, limits on file size and
 * CPU time, and where the kernel has Landlock it reaches only the target folder. libarchive gives
 * it names and bytes; it writes by itself. Entries must be the manifest's files in its order;
 * folders that lead to the next one may stand between. Anything else ends it: links, devices,
 * sparse files, set-uid bits, control characters, another size or hash, a missing file.
 *
 * The target must be an empty folder of the caller's: what a failure leaves there is his to remove.
 * On success all of it is synced. The caller must have one thread only (it forks).
 */
#pragma once

#include "agent/base/str.h"

struct err;
struct manifest;
struct unpack; /* one running child */

/* The archive is read from a descriptor, from its offset to the end. */
int unpack_files(int from, int dirfd, const struct manifest *m, struct err *err);

/* The same for bytes that come in pieces: start, add ..., then finish or cancel. */
int unpack_start(int dirfd, const struct manifest *m, struct unpack **out, struct err *err);
/* May wait for the child. Not an error when it has given up already: finish tells why. */
int unpack_add(struct unpack *u, struct str bytes, struct err *err);
int unpack_finish(struct unpack *u, struct err *err); /* frees u, also on failure */
void unpack_cancel(struct unpack *u);                 /* NULL is fine */
