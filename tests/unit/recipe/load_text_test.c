/* load_text_test - sources and templates of a folder are judged when the recipe is loaded. */
#include "agent/recipe/recipe_priv.h"
#include "tests/unit/recipe/world.h"

#include <sys/stat.h>

static const char *folder(struct arena *a)
{
	const char *dir = arena_printf(a, "%s/demo", t_dir());

	mkdir(dir, 0755);
	mkdir(arena_printf(a, "%s/files", dir), 0755);
	mkdir(arena_printf(a, "%s/files/sub", dir), 0755);
	mkdir(arena_printf(a, "%s/templates", dir), 0755);
	return dir;
}

static void write_text(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static int load(struct arena *a, const char *dir, const char *step, struct err *err)
{
	struct recipe *r = NULL;
	const char *text = arena_printf(a, "recipe: demo\nsteps:\n  - %s\n", step);
	int rc = recipe_parse(a, "demo/recipe.yaml", str_of(text), dir, &r, err);

	recipe_done(r);
	return rc;
}

TEST(sources)
{
	struct arena *a = arena_new();
	const char *dir = folder(a);
	struct err err = {0};
	static const struct {
		const char *step;
		int rc;
	} CASES[] = {
		{"file: {path: /x, source: a.conf}", 0},
		{"file: {path: /x, source: sub/b.conf}", 0},
		{"file: {path: /x, source: sub}", -E_NOTFOUND},
		{"file: {path: /x, source: none}", -E_NOTFOUND},
		{"file: {path: /x, source: '{{ vars.x }}.conf'}", 0},
		{"file: {path: /x, source: t.conf}", -E_NOTFOUND},
		{"template: {path: /x, source: t.conf}", 0},
		{"template: {path: /x, source: a.conf}", -E_NOTFOUND},
		{"template: {path: /x, source: item.conf}", -E_NOTFOUND},
		{"template: {path: /x, source: item.conf}\n    each: [a]", 0},
		{"template: {path: /x, source: bad.conf}", -E_SYNTAX},
		{"template: {path: /x, source: latin.conf}", -E_SYNTAX},
	};

	write_text(arena_printf(a, "%s/files/a.conf", dir), "x", 1);
	write_text(arena_printf(a, "%s/files/sub/b.conf", dir), "x", 1);
	write_text(arena_printf(a, "%s/templates/t.conf", dir), "{{ vars.x }}", 12);
	write_text(arena_printf(a, "%s/templates/item.conf", dir), "{{ item }}", 10);
	write_text(arena_printf(a, "%s/templates/bad.conf", dir), "a\n{{ item", 9);
	write_text(arena_printf(a, "%s/templates/latin.conf", dir), "gr\xfcn", 4);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		int rc = load(a, dir, CASES[i].step, &err);

		if (rc != CASES[i].rc)
			fail_msg("%s: %d %s", CASES[i].step, rc, err.msg);
	}
	assert_int_equal(load(a, NULL, "file: {path: /x, source: none}", &err), 0);
	arena_free(a);
}

TEST(a_template_that_is_too_large)
{
	struct arena *a = arena_new();
	const char *dir = folder(a);
	struct err err = {0};
	char *big = malloc((1u << 20) + 1);

	assert_non_null(big);
	memset(big, 'x', (1u << 20) + 1);
	write_text(arena_printf(a, "%s/templates/big", dir), big, (1u << 20) + 1);
	free(big);
	assert_int_equal(load(a, dir, "template: {path: /x, source: big}", &err), -E_LIMIT);
	assert_int_equal(err.line, 3);
	arena_free(a);
}

TEST(identifiers)
{
	assert_true(load_is_identifier(STR_LIT("a_B9")));
	assert_true(load_is_identifier(STR_LIT("_x")));
	assert_false(load_is_identifier(STR_LIT("")));
	assert_false(load_is_identifier(STR_LIT("9a")));
	assert_false(load_is_identifier(STR_LIT("a-b")));
	assert_false(load_is_identifier(STR_LIT("\xC3\xBC")));
}

T_MAIN
