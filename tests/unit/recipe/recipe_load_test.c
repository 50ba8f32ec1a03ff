/* recipe_load_test - a whole recipe as a structure, from text and from a folder. */
#include "agent/recipe/recipe.h"
#include "tests/unit/recipe/world.h"

#include <sys/stat.h>

static const char WHOLE[] =
	"recipe: demo\n"
	"about: one line\n"
	"params:\n"
	"  port: {type: int, default: 9100, min: 1, max: 65535, about: TCP port}\n"
	"data: {ports: {web: [80, '443']}}\n"
	"let: {first: \"data.ports.web[0]\", both: \"let.first + params.port\"}\n"
	"when: facts.os.family == 'debian' and params.port > 1\n"
	"needs: [base, time]\n"
	"disrupts: [docker]\n"
	"steps:\n"
	"  - package: {names: [a, b]}\n"
	"    notify: restart it\n"
	"    as: pkg\n"
	"  - name: the file\n"
	"    file: {path: /etc/x, content: '{{ params.port }}'}\n"
	"    when: steps.pkg.changed\n"
	"    notify: [restart it, reload it]\n"
	"handlers:\n"
	"  - name: restart it\n"
	"    service: {name: it, state: restarted}\n"
	"    when: steps.pkg.changed\n"
	"  - {name: reload it, service: {name: it, state: reloaded}}\n"
	"check:\n"
	"  - name: answers\n"
	"    expect: port_open(params.port)\n"
	"    within: 15\n"
	"  - expect: exists('/etc/x')\n"
	"    id: F07\n"
	"    level: warn\n"
	"    when: let.both > 1\n"
	"    message: 'no {{ params.port }}'\n"
	"    hint: do it\n"
	"undo:\n"
	"  - package: {names: [a, b], state: absent}\n"
	"    as: pkg\n";

static void check_whole(const struct recipe *r)
{
	assert_string_equal(r->name, "demo");
	assert_string_equal(r->about, "one line");
	assert_int_equal(r->n_params, 1);
	assert_true(r->params[0].has_min && r->params[0].has_max && !r->params[0].required);
	assert_non_null(r->when);
	assert_int_equal(r->n_needs, 2);
	assert_string_equal(r->needs[1], "time");
	assert_int_equal(r->n_disrupts, 1);
	assert_int_equal(r->n_steps, 2);
	assert_string_equal(r->steps[0].name, "package a, b");
	assert_string_equal(r->steps[0].as, "pkg");
	assert_null(r->steps[0].when);
	assert_string_equal(r->steps[1].name, "the file");
	assert_int_equal(r->steps[1].index, 1);
	assert_int_equal(r->steps[1].n_notify, 2);
	assert_string_equal(r->steps[1].notify[1], "reload it");
	assert_int_equal(r->steps[1].at->line, 14);
	assert_int_equal(r->n_handlers, 2);
	assert_int_equal(r->n_checks, 2);
	assert_int_equal(r->checks[0].within, 15);
	assert_string_equal(r->checks[1].name, "exists('/etc/x')");
	assert_int_equal(r->n_lets, 2);
	assert_string_equal(r->lets[1].name, "both");
	assert_int_equal(json_array_size(json_get(json_get(r->data, "ports"), "web")), 2);
	assert_string_equal(r->checks[1].id, "F07");
	assert_int_equal(r->checks[0].level, CHECK_FAIL);
	assert_int_equal(r->checks[1].level, CHECK_WARN);
	assert_true(r->checks[1].when && r->checks[1].message && r->checks[1].hint);
	assert_int_equal(r->n_undo, 1);
}

TEST(a_whole_recipe_from_text)
{
	struct arena *a = arena_new();
	struct recipe *r = NULL;
	struct err err = {0};

	if (recipe_parse(a, "demo.yaml", str_of(WHOLE), NULL, &r, &err) < 0)
		fail_msg("%u:%u %s", err.line, err.col, err.msg);
	check_whole(r);
	recipe_done(r);
	recipe_done(r);
	recipe_done(NULL);
	arena_free(a);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

TEST(a_folder)
{
	struct arena *a = arena_new();
	const char *dir = arena_printf(a, "%s/demo", t_dir());
	struct recipe *r = NULL;
	struct err err = {0};

	assert_int_equal(recipe_load(a, dir, &r, &err), -E_NOTFOUND);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(recipe_load(a, dir, &r, &err), -E_NOTFOUND);
	write_text(arena_printf(a, "%s/recipe.yaml", dir), WHOLE);
	assert_int_equal(recipe_load(a, arena_printf(a, "%s//", dir), &r, &err), 0);
	check_whole(r);
	recipe_done(r);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(recipe_load(a, ".", &r, &err), 0);
	recipe_done(r);
	assert_int_equal(chdir("/"), 0);
	arena_free(a);
}

TEST(presets_are_dropped_when_loading_fails)
{
	struct arena *a = arena_new();
	struct recipe *r = NULL;
	struct err err = {0};
	static const char *const CASES[] = {
		"recipe: demo\nparams:\n  a: {type: list, default: [x]}\n  b: {type: int, default: y}\n"
		"steps: []\n",
		"recipe: demo\nparams:\n  a: {type: map, default: {x: [1.10]}}\nsteps: []\n",
		"recipe: demo\nparams:\n  a: {type: text, default: x}\nsteps: [x]\n",
		"",
		"\n# nothing\n",
	};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		assert_true(recipe_parse(a, "demo", str_of(CASES[i]), NULL, &r, &err) < 0);
		assert_string_equal(err.file, "demo");
	}
	assert_null(r);
	arena_free(a);
}

TEST(steps_have_a_cap)
{
	struct arena *a = arena_new();
	struct recipe *r = NULL;
	struct err err = {0};
	AUTO_BUF text;

	buf_init(&text, 1u << 20);
	buf_add_text(&text, "recipe: demo\nsteps:\n");
	for (int i = 0; i <= RECIPE_STEPS_MAX; i++)
		buf_add_text(&text, "- group: {name: g}\n");
	assert_int_equal(recipe_parse(a, "demo", buf_str(&text), NULL, &r, &err), -E_LIMIT);
	arena_free(a);
}

T_MAIN
