/* rollout_test - stages and limits, one by one, on small clusters. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/rollout.h"
#include "tests/unit/t.h"

#include <string.h>

#define N_MAX 64

/* A cluster written as one word a node: "gpu1:rack=R1,type=h100 gpu2:..." ("!" before: away). */
struct cluster {
	struct arena *arena;
	struct rollout_node nodes[N_MAX];
	size_t n;
	struct rollout_policy policy;
	struct rollout *r;
	struct err err;
	int64_t now;
};

static void read_node(struct cluster *c, struct str word)
{
	struct rollout_node *node = &c->nodes[c->n++];
	struct rollout_domain *domains = arena_alloc(c->arena, 8 * sizeof *domains);
	const size_t colon = str_find(word, ':');
	struct str rest, one;

	node->away = str_starts(word, "!");
	if (node->away)
		word = str_from(word, 1);
	rest = str_from(word, str_find(word, ':') == STR_NONE ? word.n : str_find(word, ':') + 1);
	(void)colon;
	node->name = arena_text(c->arena, str_first(word, str_find(word, ':')));
	while (str_next(&rest, ',', &one)) {
		const size_t equal = str_find(one, '=');

		domains[node->n_domains++] =
			(struct rollout_domain){arena_text(c->arena, str_first(one, equal)),
				arena_text(c->arena, str_from(one, equal + 1))};
	}
	node->domains = domains;
}

static int begin(
	struct cluster *c, const char *policy, const char *nodes, const struct rollout_power *power)
{
	struct str rest = str_of(nodes), word;

	memset(c, 0, sizeof *c);
	c->arena = arena_new();
	if (rollout_policy_parse(c->arena, "p.yaml", str_of(policy), &c->policy, &c->err) < 0)
		fail_msg("%s", c->err.msg);
	while (str_next(&rest, ' ', &word))
		read_node(c, word);
	return rollout_new(&c->policy, c->nodes, c->n, power, &c->r, &c->err);
}

static void end(struct cluster *c)
{
	rollout_free(c->r);
	arena_free(c->arena);
}

/* The names that may go now. */
static const char *admit(struct cluster *c, size_t most)
{
	static char text[512];
	const size_t *who;
	const size_t n = rollout_admit(c->r, c->now, c->now / 1000000000, most, &who);

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
			c->nodes[who[i]].name);
	return text;
}

static size_t find(const struct cluster *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->nodes[i].name, name) == 0)
			return i;
	fail_msg("no node %s", name);
	return 0;
}

static void settle(struct cluster *c, const char *name, enum rollout_place place)
{
	rollout_settle(c->r, find(c, name), place, place == NODE_FAILED ? name : NULL, c->now);
}

static const char *held(struct cluster *c, const char *name, enum rollout_limit limit)
{
	static char text[300];
	struct buf words;

	buf_init(&words, sizeof text);
	assert_int_equal(rollout_held(c->r, find(c, name), &words), limit);
	snprintf(text, sizeof text, "%s", buf_text(&words));
	buf_done(&words);
	return text;
}

#define LOOSE "max_unavailable: 100%\nbudgets: {}\nfailures: {most: 100%, same: 0}\n"

TEST(a_canary_of_each_class_goes_first)
{
	struct cluster c;

	assert_int_equal(begin(&c, LOOSE "canary: {by: [type]}\nwaves: [100%]\n",
				 "a1:type=x a2:type=x b1:type=y b2:type=y a10:type=x", NULL),
		0);
	assert_string_equal(admit(&c, 0), "a1 b1");
	assert_string_equal(held(&c, "a2", LIMIT_STAGE), "the canaries have not ended");
	settle(&c, "a1", NODE_DONE);
	assert_string_equal(admit(&c, 0), "");
	settle(&c, "b1", NODE_DONE);
	assert_string_equal(admit(&c, 0), "a2 a10 b2");
	end(&c);
}

TEST(waves_are_cumulative)
{
	struct cluster c;

	assert_int_equal(begin(&c, LOOSE "canary: {count: 0}\nwaves: [1, 50%, 100%]\n",
				 "n1 n2 n3 n4 n5 n6", NULL),
		0);
	assert_string_equal(admit(&c, 0), "n1");
	settle(&c, "n1", NODE_DONE);
	assert_string_equal(admit(&c, 0), "n2 n3");
	settle(&c, "n2", NODE_DONE);
	settle(&c, "n3", NODE_UNDONE);
	assert_string_equal(admit(&c, 0), "n4 n5 n6");
	end(&c);
}

