/* yaml_read_test - what each typed reading takes, and what it says to the rest. */
#include "agent/base/yaml.h"
#include "tests/unit/t.h"

static struct arena *arena;
static struct yaml_doc *doc;
static struct err err;

static const struct yaml_node *value(const char *text)
{
	const char *whole;

	arena_free(arena);
	arena = arena_new();
	memset(&err, 0, sizeof err);
	whole = arena_printf(arena, "k: %s\n", text);
	if (yaml_parse(arena, "t", str_of(whole), &YAML_CAPS_RECIPE, &doc, &err) != 0)
		fail_msg("%s", err.msg);
	return yaml_get(doc->root, "k");
}

struct reading {
	const char *text, *msg, *hint; /* msg NULL: accepted */
};

static void assert_said(const struct reading *r, int rc)
{
	assert_int_equal(rc, r->msg ? -E_SCHEMA : 0);
	assert_string_equal(err.msg, r->msg ? r->msg : "");
	assert_string_equal(err.hint, r->hint ? r->hint : "");
}

#define EACH(cases) \
	for (const struct reading *r = cases; r < cases + sizeof cases / sizeof cases[0]; r++)

TEST(integers)
{
	static const struct reading cases[] = {
		{"1", NULL, NULL},
		{"'60'", NULL, NULL},
		{"0", "'u' must be a whole number from 1 to 60, not '0'", NULL},
		{"61", "'u' must be a whole number from 1 to 60, not '61'", NULL},
		{"1.5", "'u' must be a whole number from 1 to 60, not '1.5'", NULL},
		{"07", "'u' must be a whole number from 1 to 60, not '07'",
			"write it without leading zeros"},
		{"0x10", "'u' must be a whole number from 1 to 60, not '0x10'", NULL},
		{"", "'u' has no value, expected a whole number from 1 to 60", NULL},
		{"[1]", "'u' must be a whole number from 1 to 60, not a list", NULL},
		{"{a: 1}", "'u' must be a whole number from 1 to 60, not a map", NULL},
		{"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeee",
			"'u' must be a whole number from 1 to 60, not "
			"'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...'",
			NULL},
	};
	int64_t v = 0;

	EACH(cases)
	assert_said(r, yaml_want_int(doc, value(r->text), "'u'", 1, 60, &v, &err));
	assert_int_equal(yaml_want_int(doc, value("-5"), "'u'", INT64_MIN, INT64_MAX, &v, &err), 0);
	assert_int_equal(v, -5);
	(void)yaml_want_int(doc, value("x"), "'u'", INT64_MIN, INT64_MAX, &v, &err);
	assert_string_equal(err.msg, "'u' must be a whole number, not 'x'");
	(void)yaml_want_int(doc, value("0"), "'u'", 1, INT64_MAX, &v, &err);
	assert_string_equal(err.msg, "'u' must be a whole number of at least 1, not '0'");
	assert_int_equal(v, -5);
	assert_int_equal(err.line, 1);
	assert_int_equal(err.col, 4);
}

TEST(numbers)
{
	static const struct reading cases[] = {
		{"0.5", NULL, NULL},
		{"1e1", NULL, NULL},
		{"-0.1", "'w' must be a number from 0 to 10, not '-0.1'", NULL},
		{"10.01", "'w' must be a number from 0 to 10, not '10.01'", NULL},
		{".nan", "'w' must be a number from 0 to 10, not '.nan'", NULL},
		{"007", "'w' must be a number from 0 to 10, not '007'", NULL},
		{"[]", "'w' must be a number from 0 to 10, not a list", NULL},
	};
	double v = 0;

	EACH(cases)
	assert_said(r, yaml_want_num(doc, value(r->text), "'w'", 0, 10, &v, &err));
	assert_int_equal(yaml_want_num(doc, value("0.25"), "'w'", 0, 10, &v, &err), 0);
	assert_true(v == 0.25);
}

