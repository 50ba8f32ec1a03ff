/* str_test - views, cutting, numbers at their edges, UTF-8. */
#include "agent/base/str.h"
#include "tests/unit/t.h"

TEST(nothing_is_empty)
{
	const struct str none = str_of(NULL);

	assert_int_equal(none.n, 0);
	assert_true(str_eq(none, str_of("")));
	assert_true(str_eq((struct str){NULL, 0}, none));
}

TEST(starts_and_ends)
{
	assert_true(str_starts(str_of("abc"), "ab"));
	assert_true(str_starts(str_of("abc"), ""));
	assert_true(str_starts(str_of(""), ""));
	assert_false(str_starts(str_of("ab"), "abc"));
	assert_true(str_ends(str_of("a.yaml"), ".yaml"));
	assert_false(str_ends(str_of("yaml"), ".yaml"));
	assert_false(str_is(str_of("ab"), "abc"));
}

TEST(finds)
{
	assert_int_equal(str_find(str_of("abcb"), 'b'), 1);
	assert_true(str_find(str_of("abc"), 'x') == STR_NONE);
	assert_true(str_find(str_of(""), 'x') == STR_NONE);
	assert_int_equal(str_find(STR_LIT("a\0b"), '\0'), 1);
	assert_int_equal(str_find_str(str_of("abcabd"), str_of("abd")), 3);
	assert_true(str_find_str(str_of("abc"), str_of("abcd")) == STR_NONE);
	assert_int_equal(str_find_str(str_of(""), str_of("")), 0);
}

TEST(cuts)
{
	assert_true(str_is(str_first(str_of("abc"), 2), "ab"));
	assert_true(str_is(str_first(str_of("abc"), STR_NONE), "abc"));
	assert_true(str_is(str_from(str_of("abc"), 2), "c"));
	assert_true(str_is(str_from(str_of("abc"), 3), ""));
	assert_true(str_is(str_from(str_of("abc"), 99), ""));
	assert_true(str_is(str_trim(str_of(" \t a b\r\n")), "a b"));
	assert_true(str_is(str_trim(str_of(" \n ")), ""));
}

TEST(parts)
{
	static const struct {
		const char *text, *joined; /* each part followed by '|' */
	} cases[] = {{"", ""}, {"a", "a|"}, {"a,b", "a|b|"}, {"a,,b", "a||b|"}, {",a", "|a|"},
		{"a,", "a|"}, {",", "|"}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct str left = str_of(cases[i].text), part;
		char out[32] = "";

		while (str_next(&left, ',', &part))
			snprintf(out + strlen(out), sizeof out - strlen(out), STR_FMT "|",
				STR_ARG(part));
		assert_string_equal(out, cases[i].joined);
	}
}

TEST(lines)
{
	struct str left = str_of("one\r\n\ntwo\r"), line;

	assert_true(str_line(&left, &line) && str_is(line, "one"));
	assert_true(str_line(&left, &line) && str_is(line, ""));
	assert_true(str_line(&left, &line) && str_is(line, "two"));
	assert_false(str_line(&left, &line));
}

TEST(unsigned_numbers)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t v;
	} cases[] = {
		{"0", true, 0},
		{"007", true, 7},
		{"18446744073709551615", true, UINT64_MAX},
		{"18446744073709551616", false, 0},
		{"99999999999999999999999999", false, 0},
		{"", false, 0},
		{"-1", false, 0},
		{"+1", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"0x10", false, 0},
		{"1.0", false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t v = 4711;

		assert_int_equal(str_to_u64(str_of(cases[i].text), &v), cases[i].ok);
		assert_true(v == (cases[i].ok ? cases[i].v : 4711));
	}
}

TEST(signed_numbers)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t v;
	} cases[] = {
		{"-0", true, 0},
		{"42", true, 42},
		{"-42", true, -42},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775808", false, 0},
		{"-9223372036854775809", false, 0},
		{"-", false, 0},
		{"--1", false, 0},
		{"", false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t v = 4711;

		assert_int_equal(str_to_i64(str_of(cases[i].text), &v), cases[i].ok);
		assert_true(v == (cases[i].ok ? cases[i].v : 4711));
	}
}

