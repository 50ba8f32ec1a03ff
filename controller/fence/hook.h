/* hook - for tests and fuzzers: what a site's command prints at the verb look. */
#pragma once

#include "controller/fence/fence_priv.h"

/* A JSON object a line; fills views of names that occur. */
int fence_read_command(struct fence *f, struct str text, int64_t at, struct err *err);
