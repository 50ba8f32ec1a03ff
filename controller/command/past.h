/* past - a site as it was on a day, from the versions that imports kept. */
#pragma once

#include "controller/command/session.h"

/* A site file; its errors but the last are told at once. */
int past_read_file(
	const struct invocation *inv, const char *path, struct model **out, struct err *err);
/* What held at that wall ns; site NULL: the only one. */
int past_load(const struct invocation *inv, struct store *s, const char *site, int64_t at,
	struct model **out, struct err *err);
/* A file, or the site of the database at a moment ("now" is what the database holds). */
int past_load_named(const struct invocation *inv, const char *name, const char *site,
	struct model **out, struct err *err);
