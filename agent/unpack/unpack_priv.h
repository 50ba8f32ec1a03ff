/* unpack_priv - the two halves of the child: its walls (confine.c) and its work (extract.c). */
#pragma once

#include <stdint.h>

struct err;
struct manifest;

/* Leaves only in, dirfd and report open, as 3, 4 and 5, and enters dirfd. */
int confine_descriptors(int in, int dirfd, int report, struct err *err);
/* Takes every privilege that writing below descriptor 4 does not need. */
int confine_process(uint64_t largest, uint64_t total, struct err *err);

/* Reads the archive from in and writes below dirfd. */
int extract_all(int in, int dirfd, const struct manifest *m, struct err *err);
