#include "controller/rollout/aimd.h"

#define SLOW 4.0 /* times the best: the queue is ours */
#define FORGET                                                                            \
	1.02 /* the best of late slowly becomes worse, so that a changed wire is believed \
	      */
#define WINDOW_1 1.0

void aimd_init(struct aimd *a, unsigned max)
{
	*a = (struct aimd){.window = AIMD_START, .max = max > 0 ? max : AIMD_MAX};
	if (a->window > a->max)
		a->window = a->max;
}

static void halve(struct aimd *a)
{
	/* those who left before the last halving tell nothing new */
	if (a->since < (unsigned)a->window)
		return;
	a->window = a->window / 2 > WINDOW_1 ? a->window / 2 : WINDOW_1;
	a->since = 0;
}

void aimd_answered(struct aimd *a, int64_t took)
{
	if (took < 1)
		took = 1;
	a->since++;
	if (a->best == 0 || took < a->best)
		a->best = took;
	else
		a->best = (int64_t)((double)a->best * FORGET) < took
				  ? (int64_t)((double)a->best * FORGET)
				  : took;
	if ((double)took > SLOW * (double)a->best) {
		halve(a);
		return;
	}
	a->window += 1 / a->window;
	if (a->window > a->max)
		a->window = a->max;
}

void aimd_failed(struct aimd *a)
{
	a->since++;
	halve(a);
}

unsigned aimd_window(const struct aimd *a)
{
	return (unsigned)a->window;
}
