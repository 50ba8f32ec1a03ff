/* json_test - what is refused and where, stable bytes out, accessors that never fail. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/json.h"
#include "tests/unit/t.h"

static json_t *parse(const char *text)
{
	struct err err = {0};
	json_t *v = NULL;

	assert_int_equal(json_parse(str_of(text), 1000, "t", &v, &err), 0);
	return v;
}

TEST(refusals)
{
	const struct {
		struct str text;
		enum ec code;
		unsigned line, col;
		const char *part;
	} cases[] = {
		{STR_LIT(""), E_SYNTAX, 1, 1, ""},
		{STR_LIT("{"), E_SYNTAX, 1, 1, "end of file"},
		{STR_LIT("{\"a\": 1,\n \"a\": 2}"), E_SYNTAX, 2, 4, "duplicate"},
		{STR_LIT("{\"a\": {\"b\": 1, \"b\": 1}}"), E_SYNTAX, 1, 18, "duplicate"},
		{STR_LIT("{} x"), E_SYNTAX, 1, 4, "end of file expected"},
		{STR_LIT("{}{}"), E_SYNTAX, 1, 3, "end of file expected"},
		{STR_LIT("[1,\n2,\n]"), E_SYNTAX, 3, 1, "unexpected token"},
		{STR_LIT("\"a\\u0000b\""), E_SYNTAX, 1, 10, "\\u0000"},
		{STR_LIT("[\"\xFF\"]"), E_SYNTAX, 1, 2, "0xff"},
		{STR_LIT("[1\0]"), E_SYNTAX, 1, 3, "a NUL byte"},
		{STR_LIT("[\"\\\0\"]"), E_SYNTAX, 1, 4, "a NUL byte"},
		{STR_LIT("99999999999999999999"), E_SYNTAX, 1, 20, "too big"},
		{STR_LIT("1e999"), E_SYNTAX, 1, 5, "overflow"},
		{STR_LIT("\"open"), E_SYNTAX, 1, 5, "end of input"},
		{STR_LIT("NaN"), E_SYNTAX, 1, 3, ""},
		{STR_LIT("'a'"), E_SYNTAX, 1, 1, ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err err = {0};
		json_t *v = NULL;

		assert_int_equal(
			json_parse(cases[i].text, 1000, "t.json", &v, &err), -(int)cases[i].code);
		assert_null(v);
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.col, cases[i].col);
		assert_string_equal(err.file, "t.json");
		assert_non_null(strstr(err.msg, cases[i].part));
	}
}

TEST(size)
{
	struct err err = {0};
	json_t *v = NULL;

	assert_int_equal(json_parse(str_of("[1]"), 3, "t", &v, &err), 0);
	json_drop(&v);
	assert_int_equal(json_parse(str_of("[1] "), 3, "t", &v, &err), -E_LIMIT);
	assert_null(v);
}

TEST(depth)
{
	char text[200] = "";
	struct err err = {0};
	json_t *v = NULL;

	memset(text, '[', 32);
	memset(text + 32, ']', 32);
	assert_int_equal(json_parse(str_of(text), 1000, "t", &v, &err), 0);
	json_drop(&v);
	memset(text, '[', 33);
	memset(text + 33, ']', 33);
	assert_int_equal(json_parse(str_of(text), 1000, "t", &v, &err), -E_LIMIT);
	assert_int_equal(err.col, 33);
	/* brackets in strings are text, also behind an escaped quote */
	assert_int_equal(json_parse(str_of("[\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]"), 1000,
				 "t", &v, &err),
		0);
	json_drop(&v);
}

TEST(a_bomb_is_refused_at_once)
{
	const size_t n = 8u << 20;
	char *text = malloc(n);
	struct err err = {0};
	json_t *v = NULL;

	memset(text, '[', n);
	assert_int_equal(json_parse((struct str){text, n}, n, "t", &v, &err), -E_LIMIT);
	free(text);
}

TEST(writes_stable_bytes)
{
	AUTO_JSON v = parse("{\"b\": [1, 2.5, null], \"a\": \"\\u00e4\\n\", \"c\": {}}");
	AUTO_BUF out;

	buf_init(&out, 1000);
	json_write(v, &out);
	assert_string_equal(buf_text(&out), "{\"a\":\"\xC3\xA4\\n\",\"b\":[1,2.5,null],\"c\":{}}");
	buf_clear(&out);
	json_write_pretty(v, &out);
	assert_string_equal(buf_text(&out),
		"{\n  \"a\": \"\xC3\xA4\\n\",\n  \"b\": [\n    1,\n    2.5,\n"
		"    null\n  ],\n  \"c\": {}\n}");
}

TEST(writing_past_the_cap_or_nothing_shows)
{
	AUTO_JSON v = parse("[1,2,3]");
	AUTO_BUF out;

	buf_init(&out, 5);
	json_write(v, &out);
	assert_false(buf_ok(&out));
	buf_clear(&out);
	json_write(NULL, &out);
	assert_false(buf_ok(&out));
}

TEST(accessors_default)
{
	AUTO_JSON v = parse("{\"s\": \"x\", \"i\": -5, \"b\": true, \"r\": 1.5, \"n\": null}");

	assert_string_equal(json_get_str(v, "s", "d"), "x");
	assert_string_equal(json_get_str(v, "i", "d"), "d");
	assert_null(json_get_str(v, "none", NULL));
	assert_int_equal(json_get_int(v, "i", 7), -5);
	assert_int_equal(json_get_int(v, "r", 7), 7);
	assert_int_equal(json_get_int(v, "s", 7), 7);
	assert_true(json_get_bool(v, "b", false));
	assert_true(json_get_bool(v, "n", true));
	assert_null(json_get(v, "none"));
	assert_non_null(json_get(v, "n"));
	assert_null(json_get(NULL, "x"));
	assert_string_equal(json_get_str(NULL, "s", "d"), "d");
	assert_int_equal(json_get_int(json_get(v, "s"), "x", 3), 3);
}

TEST(setters)
{
	AUTO_JSON v = json_object();
	AUTO_BUF out;

	json_put_str(v, "s", "x");
	json_put_str(v, "none", NULL);
	json_put_int(v, "i", INT64_MIN);
	json_put_bool(v, "b", false);
	json_put_text(v, "bad", STR_LIT("a\xFFz\0\xC3\xA4"));
	json_put_text(v, "empty", str_of(NULL));
	json_put_str(v, "s", "again");
	buf_init(&out, 1000);
	json_write(v, &out);
	assert_string_equal(buf_text(&out),
		"{\"b\":false,\"bad\":\"a\\\\xffz\\\\x00\xC3\xA4\",\"empty\":\"\","
		"\"i\":-9223372036854775808,\"s\":\"again\"}");
}

TEST(reals_are_short_for_people)
{
	AUTO_JSON v = json_pack("{s:f}", "share", 0.8);
	AUTO_BUF out = {0};

	buf_init(&out, 100);
	json_write_pretty(v, &out);
	assert_string_equal(buf_text(&out), "{\n  \"share\": 0.8\n}");
}

TEST(dropping_nothing_is_fine)
{
	json_t *v = NULL;

	json_drop(&v);
	assert_null(v);
}

T_MAIN
