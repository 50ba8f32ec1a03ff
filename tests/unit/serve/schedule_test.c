/* schedule - on a virtual clock: spread, periods, retries, windows, restarts. */
#include "controller/serve/schedule.h"
#include "tests/unit/t.h"

#define HOUR 3600
#define DAY  86400
#define T0   INT64_C(1800000000)

static const struct schedule HOURLY = {.every = HOUR, .splay = 600};

static int64_t due(const struct schedule *s, const char *node, int64_t last, unsigned failed,
	int64_t now, int64_t started)
{
	const struct moment m = {.now = now, .started = started};

	return next_due(s, node, (struct last_look){last, failed}, &m);
}

TEST(words_become_a_schedule)
{
	struct schedule s = schedule_make("30m", "22:00-05:30", "10m");

	assert_int_equal(s.every, 1800);
	assert_int_equal(s.splay, 600);
	assert_true(s.window.stated);
	s = schedule_make("", NULL, "x");
	assert_int_equal(s.every, SCHEDULE_EVERY);
	assert_int_equal(s.splay, SCHEDULE_SPLAY);
	assert_false(s.window.stated);
	s = schedule_make("1m", "", "");
	assert_int_equal(s.splay, 60);
}

TEST(never_looked_at_comes_within_the_splay)
{
	int64_t first = INT64_MAX, last = 0;
	char name[16];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "gpu%03d", i);

		const int64_t t = due(&HOURLY, name, 0, 0, T0, T0);

		assert_true(t >= T0 && t <= T0 + 600);
		assert_int_equal(t, due(&HOURLY, name, 0, 0, T0, T0));
		first = t < first ? t : first;
		last = t > last ? t : last;
	}
	assert_true(last - first > 400);
}

/* A month of a node's life: one look per period, at the same minute of each. */
TEST(a_node_keeps_its_place)
{
	int64_t now = due(&HOURLY, "gpu01", T0, 0, T0, T0);
	const int64_t place = now % HOUR;

	assert_true(now >= T0 + HOUR / 2 && now < T0 + HOUR * 3 / 2 + 1);
	for (int i = 0; i < 30 * 24; i++) {
		/* looks take a while, and begin late now and then */
		const int64_t at = now + i % 7 * 60;
		const int64_t next = due(&HOURLY, "gpu01", at, 0, at, T0);

		assert_int_equal(next, now + HOUR);
		assert_int_equal(next % HOUR, place);
		now = next;
	}
}

TEST(nodes_are_spread_over_the_period)
{
	unsigned in[6] = {0};
	char name[16];

	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof name, "n%d", i);
		in[due(&HOURLY, name, T0, 0, T0, T0) % HOUR / 600]++;
	}
	for (int i = 0; i < 6; i++)
		assert_true(in[i] > 60 && in[i] < 140);
}

TEST(a_restart_changes_nothing)
{
	const int64_t before = due(&HOURLY, "gpu01", T0, 0, T0, T0 - DAY);

	assert_int_equal(before, due(&HOURLY, "gpu01", T0, 0, T0 + 60, T0 + 60));
	/* but what was missed meanwhile comes within the splay, not all at once */
	assert_true(due(&HOURLY, "gpu01", T0 - DAY, 0, T0, T0) <= T0 + 600);
	assert_true(due(&HOURLY, "gpu01", T0 - DAY, 0, T0, T0) >= T0);
	assert_int_equal(due(&HOURLY, "gpu01", T0 - DAY, 0, T0 + 700, T0), T0 + 700);
}

/* It was ahead when it looked, for whatever time, and then was set. */
TEST(a_clock_that_was_set_back_costs_no_look)
{
	assert_int_equal(due(&HOURLY, "gpu01", T0 + HOUR, 0, T0, T0 - DAY), T0);
	assert_int_equal(due(&HOURLY, "gpu01", T0 + 400 * DAY, 3, T0, T0), T0);
	/* a second or two are nothing */
	assert_true(due(&HOURLY, "gpu01", T0 + 2, 0, T0, T0 - DAY) > T0 + HOUR / 2);
}

TEST(failures_are_tried_again)
{
	assert_int_equal(due(&HOURLY, "n", T0, 1, T0, T0 - DAY), T0 + 60);
	assert_int_equal(due(&HOURLY, "n", T0, 2, T0, T0 - DAY), T0 + 120);
	assert_int_equal(due(&HOURLY, "n", T0, 5, T0, T0 - DAY), T0 + 960);
	assert_int_equal(due(&HOURLY, "n", T0, 7, T0, T0 - DAY), T0 + HOUR);
	assert_int_equal(due(&HOURLY, "n", T0, 4000000000, T0, T0 - DAY), T0 + HOUR);
}

TEST(the_window_is_kept)
{
	struct schedule s = schedule_make("1h", "22:00-05:30", "10m");
	const int64_t midnight = T0 / DAY * DAY;

	/* every hour inside */
	assert_true(due(&s, "n", midnight, 0, midnight, midnight - DAY) < midnight + 5 * HOUR);
	/* in the day it waits for the evening, and is spread there */
	for (int64_t now = midnight + 8 * HOUR; now < midnight + 22 * HOUR; now += HOUR) {
		const int64_t t = due(&s, "n", midnight + 5 * HOUR, 0, now, midnight - DAY);

		assert_true(t >= midnight + 22 * HOUR && t < midnight + 22 * HOUR + 600);
	}
	/* overdue, and the window is open: now */
	assert_int_equal(
		due(&s, "n", midnight - DAY, 0, midnight + HOUR, midnight - DAY), midnight + HOUR);
}

T_MAIN
