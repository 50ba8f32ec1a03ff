/* expr_eval_test - one table: an expression and what it gives ("? why" unknown, "! text" error). */
#include "tests/unit/recipe/world.h"

#define OPEN "? depends on step 2 (package)"

static const struct world_case VALUES[] = {
	{"1", "1"},
	{"-1", "-1"},
	{"- 1 - - 1", "0"},
	{"1.5", "1.5"},
	{"'a'", "\"a\""},
	{"\"a'b\"", "\"a'b\""},
	{"true", "true"},
	{"[1, 'a', true]", "[1,\"a\",true]"},
	{"[]", "[]"},
	{"[[1], [2]][1][0]", "2"},
	{"1 + 2 - 3 + 4", "4"},
	{"10 - 2 - 3", "5"},
	{"10 - (2 - 3)", "11"},
	{"1 + 0.5", "1.5"},
	{"0.5 - 1", "-0.5"},
	{"-params.rate", "-1.5"},
	{"'a' + 'b'", "\"ab\""},
	{"[1] + [2]", "[1,2]"},
	{"9223372036854775807", "9223372036854775807"},
	{"-9223372036854775807 - 1", "-9223372036854775808"},
	{"params.port", "80"},
	{"params['port']", "80"},
	{"vars['a-b']", "7"},
	{"vars.deep.er.est", "\"down\""},
	{"node.roles[1]", "\"ib\""},
	{"item", "\"i\""},
	{"facts.os.id", "\"debian\""},
	{"facts['os']['id']", "\"debian\""},
	{"facts.gpus[1].name", "\"H200\""},
	{"params", "{\"list\":[\"a\",\"b\"],\"map\":{\"x\":\"1\",\"y\":\"2\"},\"name\":\"web\","
		   "\"none\":null,\"port\":80,\"rate\":1.5,\"tls\":true}"},
};

static const struct world_case COMPARISONS[] = {
	{"1 == 1", "true"},
	{"1 == 1.0", "true"},
	{"1 != 2", "true"},
	{"1 < 2", "true"},
	{"2 <= 2", "true"},
	{"1 > 2", "false"},
	{"1 >= 1.5", "false"},
	{"9223372036854775807 == 9223372036854775806", "false"},
	{"'a' < 'b'", "true"},
	{"'ab' > 'a'", "true"},
	{"'a' == 'a'", "true"},
	{"'1.10' == '1.1'", "false"},
	{"true == true", "true"},
	{"true != false", "true"},
	{"[1, 2] == [1, 2]", "true"},
	{"[1, 2] == [2, 1]", "false"},
	{"'a' in ['a', 'b']", "true"},
	{"'c' not in ['a', 'b']", "true"},
	{"1 in []", "false"},
	{"'x' in params.map", "true"},
	{"'z' in params.map", "false"},
	{"'eb' in params.name", "true"},
	{"'' in 'a'", "true"},
	{"not 'x' in params.map", "false"},
	{"1 + 1 == 2 and 'a' + 'b' == 'ab'", "true"},
	{"true or false and false", "true"},
	{"(true or false) and false", "false"},
	{"not true or true", "true"},
	{"not (true or true)", "false"},
	{"not not true", "true"},
	{"facts.cpu.cores - 60 > 3 and facts.os.id in ['debian', 'ubuntu']", "true"},
};

static const struct world_case UNKNOWNS[] = {
	{"steps.open", OPEN},
	{"steps.open.changed", OPEN},
	{"steps['open'].a.b", OPEN},
	{"steps.open.changed == true", OPEN},
	{"not steps.open.changed", OPEN},
	{"-steps.open.n", OPEN},
	{"1 + steps.open.n", OPEN},
	{"steps.open.n + 1", OPEN},
	{"[1, steps.open.n]", OPEN},
	{"[1, 2][steps.open.n]", OPEN},
	{"facts[steps.open.n]", OPEN},
	{"steps.open.n in [1]", OPEN},
	{"1 in steps.open.list", OPEN},
	{"lower(steps.open.t)", OPEN},
	{"default(steps.open.t, 'x')", OPEN},
	{"default(params.missing, steps.open.t)", OPEN},
	{"false and steps.open.changed", "false"},
	{"steps.open.changed and false", "false"},
	{"true and steps.open.changed", OPEN},
	{"steps.open.changed and true", OPEN},
	{"true or steps.open.changed", "true"},
	{"steps.open.changed or true", "true"},
	{"false or steps.open.changed", OPEN},
	{"steps.open.changed or false", OPEN},
	{"steps.open.changed and running('x')", OPEN},
	{"running('x')", "? depends on step 1 (service)"},
	{"not running('x') or steps.done.changed", "true"},
};

