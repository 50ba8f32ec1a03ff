/* vec_test - the macros over one growing array. */
#include "agent/base/vec.h"
#include "tests/unit/t.h"

struct pair {
	int a;
	char b[5];
};

static int by_a(const void *x, const void *y)
{
	return ((const struct pair *)x)->a - ((const struct pair *)y)->a;
}

TEST(pushes_are_zeroed_and_kept)
{
	struct vec(struct pair) v = VEC_INIT;
	int next = 0;

	for (int i = 0; i < 1000; i++) {
		struct pair *p = vec_push(&v);

		assert_int_equal(p->a, 0);
		assert_int_equal(p->b[4], 0);
		*p = (struct pair){i, "abcd"};
	}
	assert_int_equal(v.n, 1000);
	vec_each(&v, struct pair, it)
		assert_int_equal(it->a, next++);
	assert_int_equal(next, 1000);
	vec_done(&v);
	assert_int_equal(v.n, 0);
	assert_null(v.at);
}

TEST(a_reused_slot_is_zeroed)
{
	struct vec(int) v = VEC_INIT;

	*vec_push(&v) = 5;
	v.n = 0;
	assert_int_equal(*vec_push(&v), 0);
	vec_done(&v);
}

TEST(empty_is_fine)
{
	struct vec(struct pair) v = VEC_INIT;

	vec_sort(&v, by_a);
	vec_each(&v, struct pair, it)
		fail();
	vec_done(&v);
}

TEST(sorts)
{
	struct vec(struct pair) v = VEC_INIT;

	for (int i = 0; i < 50; i++)
		vec_push(&v)->a = i * 37 % 50;
	vec_sort(&v, by_a);
	for (int i = 0; i < 50; i++)
		assert_int_equal(v.at[i].a, i);
	vec_done(&v);
}

T_MAIN
