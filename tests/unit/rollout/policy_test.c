/* policy_test - rollout policies: what they mean, and what is said of bad ones. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "controller/rollout/policy.h"
#include "tests/unit/t.h"

#include <string.h>

static int parse(struct arena *a, const char *text, struct rollout_policy *p, struct err *err)
{
	memset(err, 0, sizeof *err);
	return rollout_policy_parse(a, "p.yaml", str_of(text), p, err);
}

TEST(reads_every_part)
{
	static const char TEXT[] =
		"rollout: driver-595\ncanary: {by: [type, kernel], count: 2}\nwaves: [3, 10%, 100%]\n"
		"soak: {canary: 1h, wave: 90s}\nmax_unavailable: 4\n"
		"budgets: {rack: 1, feed: 25%}\nunit: nvlink\npair: mirror\n"
		"failures: {most: 2, same: 3}\n"
		"window: {days: [sat, sun], from: \"22:00\", to: \"06:00\", utc: \"+03:00\"}\n"
		"order: random\nseed: 7\nretry: 2\non_failure: quarantine\n";
	struct arena *a = arena_new();
	struct rollout_policy p;
	struct err err;

	assert_int_equal(parse(a, TEXT, &p, &err), 0);
	assert_string_equal(p.name, "driver-595");
	assert_int_equal(p.n_class_by, 2);
	assert_string_equal(p.class_by[1], "kernel");
	assert_int_equal(p.canaries, 2);
	assert_int_equal(p.n_waves, 3);
	assert_true(p.waves[1].percent && p.waves[1].n == 10);
	assert_true(p.soak_canary == 3600 * CLOCK_SEC && p.soak_wave == 90 * CLOCK_SEC);
	assert_true(p.max_unavailable.n == 4 && !p.max_unavailable.percent);
	assert_int_equal(p.n_budgets, 2);
	assert_string_equal(p.budgets[1].domain, "feed");
	assert_string_equal(p.unit, "nvlink");
	assert_string_equal(p.pair, "mirror");
	assert_true(p.failures.n == 2 && p.same_failure == 3);
	assert_int_equal(p.window_days, 0x60);
	assert_true(p.window_from == 22 * 60 && p.window_to == 6 * 60 && p.utc_minutes == 180);
	assert_true(p.order == ROLLOUT_RANDOM && p.seed == 7 && p.retry == 2);
	assert_int_equal(p.on_failure, ON_FAILURE_QUARANTINE);
	arena_free(a);
}

TEST(what_is_left_out_is_the_preset)
{
	struct arena *a = arena_new();
	struct rollout_policy p, preset;
	struct err err;

	rollout_policy_preset(&preset);
	assert_int_equal(parse(a, "retry: 0\n", &p, &err), 0);
	assert_int_equal(p.n_waves, preset.n_waves);
	assert_int_equal(p.retry, 0);
	assert_string_equal(p.name, "p.yaml");
	assert_int_equal(p.window_days, 0);
	arena_free(a);
}

TEST(bad_ones_are_told_what_is_wrong_and_where)
{
	static const struct {
		const char *text, *says;
		unsigned line, col;
	} CASES[] = {
		{"wave: [1, 100%]\n", "waves", 1, 1},
		{"waves: []\n", "one to", 1, 8},
		{"waves: [1, 5%]\n", "the last wave must be 100%", 1, 12},
		{"waves: [10%, 5%, 100%]\n", "no further", 1, 14},
		{"waves: [0, 100%]\n", "nobody", 1, 9},
		{"waves: [1x, 100%]\n", "number of nodes", 1, 9},
		{"waves: [1, 101%]\n", "share", 1, 12},
		{"max_unavailable: 0\n", "nobody could ever go", 1, 18},
		{"budgets: {rack: 0}\n", "for ever", 1, 17},
		{"budgets: [rack]\n", "", 1, 10},
		{"canary: {by: []}\n", "one to", 1, 14},
		{"canary: {count: 101}\n", "", 1, 17},
		{"soak: 5\n", "time", 1, 7},
		{"soak: {canary: 99d}\n", "at most 30 days", 1, 16},
		{"order: names\n", "cannot be 'names'", 1, 8},
		{"on_failure: ignore\n", "cannot be", 1, 13},
		{"window: {from: \"22:00\"}\n", "needs 'to'", 1, 9},
		{"window: {from: \"25:00\", to: \"06:00\"}\n", "time of day", 1, 16},
		{"window: {from: \"06:00\", to: \"06:00\"}\n", "at once", 1, 9},
		{"window: {days: [sunday], from: \"01:00\", to: \"06:00\"}\n", "cannot be", 1, 17},
		{"window: {days: [], from: \"01:00\", to: \"06:00\"}\n", "never opens", 1, 16},
		{"window: {from: \"01:00\", to: \"02:00\", utc: 3}\n", "difference", 1, 43},
		{"failures: 3\n", "", 1, 11},
		{"retry: 11\n", "", 1, 8},
		{"- a\n", "", 1, 1},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct arena *a = arena_new();
		struct rollout_policy p;
		struct err err;

		if (parse(a, CASES[i].text, &p, &err) >= 0)
			fail_msg("accepted: %s", CASES[i].text);
		if (!strstr(err.msg, CASES[i].says) && !strstr(err.hint, CASES[i].says))
			fail_msg("%s: says '%s'", CASES[i].text, err.msg);
		if (err.line != CASES[i].line || err.col != CASES[i].col)
			fail_msg("%s: at %u:%u", CASES[i].text, err.line, err.col);
		arena_free(a);
	}
}

TEST(amounts)
{
	assert_int_equal(amount_of((struct amount){10, true}, 100), 10);
	assert_int_equal(amount_of((struct amount){10, true}, 9), 1); /* never nobody */
	assert_int_equal(amount_of((struct amount){0, true}, 9), 0);
	assert_int_equal(amount_of((struct amount){3, false}, 9), 3);
	assert_int_equal(amount_up((struct amount){5, true}, 10), 1);
	assert_int_equal(amount_up((struct amount){100, true}, 10), 10);
	assert_int_equal(amount_up((struct amount){30, false}, 10), 10);
}

