/* need - refusals that all estimators share: a value out of what can be, with what was expected. */
#pragma once

#include "agent/base/err.h"

/* Finite and above 0. */
int need_above(const char *what, double v, struct err *err);
/* Finite and not below 0. */
int need_not_below(const char *what, double v, struct err *err);
/* A whole number in least .. most. */
int need_whole(const char *what, double v, double least, double most, struct err *err);
/* In ]0, 1]. */
int need_share(const char *what, double v, struct err *err);
