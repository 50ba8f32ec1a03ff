/* results: names both ways, sums, counts both ways. */
#include "agent/wire/record.h"
#include "tests/unit/t.h"

TEST(record_names_both_ways)
{
	for (unsigned i = 0; i < RESULT_N; i++)
		assert_int_equal(result_parse(result_name((enum step_result)i)), i);
	assert_int_equal(result_parse("great"), RESULT_UNKNOWN);
	assert_int_equal(result_parse(""), RESULT_UNKNOWN);
	assert_int_equal(result_parse(NULL), RESULT_UNKNOWN);
	assert_string_equal(result_name(RESULT_N), "unknown");
}

TEST(record_sum_takes_the_gravest)
{
	static const enum step_result order[] = {RESULT_SKIPPED, RESULT_OK, RESULT_CHANGED,
		RESULT_UNKNOWN, RESULT_INTERRUPTED, RESULT_TIMEOUT, RESULT_DENIED, RESULT_FAILED};
	struct result_counts c = {0};

	assert_int_equal(result_counts_sum(&c), RESULT_OK);
	for (unsigned i = 0; i < RESULT_N; i++) {
		c.n[order[i]] = 3;
		assert_int_equal(result_counts_sum(&c), order[i]);
	}
}

TEST(record_counts_both_ways)
{
	struct result_counts c = {0}, back;
	AUTO_JSON obj = NULL;
	AUTO_JSON odd = NULL;

	c.n[RESULT_OK] = 41;
	c.n[RESULT_FAILED] = 1;
	obj = result_counts_json(&c);
	assert_int_equal(json_object_size(obj), 2);
	result_counts_parse(obj, &back);
	assert_memory_equal(&c, &back, sizeof c);

	odd = json_pack("{s:i, s:s, s:I}", "ok", -1, "changed", "7", "failed", INT64_C(1) << 40);
	result_counts_parse(odd, &back);
	for (unsigned i = 0; i < RESULT_N; i++)
		assert_int_equal(back.n[i], 0);
	result_counts_parse(NULL, &back);
	assert_int_equal(result_counts_sum(&back), RESULT_OK);
}

T_MAIN
