/* value_test - values as text, and what is unknown. */
#include "agent/recipe/value.h"
#include "tests/unit/recipe/world.h"

TEST(scalars_as_text)
{
	static const struct world_case CASES[] = {
		{"\"a b\"", "a b"},
		{"\"\"", ""},
		{"-12", "-12"},
		{"1.0", "1.0"},
		{"0.1", "0.1"},
		{"1e300", "1e+300"},
		{"123456.789012345", "123456.789012345"},
		{"true", "true"},
		{"false", "false"},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct value v = value_of(world_json(CASES[i].text));
		struct err err = {0};
		AUTO_BUF out;

		buf_init(&out, 64);
		assert_int_equal(value_to_text(&v, &out, &err), 0);
		assert_string_equal(buf_text(&out), CASES[i].want);
		value_done(&v);
	}
}

TEST(lists_maps_and_nothing_are_no_text)
{
	static const char *const CASES[] = {"[1]", "{\"a\": 1}", "null"};

	for (size_t i = 0; i < 3; i++) {
		struct value v = value_of(world_json(CASES[i]));
		struct err err = {0};
		AUTO_BUF out;

		buf_init(&out, 64);
		assert_int_equal(value_to_text(&v, &out, &err), -E_SCHEMA);
		assert_int_equal(out.n, 0);
		assert_true(err.hint[0] != '\0');
		value_done(&v);
	}
}

TEST(unknown_values)
{
	struct value v = value_unknown("why");
	json_t *marker = value_unknown_json("depends");

	assert_false(value_is_known(&v));
	assert_string_equal(v.unknown, "why");
	value_done(&v);
	value_done(&v);
	value_done(NULL);
	assert_string_equal(json_get_str(marker, VALUE_UNKNOWN_KEY, ""), "depends");
	json_decref(marker);
	v = value_unknown(NULL);
	assert_non_null(v.unknown);
}

TEST(type_names)
{
	static const struct world_case CASES[] = {{"1", "integer"}, {"1.0", "number"},
		{"\"\"", "text"}, {"[]", "list"}, {"{}", "map"}, {"true", "bool"},
		{"false", "bool"}, {"null", "nothing"}};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		AUTO_JSON v = world_json(CASES[i].text);

		assert_string_equal(value_type_name(v), CASES[i].want);
	}
	assert_string_equal(value_type_name(NULL), "unknown");
}

T_MAIN
