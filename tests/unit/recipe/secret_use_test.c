/* secret_use_test - which arguments are marked as secret, and what a secret parameter takes. The
 * refusals stand in tests/plan/errors/secrets.test. */
#include "agent/base/arena.h"
#include "agent/base/err.h"
#include "agent/recipe/recipe.h"
#include "tests/unit/t.h"

static const char RECIPE[] =
	"recipe: demo\n"
	"params:\n"
	"  token: {type: secret, about: what it logs in with}\n"
	"  port: {type: int, default: 1}\n"
	"steps:\n"
	"  - file: {path: /etc/a, content: \"key={{ params.token }} {{ params.port }}\"}\n"
	"  - file: {path: /etc/b, content: \"{{ params.port }}\"}\n"
	"  - template: {path: /etc/c, source: c.conf}\n"
	"  - file: {path: /etc/d, source: d}\n"
	"  - command: {run: [login], stdin: \"{{ params.token }}\"}\n";

static struct recipe *parse(struct arena *a, const char *text)
{
	struct recipe *r = NULL;
	struct err err = {0};

	if (recipe_parse(a, "demo/recipe.yaml", str_of(text), NULL, &r, &err) < 0)
		fail_msg("%s", err.msg);
	return r;
}

static bool is_secret(const struct step *s, const char *param)
{
	for (unsigned i = 0; i < s->n_args; i++)
		if (strcmp(s->args[i].param->name, param) == 0)
			return s->args[i].secret;
	fail_msg("no argument '%s'", param);
	return false;
}

TEST(marks_arguments_that_read_a_secret)
{
	struct arena *a = arena_new();
	struct recipe *r = parse(a, RECIPE);

	assert_true(is_secret(&r->steps[0], "content"));
	assert_false(is_secret(&r->steps[0], "path"));
	assert_false(is_secret(&r->steps[1], "content"));
	/* the agent cannot look into the file when it loads, so any template may hold one */
	assert_true(is_secret(&r->steps[2], "source"));
	assert_false(is_secret(&r->steps[3], "source"));
	assert_true(is_secret(&r->steps[4], "stdin"));
	assert_false(is_secret(&r->steps[4], "run"));
	recipe_done(r);
	arena_free(a);
}

TEST(keeps_the_name_of_a_secret)
{
	static const char *const given[] = {
		"{\"token\": \"secret:db-root\"}", "{\"token\": {\"$secret\": \"db-root\"}}"};
	struct arena *a = arena_new();
	struct recipe *r = parse(a, RECIPE);

	for (size_t i = 0; i < 2; i++) {
		AUTO_JSON in = json_loads(given[i], 0, NULL);
		AUTO_JSON out = NULL;
		AUTO_JSON again = NULL;

		assert_int_equal(recipe_params(r, in, &out, NULL), 0);
		assert_string_equal(
			json_get_str(json_get(out, "token"), RECIPE_SECRET_KEY, ""), "db-root");
		/* what the controller made of it, the agent reads */
		assert_int_equal(recipe_params(r, out, &again, NULL), 0);
		assert_true(json_equal(out, again));
	}
	recipe_done(r);
	arena_free(a);
}

TEST(never_repeats_what_may_be_a_value)
{
	static const char *const given[] = {"{\"token\": \"hunter2\"}", "{\"token\": \"secret:\"}",
		"{\"token\": \"secret:hunter2 hunter2\"}", "{\"token\": 5}",
		"{\"token\": {\"$secret\": 5}}",
		"{\"token\": {\"$secret\": \"a\", \"b\": \"hunter2\"}}",
		"{\"token\": [\"hunter2\"]}", "{\"token\": null}"};
	struct arena *a = arena_new();
	struct recipe *r = parse(a, RECIPE);

	for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
		AUTO_JSON in = json_loads(given[i], 0, NULL);
		AUTO_JSON out = NULL;
		struct err err = {0};

		assert_int_equal(recipe_params(r, in, &out, &err), -E_SCHEMA);
		assert_null(strstr(err.msg, "hunter2"));
		assert_null(strstr(err.hint, "hunter2"));
	}
	recipe_done(r);
	arena_free(a);
}

T_MAIN
