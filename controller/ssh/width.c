#include "controller/ssh/width.h"

#include "agent/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define START       16
#define STEP_MAX    16
#define SAMPLES_FEW 8
#define SLOWER      (20 * CLOCK_MS) /* less than this is the noise of a quiet network */
#define MUCH_SLOWER (40 * CLOCK_MS)
#define PROBE_EVERY 64 /* judgements */

void width_init(struct width *w, unsigned cap)
{
	*w = (struct width){.cap = cap, .now = cap < START ? cap : START, .starting = true};
}

void width_reach(struct width *w)
{
	w->reached = true;
}

static unsigned fit(const struct width *w, unsigned width)
{
	if (width < WIDTH_MIN)
		width = WIDTH_MIN;
	return width < w->cap ? width : w->cap;
}

static void change(struct width *w, unsigned width, int64_t now)
{
	w->now = fit(w, width);
	w->since = now;
}

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median(struct width *w)
{
	qsort(w->samples, w->n, sizeof *w->samples, compare);
	return w->samples[w->n / 2];
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static unsigned step_of(unsigned width)
{
	return width / 8 < 1 ? 1 : width / 8 < STEP_MAX ? width / 8 : STEP_MAX;
}

static void grow(struct width *w, int64_t now)
{
	if (w->reached && w->now < w->cap)
		change(w, w->starting ? 2 * w->now : w->now + step_of(w->now), now);
}

static void shrink(struct width *w, int64_t now)
{
	w->starting = false;
	change(w, w->now - w->now / 4, now);
}

/* Half of it is tried next. */
static void probe(struct width *w, int64_t now)
{
	w->judged = 0;
	w->kept = w->now;
	change(w, w->now / 2, now);
}

static void judge(struct width *w, int64_t took, int64_t now)
{
	if (w->kept) {
		w->best = took;
		change(w, w->kept, now);
		w->kept = 0;
		return;
	}
	if (w->best == 0 || took < w->best)
		w->best = took;
	if (took > w->best + larger(w->best, MUCH_SLOWER))
		shrink(w, now);
	else if (took <= w->best + larger(w->best / 2, SLOWER))
		grow(w, now);
	else
		w->starting = false;
	if (w->reached && ++w->judged >= PROBE_EVERY)
		probe(w, now);
}

static unsigned samples_wanted(const struct width *w)
{
	if (w->now < SAMPLES_FEW)
		return SAMPLES_FEW;
	return w->now < WIDTH_SAMPLES ? w->now : WIDTH_SAMPLES;
}

void width_success(struct width *w, int64_t began, int64_t now)
{
	int64_t took;

	if (began < w->since)
		return;
	w->samples[w->n++] = now - began;
	if (w->n < samples_wanted(w))
		return;
	took = median(w);
	w->n = 0;
	judge(w, took, now);
	w->reached = false;
}

void width_trouble(struct width *w, int64_t began, int64_t now)
{
	if (began < w->since)
		return;
	w->starting = false;
	w->n = 0;
	if (w->kept)
		w->now = w->kept;
	w->kept = 0;
	change(w, w->now / 2, now);
}
