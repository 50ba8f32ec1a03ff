/*
 * merge - one line in a text that others own too.
 *
 * The first line that is ours becomes the wanted one, further ones of ours go;
 * without any, the wanted line is added at the end. All other bytes stay.
 */
#pragma once

#include "agent/base/buf.h"

/* line.p NULL: ours are removed and nothing is added. */
void merge_line(struct str text, bool (*ours)(const void *ctx, struct str line), const void *ctx,
	struct str line, struct buf *out);
