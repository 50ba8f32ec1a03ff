/* when - words, days, hours, zones; what is no moment. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "controller/command/when.h"
#include "tests/unit/t.h"

#include <time.h>

#define NOW (INT64_C(1796065302) * CLOCK_SEC) /* 2026-11-30T19:01:42Z */

static void in_zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

static void is(const char *text, const char *utc)
{
	struct err err = {0};
	int64_t at = 0;
	char shown[24];

	if (when_parse(text, NOW, &at, &err) < 0)
		fail_msg("'%s': %s", text, err.msg);
	clock_format(at, shown);
	assert_string_equal(shown, utc);
}

TEST(moments)
{
	in_zone("UTC");
	is("now", "2026-11-30T19:01:42Z");
	is("today", "2026-11-30T19:01:42Z");
	is("yesterday", "2026-11-29T23:59:59Z");
	is("2026-11-01", "2026-11-01T23:59:59Z");
	is("2026-11-01T10:00", "2026-11-01T10:00:00Z");
	is("2026-11-01 10:00:07", "2026-11-01T10:00:07Z");
	is("2024-02-29", "2024-02-29T23:59:59Z");
	in_zone("MSK-3");
	is("yesterday", "2026-11-29T20:59:59Z");
	is("2026-11-01", "2026-11-01T20:59:59Z");
	is("2026-11-01T10:00", "2026-11-01T07:00:00Z");
	is("2026-11-01T10:00Z", "2026-11-01T10:00:00Z");
	is("2026-11-01T10:00:05+05:30", "2026-11-01T04:30:05Z");
	is("2026-11-01T10:00-08:00", "2026-11-01T18:00:00Z");
}

TEST(no_moments)
{
	static const char *const wrong[] = {"", "soon", "2026", "2026-11", "2026-11-1", "26-11-01",
		"2026-13-01", "2026-00-10", "2026-11-31", "2023-02-29", "2026-11-01T",
		"2026-11-01T9", "2026-11-01T24:00", "2026-11-01T10:60", "2026-11-01T10:00:61",
		"2026-11-01T10:00+3", "2026-11-01T10:00+25:00", "2026-11-01T10:00Zx", "2026-11-010",
		"1812-09-07", "9999-01-01", "-026-11-01", "2026-11-01x"};

	in_zone("UTC");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err err = {0};
		int64_t at;

		if (when_parse(wrong[i], NOW, &at, &err) != -E_SYNTAX)
			fail_msg("'%s' was taken", wrong[i]);
		assert_non_null(strstr(err.msg, "is no date"));
		assert_non_null(strstr(err.hint, "2026-11-01"));
	}
}

TEST(what_is_meant_as_a_moment)
{
	assert_true(when_looks_so("now"));
	assert_true(when_looks_so("yesterday"));
	assert_true(when_looks_so("2026-13-45")); /* so that its error says date, not file */
	assert_true(when_looks_so("2026-11-01T99"));
	assert_false(when_looks_so("site.yaml"));
	assert_false(when_looks_so("2026-11-01.yaml"));
	assert_false(when_looks_so("2026-11"));
	assert_false(when_looks_so("tomorrow"));
}

T_MAIN
