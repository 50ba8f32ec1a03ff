/* template_parse_test - what is refused, and what a template says of itself. */
#include "tests/unit/recipe/world.h"

static int parse(struct arena *a, const char *text, struct template **out, struct err *err)
{
	const struct origin at = {.file = "case", .line = 1, .col = 1};

	return template_parse(a, str_of(text), &at, out, err);
}

TEST(errors_have_place)
{
	static const struct {
		const char *text;
		unsigned line, col;
		const char *msg;
	} CASES[] = {
		{"a\n {{ params.x", 2, 2, "'{{' is not closed"},
		{"{{ 'a }}", 1, 1, "'{{' is not closed"},
		{"{% if true", 1, 1, "'{%' is not closed"},
		{"{# never", 1, 1, "'{#' is not closed"},
		{"{{ }}", 1, 3, "the expression is empty"},
		{"{{ nobody }}", 1, 4, "unknown name 'nobody'"},
		{"x\n{% if true %}\n", 2, 1, "'if' is not closed"},
		{"{% for x in [1] %}", 1, 1, "'for' is not closed"},
		{"{% if true %}{% endfor %}", 1, 14, "'endfor' inside 'if' that is not closed"},
		{"{% for x in [1] %}{% endif %}", 1, 19, "'endif' inside 'for' that is not closed"},
		{"{% for x in [1] %}{% else %}", 1, 19, "'else' inside 'for' that is not closed"},
		{"{% endfor %}", 1, 1, "'endfor' without 'for'"},
		{"{% elif true %}", 1, 1, "'elif' without 'if'"},
		{"{% if %}{% endif %}", 1, 1, "'if' needs a condition"},
		{"{% if true %}{% else x %}", 1, 22, "'else' stands alone"},
		{"{% if true %}{% endif x %}", 1, 23, "'endif' stands alone"},
		{"{% if true %}{% else %}{% elif true %}", 1, 24, "'else' was the last branch"},
		{"{% for in [1] %}", 1, 11, "'for' needs a variable and a list"},
		{"{% for x %}", 1, 1, "'for' needs a variable and a list"},
		{"{% for x inside [1] %}", 1, 10, "'for' needs a variable and a list"},
		{"{% for params in [1] %}", 1, 8, "'params' has a meaning already"},
		{"{% for not in [1] %}", 1, 8, "'not' is a word of the language"},
		{"{% for x in [1] %}{% for x in [2] %}", 1, 26,
			"'x' is the variable of an outer loop"},
		{"{% %}", 1, 1, "unknown tag ''"},
		{"{%- if true %}", 1, 3, "tags have no '-'"},
		{"{% include 'x' %}", 1, 4, "unknown tag 'include'"},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct template *t = NULL;
		struct err err = {0};

		if (parse(a, CASES[i].text, &t, &err) == 0)
			fail_msg("%s is accepted", CASES[i].text);
		assert_string_equal(err.msg, CASES[i].msg);
		assert_int_equal(err.line, CASES[i].line);
		assert_int_equal(err.col, CASES[i].col);
	}
	arena_free(a);
}

TEST(blocks_nest_to_a_depth)
{
	for (unsigned depth = 32; depth <= 33; depth++) {
		struct arena *a = arena_new();
		struct template *t = NULL;
		struct err err = {0};
		AUTO_BUF text;

		buf_init(&text, 4096);
		for (unsigned i = 0; i < depth; i++)
			buf_add_text(&text, "{% if true %}");
		for (unsigned i = 0; i < depth; i++)
			buf_add_text(&text, "{% endif %}");
		assert_int_equal(parse(a, buf_text(&text), &t, &err), depth == 32 ? 0 : -E_LIMIT);
		arena_free(a);
	}
}

TEST(plain_and_single)
{
	static const struct {
		const char *text;
		bool plain, single;
	} CASES[] = {
		{"", true, false},
		{"a {b} }} %}", true, false},
		{"{{ params.x }}", false, true},
		{" {{ params.x }}", false, false},
		{"{{ params.x }}{{ params.x }}", false, false},
		{"{# gone #}", false, false},
		{"a {# gone #}", false, false},
		{"{% if true %}a{% endif %}", false, false},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct template *t = NULL;
		struct err err = {0};

		assert_int_equal(parse(a, CASES[i].text, &t, &err), 0);
		assert_int_equal(template_is_plain(t), CASES[i].plain);
		assert_int_equal(template_single(t) != NULL, CASES[i].single);
	}
	arena_free(a);
}

static void add_name(void *ctx, const char *name)
{
	buf_addf(ctx, "%s ", name);
}

TEST(names_leave_out_loop_variables)
{
	struct arena *a = arena_new();
	struct template *t = NULL;
	struct err err = {0};
	AUTO_BUF got;

	buf_init(&got, 256);
	assert_int_equal(
		parse(a,
			"{{ facts.os.id }}{% for u in vars.users %}{{ u.name + params.x }}"
			"{% endfor %}{% if node.a %}{% elif node.b %}{{ item }}{% endif %}",
			&t, &err),
		0);
	template_names(t, add_name, &got);
	assert_string_equal(buf_text(&got), "facts.os.id vars.users params.x node.a node.b item ");
	arena_free(a);
}

T_MAIN
