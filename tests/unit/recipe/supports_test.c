/* supports - which systems a recipe is for, and how the others are told. */
#include "agent/base/err.h"
#include "agent/recipe/recipe.h"
#include "agent/recipe/supports.h"
#include "tests/unit/t.h"

static const struct {
	const char *supports; /* NULL: no such key */
	const char *os;
	bool fits;
} CASES[] = {
	{"debian 11-13", "{\"id\":\"debian\",\"version_id\":\"12\"}", true},
	{"debian 11-13", "{\"id\":\"debian\",\"version_id\":\"13\"}", true},
	{"debian 11-13", "{\"id\":\"debian\",\"version_id\":\"10\"}", false},
	{"debian 11-13", "{\"id\":\"debian\",\"version_id\":\"14\"}", false},
	{"debian 11-13", "{\"id\":\"debian\"}", false},
	{"debian 11-13", "{\"id\":\"ubuntu\",\"version_id\":\"12\"}", false},
	{"ubuntu 22.04", "{\"id\":\"ubuntu\",\"version_id\":\"22.04\"}", true},
	{"ubuntu 22.04", "{\"id\":\"ubuntu\",\"version_id\":\"22.10\"}", false},
	{"ubuntu 22.04-24.04", "{\"id\":\"ubuntu\",\"version_id\":\"23.10\"}", true},
	{"ubuntu 22", "{\"id\":\"ubuntu\",\"version_id\":\"22.10\"}", true},
	{"rhel 8-9", "{\"id\":\"rocky\",\"version_id\":\"9.6\"}", true},
	{"rhel 8-9", "{\"id\":\"rhel\",\"version_id\":\"8.10\"}", true},
	{"rhel 8-9", "{\"id\":\"almalinux\",\"version_id\":\"10.0\"}", false},
	{"rhel 9.4-9.6", "{\"id\":\"rocky\",\"version_id\":\"9.2\"}", false},
	{"rhel 8-9", "{\"id\":\"redos\",\"version_id\":\"8.0\"}", false},
	{"rocky 9", "{\"id\":\"rhel\",\"version_id\":\"9.1\"}", false},
	{"fedora", "{\"id\":\"fedora\",\"version_id\":\"42\"}", true},
	{"debian, fedora", "{\"id\":\"fedora\"}", true},
	{"astra 1.8", "{\"id\":\"astra\",\"version_id\":\"1.8_x86-64\",\"experimental\":true}",
		true},
	{"astra 1.7", "{\"id\":\"astra\",\"version_id\":\"1.8_x86-64\",\"experimental\":true}",
		false},
	{NULL, "{\"id\":\"astra\",\"experimental\":true}", false},
	{NULL, "{\"id\":\"unheard-of\"}", true},
	{NULL, "{}", true},
};

static struct recipe *load(struct arena *a, const char *supports, struct err *err)
{
	struct recipe *r = NULL;
	char text[512];

	snprintf(text, sizeof text, "recipe: demo\n%s%s%ssteps: []\n",
		supports ? "supports: [" : "", supports ? supports : "", supports ? "]\n" : "");
	return recipe_parse(a, "demo/recipe.yaml", str_of(text), NULL, &r, err) < 0 ? NULL : r;
}

TEST(supports_judges_a_system)
{
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct arena *a = arena_new();
		json_t *os = json_loads(CASES[i].os, 0, NULL);
		struct err err;
		struct recipe *r = load(a, CASES[i].supports, &err);

		if (!r)
			fail_msg("%s: %s", CASES[i].supports, err.msg);
		if ((recipe_supports(r, os, &err) == 0) != CASES[i].fits)
			fail_msg("case %zu", i);
		if (!CASES[i].fits) {
			assert_int_equal(err.code, E_UNSUPPORTED);
			assert_true(err.hint[0]);
		}
		recipe_done(r);
		json_decref(os);
		arena_free(a);
	}
}

TEST(supports_tells_what_is_supported)
{
	struct arena *a = arena_new();
	json_t *os = json_loads(
		"{\"id\":\"rocky\",\"version_id\":\"9.5\",\"name\":\"Rocky Linux 9.5\"}", 0, NULL);
	struct err err;
	struct recipe *r = load(a, "debian 11-13, ubuntu 22.04-24.04", &err);

	assert_non_null(r);
	assert_int_equal(recipe_supports(r, os, &err), -E_UNSUPPORTED);
	assert_string_equal(err.msg, "recipe 'demo' does not support Rocky Linux 9.5 (rocky 9.5)");
	assert_string_equal(err.hint, "it supports debian 11-13, ubuntu 22.04-24.04");
	recipe_done(r);
	r = load(a, NULL, &err);
	json_object_set_new(os, "experimental", json_true());
	assert_int_equal(recipe_supports(r, os, &err), -E_UNSUPPORTED);
	assert_string_equal(
		err.msg, "Rocky Linux 9.5 is experimental, and recipe 'demo' does not name it");
	recipe_done(r);
	json_decref(os);
	arena_free(a);
}

static const char *const WRONG[] = {"debain 12", "\"\"", "debian twelve", "debian 11-",
	"debian -12", "debian 11.", "{a: b}", "debian 11 12"};

TEST(supports_refuses_what_it_cannot_read)
{
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
		struct arena *a = arena_new();
		struct err err;

		if (load(a, WRONG[i], &err))
			fail_msg("'%s' was taken", WRONG[i]);
		assert_int_equal(err.line, 2);
		arena_free(a);
	}
}

T_MAIN