TEST(booleans)
{
	static const struct reading cases[] = {
		{"true", NULL, NULL},
		{"'false'", NULL, NULL},
		{"no", "'b' must be true or false, not 'no'", "write 'false'"},
		{"ON", "'b' must be true or false, not 'ON'", "write 'true'"},
		{"1", "'b' must be true or false, not '1'", NULL},
		{"truely", "'b' must be true or false, not 'truely'", NULL},
		{"", "'b' has no value, expected true or false", NULL},
	};
	bool v = false;

	EACH(cases)
	assert_said(r, yaml_want_bool(doc, value(r->text), "'b'", &v, &err));
	assert_int_equal(yaml_want_bool(doc, value("true"), "'b'", &v, &err), 0);
	assert_true(v);
	assert_int_equal(yaml_want_bool(doc, value("false"), "'b'", &v, &err), 0);
	assert_false(v);
}

TEST(texts)
{
	static const struct reading cases[] = {
		{"abc", NULL, NULL},
		{"1.10", NULL, NULL},
		{"\"\"", NULL, NULL},
		{"", "'t' has no value, expected a text", "write \"\" for an empty text"},
		{"[a]", "'t' must be a text, not a list", NULL},
	};
	struct str v = {"", 0};

	EACH(cases)
	assert_said(r, yaml_want_text(doc, value(r->text), "'t'", &v, &err));
	assert_int_equal(yaml_want_text(doc, value("1.10"), "'t'", &v, &err), 0);
	assert_true(str_is(v, "1.10"));
}

TEST(collections)
{
	(void)value("{a: 1}");
	assert_int_equal(yaml_want_map(doc, yaml_get(doc->root, "k"), "'m'", &err), 0);
	assert_int_equal(yaml_want_list(doc, yaml_get(doc->root, "k"), "'m'", &err), -E_SCHEMA);
	assert_string_equal(err.msg, "'m' must be a list, not a map");
	(void)value("[]");
	assert_int_equal(yaml_want_list(doc, yaml_get(doc->root, "k"), "'m'", &err), 0);
	assert_int_equal(yaml_want_map(doc, yaml_get(doc->root, "k"), "'m'", &err), -E_SCHEMA);
}

TEST(missing)
{
	int64_t v;

	(void)value("1");
	assert_int_equal(yaml_want_int(doc, NULL, "'u'", 0, 1, &v, &err), -E_SCHEMA);
	assert_string_equal(err.msg, "'u' is missing");
	assert_string_equal(err.file, "t");
	assert_null(yaml_get(NULL, "a"));
	assert_null(yaml_get(yaml_get(doc->root, "k"), "a"));
	assert_null(yaml_key(doc->root, "a"));
	assert_int_equal(yaml_key(doc->root, "k")->col, 1);
}

TEST(known_keys)
{
	static const char *const keys[] = {"name", "height_u", NULL};
	static const char *const none[] = {NULL};

	(void)value("{name: a, height_u: 1}");
	assert_int_equal(yaml_known_keys(doc, yaml_get(doc->root, "k"), keys, &err), 0);
	(void)value("{name: a, heigth_u: 1}");
	assert_int_equal(yaml_known_keys(doc, yaml_get(doc->root, "k"), keys, &err), -E_SCHEMA);
	assert_string_equal(err.msg, "unknown key 'heigth_u'");
	assert_string_equal(err.hint, "did you mean 'height_u'?");
	assert_int_equal(err.col, 14);
	(void)value("{colour: red}");
	assert_int_equal(yaml_known_keys(doc, yaml_get(doc->root, "k"), keys, &err), -E_SCHEMA);
	assert_string_equal(err.hint, "known here: name, height_u");
	assert_int_equal(yaml_known_keys(doc, yaml_get(doc->root, "k"), none, &err), -E_SCHEMA);
	(void)value("[a]");
	assert_int_equal(yaml_known_keys(doc, yaml_get(doc->root, "k"), keys, &err), -E_SCHEMA);
	arena_free(arena); /* the last test */
	arena = NULL;
}

T_MAIN
