/*
 * width - how many handshakes may be under way at once, by what they take and how they fail.
 *
 * Begins low, doubles while that costs no time, then grows by steps; holds where handshakes begin
 * to take longer than the best ones seen, shrinks where they take twice as long or when there is
 * trouble. A step is judged by handshakes begun after it. Now and then half the width is tried for
 * a moment, to learn what a handshake takes now when few are under way. Pure: no clock, no sockets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WIDTH_MIN     4
#define WIDTH_SAMPLES 32

struct width {
	unsigned now, cap;
	unsigned kept; /* while half of it is tried; 0: not now */
	bool starting; /* doubles */
	bool reached;  /* since the last judgement: nothing is learnt from a width that is not used
			*/
	int64_t best;  /* ns: what a handshake takes when few are under way; 0: unknown */
	int64_t since; /* when the width was changed last */
	unsigned judged, n;
	int64_t samples[WIDTH_SAMPLES];
};

void width_init(struct width *w, unsigned cap);
/* One more might have been begun, but for the width. */
void width_reach(struct width *w);
/* A handshake, from when to when it took; monotonic ns. */
void width_success(struct width *w, int64_t began, int64_t now);
/* A connection begun then was reset or timed out; a burst of them counts once. */
void width_trouble(struct width *w, int64_t began, int64_t now);
