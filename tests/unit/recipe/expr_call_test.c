/* expr_call_test - every function, on good and on bad arguments. */
#include "agent/recipe/expr_priv.h"
#include "tests/unit/recipe/world.h"

static const struct world_case CASES[] = {
	{"lower('AbZ-Ä')", "\"abz-Ä\""},
	{"upper('abz{')", "\"ABZ{\""},
	{"trim('  a b\n')", "\"a b\""},
	{"len('grün')", "4"},
	{"len([1, 2, 3])", "3"},
	{"len(params.map)", "2"},
	{"len('')", "0"},
	{"count([params.map, params.map, 1], 'nope', 1)", "0"},
	{"count([params.map, params.map, 1], 'x', '1')", "2"},
	{"count(facts.gpus, 'name', 'H200') == len(facts.gpus)", "true"},
	{"count([], 'a', true)", "0"},
	{"count('a', 'a', true)", "! 'count' needs a list here, not text"},
	{"join(['a', 'b'], ', ')", "\"a, b\""},
	{"join([1, true, 2.5], '-')", "\"1-true-2.5\""},
	{"join([], ',')", "\"\""},
	{"split('a,b,,c', ',')", "[\"a\",\"b\",\"\",\"c\"]"},
	{"split('', ',')", "[\"\"]"},
	{"split('a::b', '::')", "[\"a\",\"b\"]"},
	{"replace('aXbX', 'X', '--')", "\"a--b--\""},
	{"replace('aaa', 'aa', 'a')", "\"aa\""},
	{"replace('abc', 'x', 'y')", "\"abc\""},
	{"int('42')", "42"},
	{"int(' -7 ')", "-7"},
	{"int(7)", "7"},
	{"int(7.9)", "7"},
	{"text(7)", "\"7\""},
	{"text(true)", "\"true\""},
	{"text(1.5)", "\"1.5\""},
	{"text('x')", "\"x\""},
	{"basename('/a/b.conf')", "\"b.conf\""},
	{"basename('/a/b/')", "\"b\""},
	{"basename('b')", "\"b\""},
	{"basename('/')", "\"/\""},
	{"basename('')", "\"\""},
	{"startswith('abc', 'ab')", "true"},
	{"startswith('abc', 'b')", "false"},
	{"endswith('abc', 'bc')", "true"},
	{"endswith('c', 'bc')", "false"},
	{"quote(12)", "\"'12'\""},
	{"quote(params.map)", "! a map cannot be written as text"},
	{"quote('')", "\"''\""},
	{"quote('a b; $(x)')", "\"'a b; $(x)'\""},
	{"quote('it' + \"'\" + 's')", "\"'it'\\\\''s'\""},
	{"exists('/etc/motd')", "true"},
	{"exists('/etc/none')", "false"},
	{"port_open(22) and not port_open(23)", "true"},
	{"version('chrony') == '1.2.3'", "true"},
	{"join(split(lower('A B'), ' '), '+')", "\"a+b\""},
	{"lower(1)", "! 'lower' needs text here, not integer"},
	{"join('a', ',')", "! 'join' needs a list here, not text"},
	{"join([[1]], ',')", "! a list cannot be written as text"},
	{"port_open('22')", "! 'port_open' needs an integer here, not text"},
	{"len(1)", "! 'len' measures text, a list or a map, not integer"},
	{"split('a', '')", "! the second argument of 'split' is empty"},
	{"replace('a', '', 'b')", "! the second argument of 'replace' is empty"},
	{"int('4x')", "! '4x' is not a whole number"},
	{"int(true)", "! 'bool' is not a whole number"},
	{"int(params.list)", "! 'list' is not a whole number"},
	{"text(params.map)", "! a map cannot be written as text"},
	{"contains('/etc/motd', 'x')", "! cannot ask the node"},
	{"if(1 < 2, 'a', params.nope)", "\"a\""},
	{"if(1 > 2, params.nope, 'b')", "\"b\""},
	{"if(1, 2, 3)", "! '1' is integer, not true or false"},
	{"2 + 3 * 4", "14"},
	{"-2 * 3", "-6"},
	{"1.5 * 2", "3.0"},
	{"9223372036854775807 * 2", "! the result is too large"},
	{"'a' * 2", "! cannot multiply text and integer"},
	{"let.nope", "! 'let.nope' is not defined here"},
	{"let['x']", "! 'let' is not a value by itself"},
};

/* Each is evaluated when it is read, and knows those before it only. */
TEST(lets)
{
	static const char *const TEXTS[] = {
		"params.map.x + '!'", "let.a + let.a", "params.nope", "let.e", "1"};
	static const char *const NAMES[] = {"a", "b", "broken", "late", "e"};
	static const struct world_case ASKED[] = {
		{"let.b", "\"1!1!\""},
		{"[let.a, let.b, let.a]", "[\"1!\",\"1!1!\",\"1!\"]"},
		{"default(let.broken, 'none')", "\"none\""},
		{"let.broken", "! 'params.nope' is not defined"},
		{"let.late", "! 'let.e' is not defined here"},
		{"let.e", "1"},
	};
	const struct origin at = {.file = "case", .line = 1, .col = 1};
	struct expr_let lets[5];
	struct arena *a = arena_new();
	struct err err;

	for (unsigned i = 0; i < 5; i++) {
		struct expr *e = NULL;

		assert_int_equal(expr_parse(a, str_of(TEXTS[i]), &at, &e, &err), 0);
		lets[i] = (struct expr_let){NAMES[i], e};
	}
	world_cases_with(ASKED, sizeof ASKED / sizeof *ASKED, lets, 5);
	arena_free(a);
}

TEST(functions)
{
	world_cases(CASES, sizeof CASES / sizeof *CASES);
}

TEST(the_list_of_names_is_the_table)
{
	unsigned n = 0;

	for (; EXPR_FN_NAMES[n]; n++)
		assert_non_null(expr_fn_find(str_of(EXPR_FN_NAMES[n])));
	assert_int_equal(n, 46);
	assert_null(expr_fn_find(str_of("eval")));
}

TEST(a_split_has_a_cap)
{
	struct world w;
	AUTO_BUF got;

	buf_init(&got, 256);
	world_init(&w);
	{
		char *many = malloc(20001);

		assert_non_null(many);
		memset(many, ',', 20000);
		many[20000] = '\0';
		json_object_set_new(
			json_object_get(w.scope.names, "vars"), "many", json_string(many));
		free(many);
	}
	world_eval(&w, "split(vars.many, ',')", &got);
	assert_string_equal(buf_text(&got), "! more than 10000 parts");
	world_done(&w);
}

T_MAIN