static const struct world_case ERRORS[] = {
	{"1 == 'a'", "! cannot compare integer and text"},
	{"'80' == params.port", "! cannot compare text and integer"},
	{"params.list == 'a'", "! cannot compare list and text"},
	{"true == 'true'", "! cannot compare bool and text"},
	{"1 in ['a']", "! cannot compare integer and text"},
	{"'a' < 1", "! cannot order text and integer"},
	{"true < false", "! cannot order bool and bool"},
	{"[1] < [2]", "! cannot order list and list"},
	{"1 + 'a'", "! cannot add integer and text"},
	{"'a' - 'b'", "! cannot subtract text and text"},
	{"[1] + 1", "! cannot add list and integer"},
	{"-'a'", "! '-' needs a number, not text"},
	{"9223372036854775807 + 1", "! the result is too large"},
	{"-9223372036854775807 - 2", "! the result is too large"},
	{"-(-9223372036854775807 - 1)", "! the result is too large"},
	{"not 1", "! '1' is integer, not true or false"},
	{"params.name and true", "! 'params.name' is text, not true or false"},
	{"true and params.list", "! 'params.list' is list, not true or false"},
	{"steps.open.changed and 1", "! '1' is integer, not true or false"},
	{"1 in 2", "! cannot look for integer in integer"},
	{"1 in 'a1'", "! cannot look for integer in text"},
	{"params.prot", "! 'params.prot' is not defined"},
	{"params.none", "! 'params.none' is not defined"},
	{"params['prot']", "! 'params['prot']' is not defined"},
	{"vars.deep.err.est", "! 'vars.deep.err' is not defined"},
	{"facts.os.name", "! 'facts.os.name' is not defined"},
	{"facts.nothing.x", "! there is no group of facts 'nothing'"},
	{"facts.gone.x", "! there is no group of facts 'gone'"},
	{"facts.broken.x", "! cannot read the facts"},
	{"facts[1]", "! a group of facts is named by text"},
	{"node.roles[2]", "! 'node.roles' has 2 items, there is no item 2"},
	{"node.roles[-1]", "! 'node.roles' has 2 items, there is no item -1"},
	{"node.roles['a']", "! an item of a list is named by its number, not text"},
	{"node[0]", "! a field of a map is named by text, not integer"},
	{"node.name.x", "! 'node.name' is text, it has no fields"},
	{"params.port[0]", "! 'params.port' is integer, it has no fields"},
	{"node.roles.x", "! 'node.roles' is a list, it has no fields"},
	{"(1 + 2).x", "! '(1 + 2)' is integer, it has no fields"},
};

#define RUN(table) world_cases(table, sizeof table / sizeof *table)

TEST(values)
{
	RUN(VALUES);
}

TEST(comparisons)
{
	RUN(COMPARISONS);
}

TEST(unknown_goes_through)
{
	RUN(UNKNOWNS);
}

TEST(errors)
{
	RUN(ERRORS);
}

TEST(default_takes_only_what_is_undefined)
{
	static const struct world_case CASES[] = {
		{"default(params.name, 'x')", "\"web\""},
		{"default(params.missing, 'x')", "\"x\""},
		{"default(params.none, 'x')", "\"x\""},
		{"default(vars.a.b.c, 1 + 1)", "2"},
		{"default(facts.nothing.x, 'x')", "\"x\""},
		{"default(node.roles[9], 'x')", "\"x\""},
		{"default(params.missing, params.also)", "! 'params.also' is not defined"},
		{"default(1 + 'a', 'x')", "! cannot add integer and text"},
		{"default(facts.broken.x, 'x')", "! cannot read the facts"},
	};

	RUN(CASES);
}

static struct expr *parse(struct world *w, const char *text)
{
	struct expr *e = NULL;
	struct err err = {0};

	if (expr_parse(w->arena, str_of(text), NULL, &e, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return e;
}

TEST(facts_are_gathered_by_group_and_only_when_touched)
{
	struct world w;
	struct value v;
	struct err err;

	world_init(&w);
	assert_int_equal(expr_eval(parse(&w, "true or facts.os.id == 'x'"), &w.scope, &v, &err), 0);
	assert_int_equal(w.gathered, 0);
	value_done(&v);
	assert_int_equal(expr_eval(parse(&w, "facts.os.id == 'x'"), &w.scope, &v, &err), 0);
	assert_int_equal(w.gathered, 1);
	value_done(&v);
	world_done(&w);
}

TEST(without_callbacks_facts_and_probes_are_unknown)
{
	const struct scope nothing = {0};
	struct world w;
	struct value v;
	struct err err;

	world_init(&w);
	assert_int_equal(expr_eval(parse(&w, "facts.os.id"), &nothing, &v, &err), 0);
	assert_string_equal(v.unknown, "facts are not known here");
	assert_int_equal(expr_eval(parse(&w, "exists('/x')"), &nothing, &v, &err), 0);
	assert_string_equal(v.unknown, "the node's state is not known here");
	assert_int_equal(expr_eval(parse(&w, "item"), &nothing, &v, &err), -E_NOTFOUND);
	assert_int_equal(expr_eval(parse(&w, "params.x"), &nothing, &v, &err), -E_NOTFOUND);
	world_done(&w);
}

TEST(a_condition_is_true_false_or_unknown)
{
	const char *unknown = "untouched";
	struct world w;
	struct err err;
	bool yes = false;

	world_init(&w);
	assert_int_equal(
		expr_eval_bool(parse(&w, "params.tls"), &w.scope, &yes, &unknown, &err), 0);
	assert_true(yes);
	assert_null(unknown);
	assert_int_equal(
		expr_eval_bool(parse(&w, "steps.open.x"), &w.scope, &yes, &unknown, &err), 0);
	assert_false(yes);
	assert_string_equal(unknown, "depends on step 2 (package)");
	assert_int_equal(
		expr_eval_bool(parse(&w, "'yes'"), &w.scope, &yes, &unknown, &err), -E_SCHEMA);
	assert_string_equal(err.msg, "''yes'' is text, not true or false");
	world_done(&w);
}

TEST(texts_that_grow_are_capped)
{
	struct world w;
	struct value v;
	struct err err;
	char *big = malloc(EXPR_TEXT_MAX + 2);

	assert_non_null(big);
	memset(big, 'x', EXPR_TEXT_MAX + 1);
	big[EXPR_TEXT_MAX + 1] = '\0';
	world_init(&w);
	json_object_set_new(json_object_get(w.scope.names, "vars"), "big", json_string(big));
	free(big);
	assert_int_equal(expr_eval(parse(&w, "vars.big + 'y'"), &w.scope, &v, &err), -E_LIMIT);
	assert_int_equal(expr_eval(parse(&w, "upper(vars.big)"), &w.scope, &v, &err), -E_LIMIT);
	world_done(&w);
}

T_MAIN
