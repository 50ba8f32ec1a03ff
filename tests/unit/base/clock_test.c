/* clock_test - formats at their edges, deadlines. */
#include "agent/base/clock.h"
#include "tests/unit/t.h"

TEST(monotonic_moves_on)
{
	const int64_t before = clock_mono();

	clock_sleep(2 * CLOCK_MS);
	assert_true(clock_mono() - before >= 2 * CLOCK_MS);
	clock_sleep(0);
	clock_sleep(-5);
	assert_true(clock_wall() > INT64_C(1700000000) * CLOCK_SEC);
}

TEST(wall_format)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "1970-01-01T00:00:00Z"},
		{INT64_C(1000000000) * CLOCK_SEC + 999999999, "2001-09-09T01:46:40Z"},
		{-1, "1969-12-31T23:59:59Z"},
		{-CLOCK_SEC, "1969-12-31T23:59:59Z"},
		{INT64_MAX, "2262-04-11T23:47:16Z"},
		{INT64_MIN, "1677-09-21T00:12:43Z"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[24];

		clock_format(cases[i].ns, text);
		assert_string_equal(text, cases[i].text);
	}
}

TEST(span_format)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{-5, "0 ms"},
		{0, "0 ms"},
		{340, "340 ms"},
		{999, "999 ms"},
		{1000, "1.0 s"},
		{1249, "1.2 s"},
		{59949, "59.9 s"},
		{59950, "1 min 0 s"},
		{192000, "3 min 12 s"},
		{3599499, "59 min 59 s"},
		{3599500, "1 h 0 min"},
		{86400000, "1 d 0 h"},
		{INT64_MAX / CLOCK_MS, "106751 d 23 h"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[24];

		clock_format_span(cases[i].ms * CLOCK_MS, text);
		assert_string_equal(text, cases[i].text);
	}
}

TEST(deadlines)
{
	assert_int_equal(clock_left_ms(0), -1);
	assert_int_equal(clock_left_ms(1), 0);
	assert_int_equal(clock_left_ms(clock_mono() - 1), 0);
	assert_in_range(clock_left_ms(clock_mono() + CLOCK_SEC), 900, 1000);
	assert_int_equal(clock_left_ms(INT64_MAX), INT32_MAX);
}

T_MAIN