TEST(soak_is_told_across_a_wave_of_nobody)
{
	struct cluster c;

	assert_int_equal(
		begin(&c, LOOSE "canary: {count: 1}\nwaves: [1, 100%]\nsoak: 10s\n", "n1 n2", NULL),
		0);
	assert_string_equal(admit(&c, 0), "n1");
	assert_string_equal(held(&c, "n2", LIMIT_STAGE), "the canaries have not ended");
	c.now = INT64_C(5000000000);
	settle(&c, "n1", NODE_DONE);
	assert_string_equal(admit(&c, 0), "");
	assert_string_equal(held(&c, "n2", LIMIT_SOAK), "the canaries are watched");
	end(&c);
}

TEST(soak_is_waited_for)
{
	struct cluster c;

	assert_int_equal(
		begin(&c, LOOSE "canary: {count: 0}\nwaves: [1, 100%]\nsoak: 10s\n", "n1 n2", NULL),
		0);
	assert_string_equal(admit(&c, 0), "n1");
	c.now = INT64_C(5000000000);
	settle(&c, "n1", NODE_DONE);
	assert_string_equal(admit(&c, 0), "");
	assert_string_equal(held(&c, "n2", LIMIT_SOAK), "wave 1 is watched");
	assert_true(rollout_next(c.r) == INT64_C(15000000000));
	c.now = INT64_C(15000000000);
	assert_string_equal(admit(&c, 0), "n2");
	assert_true(rollout_next(c.r) == INT64_MAX);
	end(&c);
}

TEST(max_unavailable_counts_everybody)
{
	struct cluster c;

	assert_int_equal(
		begin(&c,
			"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 2\nbudgets: {}\n"
			"failures: {most: 4, same: 0}\n",
			"!n1 n2 n3 n4", NULL),
		0);
	assert_string_equal(admit(&c, 0), "n2"); /* the one that is away counts */
	assert_string_equal(
		held(&c, "n3", LIMIT_UNAVAILABLE), "max_unavailable: 2 away, 2 allowed");
	assert_string_equal(held(&c, "n1", LIMIT_AWAY), "drained or down by others");
	settle(&c, "n2", NODE_FAILED); /* and so does one that failed */
	assert_string_equal(admit(&c, 0), "");
	rollout_take(c.r, find(&c, "n1"), false);
	assert_string_equal(admit(&c, 0), "n1");
	end(&c);
}

TEST(who_is_lost_after_it_was_back_counts)
{
	struct cluster c;

	assert_int_equal(
		begin(&c,
			"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 1\nbudgets: {}\n"
			"failures: {most: 9, same: 0}\n",
			"n1 n2 n3", NULL),
		0);
	assert_string_equal(admit(&c, 0), "n1");
	settle(&c, "n1", NODE_DONE);
	rollout_take(c.r, find(&c, "n1"), true);
	assert_int_equal(rollout_taken(c.r), 1);
	assert_string_equal(admit(&c, 0), "");
	assert_true(rollout_is_stuck(c.r));
	rollout_take(c.r, find(&c, "n1"), true); /* said twice, counted once */
	rollout_take(c.r, find(&c, "n1"), false);
	assert_int_equal(rollout_taken(c.r), 0);
	assert_string_equal(admit(&c, 0), "n2");
	rollout_take(c.r, find(&c, "n2"), true); /* its fence is ours */
	assert_int_equal(rollout_taken(c.r), 0);
	end(&c);
}

TEST(who_is_watched_makes_room_and_takes_it_again)
{
	struct buf words;
	struct cluster c;

	assert_int_equal(
		begin(&c,
			"canary: {count: 0}\nwaves: [2, 100%]\nmax_unavailable: 1\nbudgets: {}\n"
			"failures: {most: 9, same: 0}\n",
			"n1 n2 n3", NULL),
		0);
	buf_init(&words, 300);
	assert_string_equal(admit(&c, 0), "n1");
	rollout_return(c.r, find(&c, "n1"));
	assert_string_equal(admit(&c, 0), "n2");
	assert_false(rollout_recall(c.r, find(&c, "n1"), &words));
	assert_string_equal(buf_text(&words), "max_unavailable: 1 away, 1 allowed");
	settle(&c, "n2", NODE_DONE);
	assert_string_equal(admit(&c, 0), ""); /* the wave is not at rest */
	assert_true(rollout_recall(c.r, find(&c, "n1"), &words));
	assert_int_equal(rollout_place_of(c.r, find(&c, "n1")), NODE_OUT);
	settle(&c, "n1", NODE_UNDONE);
	assert_string_equal(admit(&c, 0), "n3");
	buf_done(&words);
	end(&c);
}

