/* buf_test - growth, the cap, stickiness, escaping. */
#include "agent/base/buf.h"
#include "tests/unit/t.h"

TEST(empty_is_text)
{
	AUTO_BUF b;
	AUTO_BUF taken;

	buf_init(&b, 10);
	buf_init(&taken, 10);
	assert_string_equal(buf_text(&b), "");
	assert_int_equal(buf_str(&b).n, 0);
	assert_true(buf_ok(&b));
	taken.p = buf_take(&b);
	assert_string_equal(taken.p, "");
	buf_done(&b);
	buf_done(&b);
	buf_done(NULL);
}

TEST(grows_and_stays_terminated)
{
	AUTO_BUF b;

	buf_init(&b, 1u << 20);
	for (int i = 0; i < 10000; i++) {
		buf_add_char(&b, (char)('a' + i % 26));
		assert_int_equal(b.p[b.n], 0);
	}
	assert_int_equal(b.n, 10000);
	assert_int_equal(b.p[27], 'b');
	buf_clear(&b);
	assert_string_equal(buf_text(&b), "");
}

TEST(cap_is_exact_and_sticky)
{
	for (size_t cap = 0; cap < 200; cap++) {
		AUTO_BUF b;

		buf_init(&b, cap);
		for (size_t i = 0; i < cap; i++)
			buf_add_char(&b, 'x');
		assert_true(buf_ok(&b));
		buf_add(&b, "", 0);
		assert_true(buf_ok(&b));
		buf_add_char(&b, 'y');
		assert_false(buf_ok(&b));
		buf_add(&b, "", 0);
		assert_int_equal(b.n, cap);
		buf_clear(&b);
		assert_true(buf_ok(&b));
	}
}

TEST(what_does_not_fit_leaves_no_part)
{
	AUTO_BUF b;

	buf_init(&b, 5);
	buf_add_text(&b, "abc");
	buf_add_text(&b, "def");
	assert_string_equal(buf_text(&b), "abc");
	buf_add_char(&b, 'd');
	assert_string_equal(buf_text(&b), "abc");
	assert_null(buf_room(&b, 0));
}

TEST(formats)
{
	AUTO_BUF b;

	buf_init(&b, 300);
	buf_addf(&b, "%s=%d", "n", 5);
	assert_string_equal(buf_text(&b), "n=5");
	buf_addf(&b, "%200d", 1);
	assert_int_equal(b.n, 203);
	buf_addf(&b, "%98d", 1);
	assert_false(buf_ok(&b));
	assert_int_equal(b.n, 203);
}

TEST(room_then_grew)
{
	AUTO_BUF b;
	char *to;

	buf_init(&b, 8);
	to = buf_room(&b, 8);
	assert_non_null(to);
	memcpy(to, "12345678", 8);
	buf_grew(&b, 8);
	assert_string_equal(buf_text(&b), "12345678");
	assert_null(buf_room(&b, 1));
	assert_false(buf_ok(&b));
}

TEST(a_huge_request_is_refused)
{
	AUTO_BUF b;

	buf_init(&b, SIZE_MAX);
	buf_add_char(&b, 'a');
	assert_null(buf_room(&b, SIZE_MAX));
	assert_false(buf_ok(&b));
	assert_string_equal(buf_text(&b), "a");
}

TEST(drops_from_the_front)
{
	AUTO_BUF b;

	buf_init(&b, 100);
	buf_drop(&b, 3);
	buf_add_text(&b, "abcdef");
	buf_drop(&b, 2);
	assert_string_equal(buf_text(&b), "cdef");
	buf_drop(&b, 0);
	buf_drop(&b, 99);
	assert_string_equal(buf_text(&b), "");
}

TEST(cuts_from_the_end)
{
	struct buf b;

	buf_init(&b, 100);
	buf_cut(&b, 0);
	buf_add_text(&b, "abcdef");
	buf_cut(&b, 9);
	assert_string_equal(buf_text(&b), "abcdef");
	buf_cut(&b, 4);
	assert_string_equal(buf_text(&b), "abcd");
	assert_int_equal(b.n, 4);
	buf_done(&b);
}

TEST(taking_empties)
{
	AUTO_BUF b;
	char *text;

	buf_init(&b, 3);
	buf_add_text(&b, "abc");
	text = buf_take(&b);
	assert_string_equal(text, "abc");
	free(text);
	buf_add_text(&b, "xyz");
	assert_string_equal(buf_text(&b), "xyz");
}

TEST(printable)
{
	const struct {
		struct str in;
		const char *out;
	} cases[] = {
		{STR_LIT("plain \xC3\xA4"), "plain \xC3\xA4"},
		{STR_LIT("a\nb\t"), "a\\x0ab\\x09"},
		{STR_LIT("\x1B[31m"), "\\x1b[31m"},
		{STR_LIT("\0\x7F"), "\\x00\\x7f"},
		{STR_LIT("\xC2\x9B"
			 "2J"),
			"\\xc2\\x9b2J"},
		{STR_LIT("\xE2\x80\xAEtxt"), "\\xe2\\x80\\xaetxt"},
		{STR_LIT("cut \xE2\x82"), "cut \\xe2\\x82"},
		{STR_LIT(""), ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		AUTO_BUF b;

		buf_init(&b, 100);
		buf_add_printable(&b, cases[i].in);
		assert_string_equal(buf_text(&b), cases[i].out);
	}
}

TEST(xml)
{
	AUTO_BUF b;

	buf_init(&b, 100);
	buf_add_xml(&b, str_of("<a b=\"c\">&'x"));
	assert_string_equal(buf_text(&b), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;x");
}

T_MAIN
