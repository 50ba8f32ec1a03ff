/* recipe_params_test - what a run gives, typed and completed; text comes from the command line. */
#include "agent/recipe/recipe.h"
#include "tests/unit/recipe/world.h"

static const char RECIPE[] =
	"recipe: demo\n"
	"params:\n"
	"  port: {type: int, default: 9100, min: 1, max: 65535, about: TCP port}\n"
	"  name: {type: text, default: ''}\n"
	"  rate: {type: num, default: 0.5, max: 1}\n"
	"  tls: {type: bool, default: false}\n"
	"  mode: {type: choice, choices: [fast, safe], default: safe}\n"
	"  users: {type: list, default: [a, 'b c']}\n"
	"  labels: {type: map, default: {x: 1, y: ''}}\n"
	"steps: []\n";

static void show(const struct recipe *r, const char *given, const char *name, struct buf *out)
{
	AUTO_JSON in = given ? world_json(given) : NULL;
	AUTO_JSON made = NULL;
	struct err err = {0};

	if (recipe_params(r, in, &made, &err) < 0)
		buf_addf(out, "! %s", err.msg);
	else if (name)
		json_write(json_object_get(made, name), out);
	else
		json_write(made, out);
}

static struct recipe *load(struct arena *a, const char *text)
{
	struct recipe *r = NULL;
	struct err err = {0};

	if (recipe_parse(a, "demo", str_of(text), NULL, &r, &err) < 0)
		fail_msg("%s", err.msg);
	return r;
}

TEST(given_values)
{
	static const struct {
		const char *given, *name, *want;
	} CASES[] = {
		{NULL, NULL,
			"{\"labels\":{\"x\":1,\"y\":\"\"},\"mode\":\"safe\",\"name\":\"\","
			"\"port\":9100,\"rate\":0.5,\"tls\":false,\"users\":[\"a\",\"b c\"]}"},
		{"{\"port\": \"80\"}", "port", "80"},
		{"{\"port\": 80}", "port", "80"},
		{"{\"port\": 80.0}", "port", "! 'port' must be a whole number, not number"},
		{"{\"port\": \"0\"}", "port", "! 'port' must be between 1 and 65535, not 0"},
		{"{\"port\": 70000}", "port", "! 'port' must be between 1 and 65535, not 70000"},
		{"{\"port\": \"\"}", "port", "! 'port' must be a whole number, not ''"},
		{"{\"port\": true}", "port", "! 'port' must be a whole number, not bool"},
		{"{\"port\": null}", "port", "! 'port' must be a whole number, not nothing"},
		{"{\"rate\": \"0.25\"}", "rate", "0.25"},
		{"{\"rate\": 1}", "rate", "1"},
		{"{\"rate\": \"1.5\"}", "rate", "! 'rate' must be at most 1, not 1.5"},
		{"{\"tls\": \"true\"}", "tls", "true"},
		{"{\"tls\": true}", "tls", "true"},
		{"{\"tls\": \"yes\"}", "tls", "! 'tls' must be true or false, not 'yes'"},
		{"{\"tls\": 1}", "tls", "! 'tls' must be true or false, not integer"},
		{"{\"mode\": \"fast\"}", "mode", "\"fast\""},
		{"{\"mode\": \"slow\"}", "mode", "! 'mode' must be fast or safe, not 'slow'"},
		{"{\"mode\": 1}", "mode", "! 'mode' must be one of its choices, not integer"},
		{"{\"name\": \"no\"}", "name", "\"no\""},
		{"{\"name\": 1}", "name", "! 'name' must be text, not integer"},
		{"{\"users\": \"a, b\"}", "users", "[\"a\",\"b\"]"},
		{"{\"users\": \"\"}", "users", "[]"},
		{"{\"users\": [1, \"x\", true]}", "users", "[1,\"x\",true]"},
		{"{\"users\": [[1, null]]}", "users", "[[1,null]]"},
		{"{\"users\": [[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]}", "users",
			"! 'users' is nested deeper than 20"},
		{"{\"labels\": {\"a\": {\"$unknown\": \"x\"}}}", "labels",
			"! 'labels' holds the key '$unknown'"},
		{"{\"users\": 1}", "users", "! 'users' must be a list, not integer"},
		{"{\"labels\": \"a=1, b = x=y\"}", "labels", "{\"a\":\"1\",\"b\":\"x=y\"}"},
		{"{\"labels\": {\"a\": 1}}", "labels", "{\"a\":1}"},
		{"{\"labels\": \"a\"}", "labels", "! 'labels' is a map, and 'a' is no part of one"},
		{"{\"labels\": \"=1\"}", "labels",
			"! 'labels' is a map, and '=1' is no part of one"},
		{"{\"labels\": [1]}", "labels", "! 'labels' must be a map, not list"},
		{"{\"prot\": 1}", "port", "! the recipe 'demo' has no parameter 'prot'"},
		{"[1]", "port", "! parameters must be a map, not list"},
	};
	struct arena *a = arena_new();
	struct recipe *r = load(a, RECIPE);

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		AUTO_BUF got;

		buf_init(&got, 1024);
		show(r, CASES[i].given, CASES[i].name, &got);
		assert_string_equal(buf_text(&got), CASES[i].want);
	}
	recipe_done(r);
	arena_free(a);
}

TEST(required_values)
{
	struct arena *a = arena_new();
	struct recipe *r = load(a, "recipe: demo\nparams:\n  n: {type: int, about: how many}\n"
				   "steps: []\n");
	struct err err = {0};
	json_t *out = NULL;

	assert_true(r->params[0].required);
	assert_int_equal(recipe_params(r, NULL, &out, &err), -E_SCHEMA);
	assert_string_equal(err.msg, "the parameter 'n' must be given");
	assert_string_equal(err.hint, "n is a whole number: how many");
	recipe_done(r);
	arena_free(a);
}

TEST(presets_are_not_shared)
{
	struct arena *a = arena_new();
	struct recipe *r = load(a, RECIPE);
	struct err err = {0};
	json_t *one = NULL, *two = NULL;

	assert_int_equal(recipe_params(r, NULL, &one, &err), 0);
	json_array_clear(json_object_get(one, "users"));
	assert_int_equal(recipe_params(r, NULL, &two, &err), 0);
	assert_int_equal(json_array_size(json_object_get(two, "users")), 2);
	json_decref(one);
	json_decref(two);
	recipe_done(r);
	arena_free(a);
}

T_MAIN
