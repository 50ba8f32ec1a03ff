/* aimd_test - the window finds the load a server can bear, and there is no cliff. */
#include "controller/rollout/aimd.h"
#include "tests/unit/t.h"

#define MS INT64_C(1000000)

TEST(grows_while_all_is_well)
{
	struct aimd a;

	aimd_init(&a, 100);
	assert_int_equal(aimd_window(&a), AIMD_START);
	for (int i = 0; i < 20000; i++)
		aimd_answered(&a, 10 * MS);
	assert_int_equal(aimd_window(&a), 100);
}

TEST(never_begins_above_its_cap)
{
	struct aimd a;

	aimd_init(&a, 3);
	assert_int_equal(aimd_window(&a), 3);
	aimd_init(&a, 0);
	assert_int_equal(a.max, AIMD_MAX);
}

TEST(halves_once_for_one_bad_window)
{
	struct aimd a;

	aimd_init(&a, 100);
	for (int i = 0; i < 20000; i++)
		aimd_answered(&a, 10 * MS);
	for (int i = 0; i < 40; i++)
		aimd_failed(&a); /* all of the same window */
	assert_int_equal(aimd_window(&a), 50);
	for (int i = 0; i < 20; i++)
		aimd_failed(&a);
	assert_int_equal(aimd_window(&a), 25);
}

TEST(never_falls_under_one)
{
	struct aimd a;

	aimd_init(&a, 100);
	for (int i = 0; i < 1000; i++)
		aimd_failed(&a);
	assert_int_equal(aimd_window(&a), 1);
	for (int i = 0; i < 10; i++)
		aimd_answered(&a, MS);
	assert_true(aimd_window(&a) > 1);
}

/* A server that serves CAPACITY at once in 10 ms, and queues what is beyond. */
static double throughput(struct aimd *a, double capacity)
{
	double done = 0, spent = 0;

	for (int i = 0; i < 2000; i++) {
		const double load = aimd_window(a);
		const double took = load <= capacity ? 10 : 10 * load / capacity;

		for (unsigned k = 0; k < (unsigned)load; k++)
			aimd_answered(a, (int64_t)(took * (double)MS));
		if (i >= 1000) {
			done += load;
			spent += took;
		}
	}
	return done / spent;
}

TEST(has_no_cliff)
{
	for (double capacity = 4; capacity <= 400; capacity *= 2) {
		struct aimd a;

		aimd_init(&a, 0);
		/* at least nine tenths of what is possible, at any size of the server */
		if (throughput(&a, capacity) < 0.9 * capacity / 10)
			fail_msg("capacity %g: window %u", capacity, aimd_window(&a));
	}
}

T_MAIN