TEST(goes_on_where_it_stood)
{
	struct cluster c;

	assert_int_equal(begin(&c,
				 "canary: {count: 0}\nwaves: [1, 2, 100%]\nmax_unavailable: 2\n"
				 "budgets: {}\nfailures: {most: 1, same: 0}\nsoak: 10s\n",
				 "n1 n2 n3 n4", NULL),
		0);
	rollout_restore(c.r, find(&c, "n1"), NODE_DONE, NULL, false, 1000);
	rollout_restore(c.r, find(&c, "n2"), NODE_OUT, NULL, false, 2000);
	assert_int_equal(rollout_stage(c.r), 2);
	assert_string_equal(admit(&c, 0), "");
	settle(&c, "n2", NODE_FAILED); /* the first one that counts */
	c.now = INT64_C(10000000000);
	assert_string_equal(admit(&c, 0), "n3");
	rollout_restore(c.r, find(&c, "n4"), NODE_FAILED, "x", true, 0);
	assert_string_equal(rollout_broken(c.r), "2 nodes have failed, the policy allows 1");
	end(&c);
}

TEST(budgets_hold_by_domain)
{
	struct cluster c;

	assert_int_equal(
		begin(&c,
			"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 100%\n"
			"budgets: {rack: 1, feed: 50%}\nfailures: {most: 9, same: 0}\n",
			"n1:rack=R1,feed=A,feed=B n2:rack=R1,feed=A,feed=B n3:rack=R2,feed=A,feed=C "
			"n4:rack=R3,feed=A n5:rack=R4",
			NULL),
		0);
	/* feed A has four nodes, so two at once */
	assert_string_equal(admit(&c, 0), "n1 n3 n5");
	assert_string_equal(held(&c, "n2", LIMIT_BUDGET), "rack R1: 1 away, 1 allowed");
	assert_string_equal(held(&c, "n4", LIMIT_BUDGET), "feed A: 2 away, 2 allowed");
	settle(&c, "n3", NODE_DONE);
	assert_string_equal(admit(&c, 0), "n4");
	end(&c);
}

TEST(a_pair_is_never_out_together)
{
	struct cluster c;

	assert_int_equal(begin(&c, LOOSE "canary: {count: 0}\nwaves: [100%]\npair: mirror\n",
				 "s1:mirror=m s2:mirror=m s3", NULL),
		0);
	assert_string_equal(admit(&c, 0), "s1 s3");
	assert_string_equal(held(&c, "s2", LIMIT_PAIR), "mirror m: 1 away, 1 allowed");
	settle(&c, "s1", NODE_FAILED);
	assert_string_equal(admit(&c, 0), ""); /* its twin carries the load alone now */
	end(&c);
}

TEST(a_unit_goes_as_one)
{
	struct cluster c;

	assert_int_equal(
		begin(&c,
			"canary: {count: 0}\nwaves: [1, 100%]\nmax_unavailable: 3\nbudgets: {}\n"
			"unit: nvl\nfailures: {most: 9, same: 0}\n",
			"n1:nvl=d1 n2:nvl=d2 n3:nvl=d1 n4:nvl=d2 n5", NULL),
		0);
	/* the unit is larger than the wave, and goes whole all the same */
	assert_string_equal(admit(&c, 0), "n1 n3");
	settle(&c, "n1", NODE_DONE);
	assert_string_equal(admit(&c, 0), "");
	settle(&c, "n3", NODE_DONE);
	assert_string_equal(admit(&c, 0), "n2 n4 n5");
	end(&c);
}

TEST(a_unit_with_somebody_away_waits)
{
	struct cluster c;

	assert_int_equal(begin(&c, LOOSE "canary: {count: 0}\nwaves: [1, 100%]\nunit: nvl\n",
				 "n1:nvl=d1 !n2:nvl=d1 n3", NULL),
		0);
	assert_string_equal(admit(&c, 0), "");
	assert_string_equal(
		held(&c, "n1", LIMIT_AWAY), "one of its unit is drained or down by others");
	rollout_take(c.r, find(&c, "n2"), false);
	assert_string_equal(admit(&c, 0), "n1 n2");
	end(&c);
}

TEST(who_is_away_does_not_hold_up_a_stage)
{
	struct cluster c;

	assert_int_equal(
		begin(&c, LOOSE "canary: {count: 0}\nwaves: [2, 100%]\n", "!n1 n2 n3", NULL), 0);
	assert_string_equal(admit(&c, 0), "n2");
	settle(&c, "n2", NODE_DONE);
	assert_string_equal(admit(&c, 0), "n3");
	assert_false(rollout_is_finished(c.r));
	settle(&c, "n3", NODE_DONE);
	assert_true(rollout_is_finished(c.r)); /* n1 stays with whoever has it */
	assert_int_equal(rollout_count(c.r, NODE_AWAY), 1);
	end(&c);
}

