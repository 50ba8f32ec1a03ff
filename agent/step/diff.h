/*
 * diff - two texts as a unified diff, for people.
 *
 * Longest common subsequence over what lies between the common head and tail;
 * where that would cost more than DIFF_CELLS, the middle is shown as replaced.
 */
#pragma once

#include "agent/base/buf.h"

#include <sys/types.h>

#define DIFF_TEXT_MAX (64u << 10) /* larger texts are not shown line by line */
#define DIFF_CELLS    (1u << 20)
#define DIFF_CONTEXT  3u

/* UTF-8 without control characters but tab, return and newline: safe to show on a terminal. */
bool diff_is_text(struct str s);
/*
 * A file that only its owner may read may hold a secret, also one that no recipe names any more:
 * its text is not shown, only how long it is. before NULL: a new file.
 */
bool diff_is_private(mode_t mode);
void diff_private(const size_t *before, size_t after, const char *path, struct buf *out);
/* Appends to out (whose cap decides); nothing when both are equal. before NULL: a new file. */
void diff_unified(
	const struct str *before, const struct str *after, const char *path, struct buf *out);
