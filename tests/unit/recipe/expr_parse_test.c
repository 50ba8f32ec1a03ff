/* expr_parse_test - what is refused, where, and with which advice; and the caps. */
#include "tests/unit/recipe/world.h"

static int parse(struct arena *a, struct str text, struct err *err)
{
	const struct origin at = {.file = "case", .line = 3, .col = 5};
	struct expr *e = NULL;

	return expr_parse(a, text, &at, &e, err);
}

TEST(errors_have_place_and_hint)
{
	static const struct {
		const char *text;
		enum ec code;
		unsigned line, col;
		const char *msg, *hint;
	} CASES[] = {
		{"", E_SYNTAX, 3, 5, "the expression is empty", ""},
		{"  ", E_SYNTAX, 3, 5, "the expression is empty", ""},
		{"1 +", E_SYNTAX, 3, 8, "the expression ends where a value was expected",
			"add a value at the end"},
		{"(1", E_SYNTAX, 3, 7, "the expression ends where ')' was expected",
			"add ')' at the end"},
		{"len('x'", E_SYNTAX, 3, 12, "the expression ends where ')' was expected",
			"add ')' at the end"},
		{"[1, 2", E_SYNTAX, 3, 10, "the expression ends where ']' was expected",
			"add ']' at the end"},
		{"1\n  + +", E_SYNTAX, 4, 5, "unexpected '+', expected a value",
			"something is missing before '+'"},
		{"1 2", E_SYNTAX, 3, 7, "unexpected '2', expected an operator or the end", ""},
		{"[1 2]", E_SYNTAX, 3, 8, "unexpected '2', expected ','", ""},
		{"1 not 2", E_SYNTAX, 3, 11, "unexpected '2', expected 'in'", ""},
		{"params. == 1", E_SYNTAX, 3, 13, "unexpected '==', expected a name after '.'",
			"other keys are written a['x-y']"},
		{"params.x is defined", E_SYNTAX, 3, 14,
			"unexpected 'is', expected an operator or the end",
			"compare with '=='; for a name that may be undefined use default(x, y)"},
		{"1 if true else 2", E_SYNTAX, 3, 7,
			"unexpected 'if', expected an operator or the end",
			"write if(condition, x, y), or {% if %} in a template"},
		{"1 == 1 == 1", E_SYNTAX, 3, 12, "comparisons do not chain",
			"write a < b and b < c, or use parentheses"},
		{"fact.x", E_NOTFOUND, 3, 5, "unknown name 'fact'", "did you mean 'facts'?"},
		{"True", E_NOTFOUND, 3, 5, "unknown name 'True'", "write true"},
		{"no", E_NOTFOUND, 3, 5, "unknown name 'no'", "write false"},
		{"len", E_NOTFOUND, 3, 5, "unknown name 'len'",
			"it is a function: len(text, list or map)"},
		{"debian", E_NOTFOUND, 3, 5, "unknown name 'debian'",
			"if it is text, write 'debian' in quotes"},
		{"something.x", E_NOTFOUND, 3, 5, "unknown name 'something'",
			"names begin with params, node, vars, facts, site, data, let, steps or item"},
		{"lowr('x')", E_NOTFOUND, 3, 5, "there is no function 'lowr'",
			"did you mean 'lower'?"},
		{"join(['a'])", E_SCHEMA, 3, 5, "'join' takes 2 arguments, not 1",
			"join(list, separator)"},
		{"facts", E_SCHEMA, 3, 5, "'facts' is not a value by itself",
			"name a group, such as facts.os.id"},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err err = {0};

		assert_int_equal(parse(a, str_of(CASES[i].text), &err), -(int)CASES[i].code);
		assert_string_equal(err.msg, CASES[i].msg);
		assert_string_equal(err.hint, CASES[i].hint);
		assert_int_equal(err.line, CASES[i].line);
		assert_int_equal(err.col, CASES[i].col);
	}
	arena_free(a);
}

static int parse_repeated(const char *begin, const char *part, const char *end, unsigned n)
{
	struct arena *a = arena_new();
	struct err err = {0};
	AUTO_BUF text;
	int rc;

	buf_init(&text, 1u << 20);
	buf_add_text(&text, begin);
	for (unsigned i = 0; i < n; i++)
		buf_add_text(&text, part);
	buf_add_text(&text, end);
	rc = parse(a, buf_str(&text), &err);
	arena_free(a);
	return rc;
}

TEST(depth_is_capped_in_every_direction)
{
	assert_int_equal(parse_repeated("1", " + 1", "", 60), 0);
	assert_int_equal(parse_repeated("1", " + 1", "", 65), -E_LIMIT);
	assert_int_equal(parse_repeated("vars", ".x", "", 65), -E_LIMIT);
	assert_int_equal(parse_repeated("vars", "[0]", "", 65), -E_LIMIT);
	assert_int_equal(parse_repeated("", "not ", "true", 70), -E_LIMIT);
	assert_int_equal(parse_repeated("", "-", "1", 70), -E_LIMIT);
	assert_int_equal(parse_repeated("", "(", "1", 70), -E_LIMIT);
	assert_int_equal(parse_repeated("", "[", "1", 5000), -E_LIMIT);
	assert_int_equal(parse_repeated("", "lower(", "1", 5000), -E_LIMIT);
}

TEST(size_is_capped)
{
	assert_int_equal(parse_repeated("[", "1,", "1]", 900), 0);
	assert_int_equal(parse_repeated("[", "1,", "1]", 1000), -E_LIMIT);
	assert_int_equal(parse_repeated("'", "x", "'", EXPR_BYTES_MAX - 2), 0);
	assert_int_equal(parse_repeated("'", "x", "'", EXPR_BYTES_MAX), -E_LIMIT);
}

TEST(broken_utf8_and_zero_bytes_are_refused)
{
	struct arena *a = arena_new();
	struct err err = {0};

	assert_int_equal(parse(a, STR_LIT("'\xff'"), &err), -E_SYNTAX);
	assert_int_equal(parse(a, STR_LIT("'\0'"), &err), -E_SYNTAX);
	arena_free(a);
}

TEST(the_text_is_copied)
{
	struct world w;
	struct expr *e = NULL;
	struct value v;
	struct err err = {0};
	char text[] = "params.name + 'x'";

	world_init(&w);
	assert_int_equal(expr_parse(w.arena, str_of(text), NULL, &e, &err), 0);
	memset(text, '?', sizeof text - 1);
	assert_int_equal(expr_eval(e, &w.scope, &v, &err), 0);
	assert_string_equal(json_string_value(v.json), "webx");
	value_done(&v);
	world_done(&w);
}

T_MAIN