TEST(failures_open_the_breaker)
{
	struct cluster c;

	assert_int_equal(
		begin(&c,
			"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 4\nbudgets: {}\n"
			"failures: {most: 1, same: 0}\n",
			"n1 n2 n3 n4 n5 n6", NULL),
		0);
	assert_string_equal(admit(&c, 2), "n1 n2");
	assert_string_equal(held(&c, "n3", LIMIT_CONCURRENCY), "2 at work, 2 at once");
	settle(&c, "n1", NODE_FAILED);
	assert_string_equal(admit(&c, 2), "n3");
	settle(&c, "n2", NODE_UNDONE); /* was rolled back: a failure as well */
	assert_string_equal(admit(&c, 2), "");
	assert_string_equal(rollout_broken(c.r), "2 nodes have failed, the policy allows 1");
	assert_string_equal(
		held(&c, "n4", LIMIT_BREAKER), "paused: 2 nodes have failed, the policy allows 1");
	rollout_reset_breaker(c.r);
	assert_string_equal(admit(&c, 2), "n4");
	end(&c);
}

TEST(the_same_failure_twice_opens_it_too)
{
	struct cluster c;

	assert_int_equal(
		begin(&c,
			"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 4\nbudgets: {}\n"
			"failures: {most: 50%, same: 2}\n",
			"n1 n2 n3 n4", NULL),
		0);
	assert_string_equal(admit(&c, 2), "n1 n2");
	rollout_settle(c.r, 0, NODE_FAILED, "make: error 2", 0);
	rollout_settle(c.r, 1, NODE_FAILED, "make: error 2", 0);
	assert_string_equal(admit(&c, 2), "");
	assert_string_equal(rollout_broken(c.r), "2 nodes failed in the same way: make: error 2");
	end(&c);
}

TEST(outside_its_window_nobody_goes)
{
	struct cluster c;

	assert_int_equal(begin(&c, "window: {from: \"02:00\", to: \"04:00\"}\n", "n1", NULL), 0);
	assert_string_equal(admit(&c, 0), ""); /* the epoch is midnight */
	assert_string_equal(held(&c, "n1", LIMIT_WINDOW), "the window is closed");
	c.now = INT64_C(3) * 3600 * 1000000000;
	assert_string_equal(admit(&c, 0), "n1");
	end(&c);
}

TEST(order_by_rack_spreads)
{
	struct cluster c;

	assert_int_equal(begin(&c, LOOSE "canary: {count: 0}\nwaves: [100%]\norder: rack\n",
				 "n1:rack=R1 n2:rack=R1 n3:rack=R2 n4:rack=R2 n5:rack=R10", NULL),
		0);
	assert_string_equal(admit(&c, 0), "n1 n3 n5 n2 n4");
	end(&c);
}

/* Two of "hot" at once is too much. */
static bool two_at_most(void *ctx, const size_t *out, size_t n_out, const size_t *unit,
	size_t n_unit, char why_not[static 200])
{
	(void)ctx;
	(void)out;
	(void)unit;
	snprintf(why_not, 200, "feed A: %zu kW more than it carries", n_out + n_unit);
	return n_out + n_unit <= 2;
}

TEST(power_is_a_limit)
{
	const struct rollout_power power = {NULL, two_at_most};
	struct cluster c;

	assert_int_equal(
		begin(&c, LOOSE "canary: {count: 0}\nwaves: [100%]\n", "n1 n2 n3 n4", &power), 0);
	assert_string_equal(admit(&c, 0), "n1 n2");
	assert_string_equal(held(&c, "n3", LIMIT_POWER), "feed A: 3 kW more than it carries");
	settle(&c, "n1", NODE_DONE);
	assert_string_equal(admit(&c, 0), "n3");
	end(&c);
}

TEST(what_can_never_be_kept_is_refused)
{
	static const struct {
		const char *policy, *nodes, *says;
	} CASES[] = {
		{"max_unavailable: 1\nunit: nvl\n", "n1:nvl=a n2:nvl=a",
			"max_unavailable allows 1"},
		{"max_unavailable: 2\nunit: nvl\nbudgets: {rack: 1}\n",
			"n1:nvl=a,rack=R n2:nvl=a,rack=R", "budget is 1"},
		{LOOSE "unit: nvl\npair: p\n", "n1:nvl=a,p=x n2:nvl=a,p=x",
			"both nodes of the pair"},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct cluster c;

		assert_int_equal(begin(&c, CASES[i].policy, CASES[i].nodes, NULL), -E_CONFLICT);
		if (!strstr(c.err.msg, CASES[i].says) || !c.err.hint[0])
			fail_msg("says: %s", c.err.msg);
		end(&c);
	}
}

TEST(nobody_at_all)
{
	struct cluster c;

	assert_int_equal(begin(&c, "retry: 1\n", "", NULL), 0);
	assert_string_equal(admit(&c, 0), "");
	assert_true(rollout_is_finished(c.r));
	end(&c);
}

T_MAIN
