/*
 * when - a moment as people write it: 'now', 'yesterday', 2026-11-01, 2026-11-01T10:00.
 *
 * A day alone is its end, so that what was imported on that day counts. Times are
 * local unless they end in Z or in an offset such as +03:00.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Whether the text can only be meant as a moment: a known word, or digits and dashes of a date. */
bool when_looks_so(const char *text);
/* Wall ns; now: what 'now' is. E_SYNTAX. */
int when_parse(const char *text, int64_t now, int64_t *out, struct err *err);
