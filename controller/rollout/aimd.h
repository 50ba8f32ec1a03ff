/*
 * aimd - how many nodes to work on at once: adds while all is well, halves when it is not.
 *
 * The window grows by one for each window's worth of answers that came about as
 * fast as the best of late, and is halved (at most once a window) when one
 * fails by the network or takes SLOW times as long as that. There is no cliff:
 * below the cap the number follows what the controller and the wire can do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define AIMD_START 16
#define AIMD_MAX   512

struct aimd {
	double window;
	unsigned max;
	int64_t best;   /* ns; the fastest answer of late */
	unsigned since; /* answers since the window was halved */
};

void aimd_init(struct aimd *a, unsigned max); /* max 0: AIMD_MAX */
/* An answer came after took ns. */
void aimd_answered(struct aimd *a, int64_t took);
/* A link was lost, refused for load or timed out. */
void aimd_failed(struct aimd *a);
unsigned aimd_window(const struct aimd *a);
