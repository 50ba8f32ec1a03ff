/* step_load_test - names made for people, literal lists for each, and where names may be read. */
#include "agent/recipe/recipe.h"
#include "tests/unit/recipe/world.h"

static struct recipe *load(struct arena *a, const char *steps, struct err *err)
{
	struct recipe *r = NULL;
	const char *text = arena_printf(a, "recipe: demo\nsteps:\n%s", steps);

	return recipe_parse(a, "demo", str_of(text), NULL, &r, err) < 0 ? NULL : r;
}

TEST(names_are_made)
{
	static const struct world_case CASES[] = {
		{"- package: {names: [a, b, c]}", "package a, b, c"},
		{"- package: {names: '{{ item }}'}\n  each: [a]", "package {{ item }}"},
		{"- file: {path: /etc/x, content: ''}", "file /etc/x"},
		{"- command: {run: [sh, -c, true]}", "command sh -c true"},
		{"- command:\n    shell: |\n      first line\n      second", "command first line"},
		{"- command: {shell: ''}", "command "},
		{"- sysctl: {values: {a.b: 1, c.d: 2}}", "sysctl a.b, c.d"},
		{"- name: mine\n  group: {name: g}", "mine"},
		{"- line: {line: x, path: "
		 "/aaaaaaaaa/bbbbbbbbb/ccccccccc/ddddddddd/eeeeeeeee/fffffffff/ggg}",
			"line /aaaaaaaaa/bbbbbbbbb/ccccccccc/ddddddddd/eeeeeeeee/ffffff..."},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err err = {0};
		struct recipe *r = load(a, CASES[i].text, &err);

		if (!r)
			fail_msg("%s: %s", CASES[i].text, err.msg);
		assert_string_equal(r->steps[0].name, CASES[i].want);
		recipe_done(r);
	}
	arena_free(a);
}

TEST(each_is_an_expression_or_a_literal_list)
{
	static const struct world_case CASES[] = {
		{"- group: {name: '{{ item }}'}\n  each: [a, no, 12]", "[\"a\",\"no\",\"12\"]"},
		{"- group: {name: '{{ item.n }}'}\n  each: [{n: a}, {n: b}]",
			"[{\"n\":\"a\"},{\"n\":\"b\"}]"},
		{"- group: {name: '{{ item }}'}\n  each: node.roles", "[\"gpu\",\"ib\"]"},
		{"- group: {name: '{{ item }}'}\n  each: '[node.name, 1]'", "[\"n1\",1]"},
		{"- group: {name: '{{ item }}'}\n  each: []", "[]"},
	};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err err = {0};
		struct recipe *r = load(w.arena, CASES[i].text, &err);
		struct value v = {NULL, NULL};
		AUTO_BUF got;

		buf_init(&got, 256);
		if (!r)
			fail_msg("%s: %s", CASES[i].text, err.msg);
		world_show(expr_eval(r->steps[0].each, &w.scope, &v, &err), &v, &err, &got);
		assert_string_equal(buf_text(&got), CASES[i].want);
		value_done(&v);
		recipe_done(r);
	}
	world_done(&w);
}

TEST(names_are_readable_where_they_have_a_meaning)
{
	static const struct {
		const char *steps;
		bool good;
	} CASES[] = {
		{"- group: {name: g}\n  when: item == 'x'\n  each: [a]", true},
		{"- group: {name: g}\n  when: item == 'x'", false},
		{"- group: {name: g}\n  each: [a]\n- group: {name: '{{ item }}'}", false},
		{"- group: {name: g}\n  each: item.list", false},
		{"- group: {name: g}\n  as: s\n- group: {name: '{{ steps.s.x }}'}", true},
		{"- group: {name: g}\n  as: s\n  when: steps.s.changed", false},
		{"- group: {name: g}\n  when: \"'s' in steps\"", true},
		{"  []\nhandlers:\n- name: h\n  group: {name: g}\n  when: item", false},
		{"- group: {name: g}\n  as: s\nundo:\n- group: {name: '{{ steps.s.x }}'}", false},
		{"  []\nundo:\n- group: {name: g}\n  as: s\n- group: {name: '{{ steps.s.x }}'}",
			true},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err err = {0};
		struct recipe *r = load(a, CASES[i].steps, &err);

		if ((r != NULL) != CASES[i].good)
			fail_msg("%s: %s", CASES[i].steps, r ? "is accepted" : err.msg);
		recipe_done(r);
	}
	arena_free(a);
}

T_MAIN
