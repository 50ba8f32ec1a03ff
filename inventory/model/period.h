/*
 * period - how often, and at which time of day: "30m", "6h", "1d"; "22:00-05:30".
 *
 * A period is a whole number and one of s, m, h, d, at least a second and at most
 * 366 days. A window is in the local time of the machine that keeps the clock; one
 * that ends before it begins goes over midnight.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PERIOD_MAX INT64_C(31622400) /* seconds */

bool period_parse(const char *text, int64_t *seconds);
/* "90s", "30m", "6h", "2d": the largest unit that is exact. */
void period_format(int64_t seconds, char out[static 24]);

struct window {
	bool stated;       /* false: any time */
	unsigned from, to; /* minutes of the day; never equal */
};
bool window_parse(const char *text, struct window *out);
/* Seconds until it is open, 0 when it is; now in seconds, offset of local time from UTC. */
int64_t window_wait(const struct window *w, int64_t now, int64_t offset);
