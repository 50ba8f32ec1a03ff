/* check_priv - how the files of the check tell a problem. */
#pragma once

#include "inventory/model/check.h"

/* " (line 12)", or "" for a row that was not read from a file. */
struct where {
	char text[24];
};
struct where check_line(unsigned line);
/* p has all but its message. */
void check_tell(const struct model_check *c, struct model_problem *p, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
