/* telling - the lines of a log that say what went wrong. */
#pragma once

#include "agent/base/buf.h"

/* The last `most` lines that tell of an error, one a line, each cut to 200 bytes; control
 * characters as they are. */
void telling_lines(struct str text, unsigned most, struct buf *out);