/* 2026-11-30 is a Monday; 00:00 UTC is 1796083200... counted from the epoch. */
#define MONDAY (INT64_C(20787) * 86400)
#define HOUR   3600

TEST(windows_open_and_close)
{
	static const struct {
		const char *window;
		int64_t now, opens; /* hours from Monday 00:00 UTC */
	} CASES[] = {
		{"{from: \"02:00\", to: \"04:00\"}", 0, 2},
		{"{from: \"02:00\", to: \"04:00\"}", 3, 3},
		{"{from: \"02:00\", to: \"04:00\"}", 4, 26},
		{"{from: \"22:00\", to: \"06:00\"}", 12, 22},
		{"{from: \"22:00\", to: \"06:00\"}", 23, 23},
		{"{from: \"22:00\", to: \"06:00\"}", 29, 29},
		{"{from: \"22:00\", to: \"06:00\"}", 30, 46},
		/* of Saturday's night the Sunday morning is a part, its evening is not */
		{"{days: [sat], from: \"22:00\", to: \"06:00\"}", 0, 5 * 24 + 22},
		{"{days: [sat], from: \"22:00\", to: \"06:00\"}", 6 * 24 + 5, 6 * 24 + 5},
		{"{days: [sat], from: \"22:00\", to: \"06:00\"}", 6 * 24 + 6, 12 * 24 + 22},
		{"{from: \"02:00\", to: \"04:00\", utc: \"+03:00\"}", 0, 0},
		{"{from: \"02:00\", to: \"04:00\", utc: \"+03:00\"}", 1, 23},
		{"{from: \"02:00\", to: \"04:00\", utc: \"-05:00\"}", 0, 7},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct arena *a = arena_new();
		struct rollout_policy p;
		struct err err;
		char text[200];
		int64_t opens;

		snprintf(text, sizeof text, "window: %s\n", CASES[i].window);
		if (parse(a, text, &p, &err) < 0)
			fail_msg("%s: %s", text, err.msg);
		opens = rollout_window_opens(&p, MONDAY + CASES[i].now * HOUR) - MONDAY;
		if (opens != CASES[i].opens * HOUR)
			fail_msg("%s at %lld: opens at %lld", text, (long long)CASES[i].now,
				(long long)opens / HOUR);
		arena_free(a);
	}
}

T_MAIN
