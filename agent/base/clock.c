/* clock.c - the kernel's clocks, and how people read time. */
#include "agent/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t) != 0)
		abort(); /* both clocks exist on every Linux */
	return (int64_t)t.tv_sec * CLOCK_SEC + t.tv_nsec;
}

int64_t clock_mono(void)
{
	return now(CLOCK_MONOTONIC);
}

int64_t clock_wall(void)
{
	return now(CLOCK_REALTIME);
}

void clock_sleep(int64_t ns)
{
	struct timespec left;

	if (ns <= 0)
		return;
	left = (struct timespec){.tv_sec = ns / CLOCK_SEC, .tv_nsec = ns % CLOCK_SEC};
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

void clock_format(int64_t wall, char out[static 24])
{
	const time_t seconds = wall / CLOCK_SEC - (wall % CLOCK_SEC < 0);
	struct tm tm;

	/* 64-bit nanoseconds end in 2262, so a year never needs more than four digits. */
	if (!gmtime_r(&seconds, &tm) || strftime(out, 24, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		out[0] = '\0';
}

void clock_format_span(int64_t ns, char out[static 24])
{
	const int64_t ms = ns > 0 ? (ns + CLOCK_MS / 2) / CLOCK_MS : 0;
	const int64_t tenths = (ms + 50) / 100, s = (ms + 500) / 1000;

	if (ms < 1000)
		(void)snprintf(out, 24, "%d ms", (int)ms);
	else if (tenths < 600)
		(void)snprintf(out, 24, "%d.%d s", (int)(tenths / 10), (int)(tenths % 10));
	else if (s < 3600)
		(void)snprintf(out, 24, "%d min %d s", (int)(s / 60), (int)(s % 60));
	else if (s < 86400)
		(void)snprintf(out, 24, "%d h %d min", (int)(s / 3600), (int)(s % 3600 / 60));
	else
		(void)snprintf(out, 24, "%d d %d h", (int)(s / 86400), (int)(s % 86400 / 3600));
}

int clock_left_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == 0)
		return -1;
	left = deadline - clock_mono();
	if (left <= 0)
		return 0;
	left = (left + CLOCK_MS - 1) / CLOCK_MS; /* up, or the last millisecond spins */
	return left > INT_MAX ? INT_MAX : (int)left;
}
