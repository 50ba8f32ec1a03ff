/* manual - the pages: stoika(1), stoika-step-KIND(7) of the table of kinds, stoika-recipe(7). */
#pragma once

#include "agent/base/buf.h"

struct kind;

/* The n-th page's name, "stoika-step-file"; NULL past the last. Its section in *section. */
const char *manual_name(unsigned n, int *section, char out[static 64]);
/* roff; false when there is no such page. With or without the section behind. */
bool manual_write(const char *name, struct buf *out);
/* What stoika-step-KIND(7) says, for a terminal. */
void manual_kind(const struct kind *k, struct buf *out);
/* One line per kind. */
void manual_kinds(struct buf *out);