TEST(real_numbers)
{
	static const struct {
		const char *text;
		bool ok;
		double v;
	} cases[] = {
		{"0", true, 0},
		{"-1.5", true, -1.5},
		{"1e3", true, 1000},
		{"2.5E-1", true, 0.25},
		{"1e-400", true, 0},
		{"1e400", false, 0},
		{"inf", false, 0},
		{"nan", false, 0},
		{"0x1p3", false, 0},
		{"1,5", false, 0},
		{"1.", false, 0},
		{".5", false, 0},
		{"1e", false, 0},
		{"1e+", false, 0},
		{"+1", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"-", false, 0},
		{"", false, 0},
		{"11111111111111111111111111111111111111111111111111111111111111111", false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double v = 4711;

		assert_int_equal(str_to_f64(str_of(cases[i].text), &v), cases[i].ok);
		assert_true(v == (cases[i].ok ? cases[i].v : 4711));
	}
}

TEST(a_number_ends_with_its_view)
{
	const struct str view = {"123456", 3};
	uint64_t u = 0;
	double d = 0;

	assert_true(str_to_u64(view, &u) && u == 123);
	assert_true(str_to_f64(view, &d) && d == 123);
}

TEST(utf8)
{
	static const struct {
		const char *text;
		bool ok;
	} cases[] = {
		{"", true},
		{"plain", true},
		{"\xC3\xA4", true},
		{"\xE2\x82\xAC", true},
		{"\xF0\x9F\x98\x80", true},
		{"\xF4\x8F\xBF\xBF", true},
		{"\x80", false},             /* no lead */
		{"\xC3", false},             /* cut */
		{"\xE2\x82", false},         /* cut */
		{"\xF0\x9F\x98", false},     /* cut */
		{"\xC3(", false},            /* not a follower */
		{"\xE2(\xAC", false},        /* not a follower */
		{"\xE2\x82(", false},        /* not a follower */
		{"\xC0\x80", false},         /* long NUL */
		{"\xC1\xBF", false},         /* long form */
		{"\xE0\x80\x80", false},     /* long form */
		{"\xF0\x80\x80\x80", false}, /* long form */
		{"\xED\xA0\x80", false},     /* surrogate */
		{"\xF4\x90\x80\x80", false}, /* past the end */
		{"\xF5\x80\x80\x80", false},
		{"\xFF", false},
		{"ok then\xFE", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(str_is_utf8(str_of(cases[i].text)), cases[i].ok);
	assert_false(str_is_utf8(STR_LIT("a\0b")));
	for (size_t n = 0; n <= 8; n++) {
		const struct str cut = str_first_utf8(STR_LIT("a\u044f\u20ac"), n);

		assert_true(str_is_utf8(cut) && cut.n <= n);
		assert_int_equal(cut.n, n < 1 ? 0 : n < 3 ? 1 : n < 6 ? 3 : 6);
	}
}

TEST(printable)
{
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {{"a", 1}, {" ", 1}, {"\xC3\xA4", 2}, {"\n", 0}, {"\x1B[", 0}, {"\x7F", 0},
		{"\xC2\x9B", 0},     /* CSI as one character */
		{"\xE2\x80\xAE", 0}, /* right-to-left override */
		{"\xE2\x81\xA6", 0}, /* isolate */
		{"\xE2\x80\x9C", 3}, /* a typographic quote */
		{"\xF0\x9F\x98\x80", 4}, {"\xFF", 0}, {"", 0}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(str_printable_length(str_of(cases[i].text)), cases[i].len);
}

TEST(names)
{
	char longest[66];

	memset(longest, 'a', sizeof longest);
	longest[65] = '\0';
	assert_true(str_is_name(str_of("gpu-01.rack_2")));
	assert_true(str_is_name(str_of("0")));
	assert_true(str_is_name((struct str){longest, 64}));
	assert_false(str_is_name((struct str){longest, 65}));
	assert_false(str_is_name(str_of("")));
	assert_false(str_is_name(str_of("-a")));
	assert_false(str_is_name(str_of(".a")));
	assert_false(str_is_name(str_of("a/b")));
	assert_false(str_is_name(str_of("a b")));
	assert_false(str_is_name(str_of("\xC3\xA4")));
}

T_MAIN
