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

TEST(reads_fence_reboot_and_timeouts)
{
	static const char TEXT[] =
		"soak: {node: 5m}\n"
		"fence: {by: slurm, jobs: requeue, deadline: 2h, grace: 30s, prefix: [ssh, head]}\n"
		"reboot: {by: fence, within: 20m, power_cycle: [/etc/cycle, \"--soft\"]}\n"
		"timeouts: {preflight: 1m, stage: 2m, fence: 3m, apply: 4m, services: 5m,\n"
		"  verify: 6m, rollback: 7m}\n";
	struct arena *a = arena_new();
	struct rollout_policy p;
	struct err err;

	assert_int_equal(parse(a, TEXT, &p, &err), 0);
	assert_true(p.soak_node == 300 * CLOCK_SEC && p.soak_wave == 0);
	assert_true(p.fence.by == FENCE_SLURM && p.fence.jobs == FENCE_REQUEUE);
	assert_true(p.fence.deadline == 7200 * CLOCK_SEC && p.fence.grace == 30 * CLOCK_SEC);
	assert_string_equal(p.fence.prefix[1], "head");
	assert_null(p.fence.prefix[2]);
	assert_null(p.fence.command);
	assert_true(p.reboot_by_fence && p.reboot_within == 1200 * CLOCK_SEC);
	assert_string_equal(p.power_cycle[1], "--soft");
	assert_null(p.power_cycle[2]);
	for (int i = 0; i < ROLLOUT_TIMEOUTS; i++)
		assert_true(p.timeouts[i] == (i + 1) * 60 * CLOCK_SEC);
	assert_int_equal(parse(a,
				 "fence: {by: command, command: [/f, x]}\n"
				 "reboot: {by: fence}\n",
				 &p, &err),
		0);
	assert_string_equal(p.fence.command[1], "x");
	assert_int_equal(parse(a, "fence: {by: kubernetes, kubeconfig: /k}\n", &p, &err), 0);
	assert_string_equal(p.fence.kubeconfig, "/k");
	arena_free(a);
}

TEST(a_change_keeps_what_it_does_not_name)
{
	struct arena *a = arena_new();
	struct rollout_policy p;
	struct err err;

	assert_int_equal(parse(a,
				 "rollout: d\nseed: 7\nretry: 3\n"
				 "fence: {by: slurm, deadline: 2h}\n",
				 &p, &err),
		0);
	memset(&err, 0, sizeof err);
	assert_int_equal(
		rollout_policy_change(a, "--jobs", str_of("fence: {jobs: cancel}\n"), &p, &err), 0);
	assert_string_equal(p.name, "d");
	assert_true(p.seed == 7 && p.retry == 3 && p.fence.by == FENCE_SLURM);
	assert_true(p.fence.jobs == FENCE_CANCEL && p.fence.deadline == 7200 * CLOCK_SEC);
	/* what does not go together is found across the two */
	assert_int_equal(
		rollout_policy_change(a, "--by", str_of("fence: {kubeconfig: /k}\n"), &p, &err),
		-E_CONFLICT);
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
	assert_true(p.fence.by == FENCE_NONE && p.fence.deadline == 8 * 3600 * CLOCK_SEC);
	assert_true(!p.reboot_by_fence && !p.power_cycle && p.soak_node == 0);
	for (int i = 0; i < ROLLOUT_TIMEOUTS; i++)
		assert_true(p.timeouts[i] > 0);
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
		{"soak: {nodes: 1h}\n", "node", 1, 8},
		{"fence: slurm\n", "", 1, 8},
		{"fence: {by: slrum}\n", "did you mean 'slurm'", 1, 13},
		{"fence: {by: slurm, job: wait}\n", "jobs", 1, 20},
		{"fence: {by: slurm, jobs: kill}\n", "cannot be 'kill'", 1, 26},
		{"fence: {by: slurm, deadline: 0s}\n", "end before it begins", 1, 30},
		{"fence: {by: slurm, deadline: 90d}\n", "at most 30 days", 1, 30},
		{"fence: {by: slurm, grace: soon}\n", "10m", 1, 27},
		{"fence: {by: command}\n", "needs its 'command'", 1, 8},
		{"fence: {by: slurm, command: [/f]}\n", "this one is by slurm", 1, 20},
		{"fence: {by: command, command: /etc/f}\n", "a program and its words", 1, 31},
		{"fence: {by: command, command: []}\n", "one to 32 words", 1, 31},
		{"fence: {by: command, command: [\"\"]}\n", "no program", 1, 32},
		{"fence: {by: command, command: [[a]]}\n", "", 1, 32},
		{"fence: {by: slurm, kubeconfig: /k}\n", "by: kubernetes", 1, 20},
		{"fence: {by: none, prefix: [ssh, head]}\n", "by: slurm", 1, 19},
		{"fence: {by: command, command: [/f], prefix: [a]}\n", "into command", 1, 37},
		{"reboot: {by: slurm}\n", "cannot be 'slurm'", 1, 14},
		{"reboot: {by: fence}\n", "by none cannot restart", 1, 9},
		{"fence: {by: kubernetes}\nreboot: {by: fence}\n", "by: agent", 2, 9},
		{"reboot: {within: 0m}\n", "end before it begins", 1, 18},
		{"reboot: {power_cycle: ipmitool}\n", "a program and its words", 1, 23},
		{"timeouts: {prefight: 5m}\n", "preflight", 1, 12},
		{"timeouts: {apply: 0s}\n", "leave it out", 1, 19},
		{"timeouts: 5m\n", "", 1, 11},
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
