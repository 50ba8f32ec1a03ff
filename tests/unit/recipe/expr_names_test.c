/* expr_names_test - which names an expression may read. */
#include "tests/unit/recipe/world.h"

static void add_name(void *ctx, const char *name)
{
	buf_addf(ctx, "%s ", name);
}

TEST(names)
{
	static const struct world_case CASES[] = {
		{"1 + 2", ""},
		{"params.port", "params.port "},
		{"params", "params "},
		{"facts.os.id == 'x' and params['a-b'] > 1", "facts.os.id params.a-b "},
		{"node.roles[params.n].x", "params.n node.roles "},
		{"default(vars.a.b, [item, steps.x.changed])", "vars.a.b item steps.x.changed "},
		{"not (facts.gpus[0].name in vars.known)", "facts.gpus vars.known "},
		{"lower(item).x", "item "},
	};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct expr *e = NULL;
		struct err err = {0};
		AUTO_BUF got;

		buf_init(&got, 256);
		assert_int_equal(expr_parse(w.arena, str_of(CASES[i].text), NULL, &e, &err), 0);
		expr_names(e, add_name, &got);
		assert_string_equal(buf_text(&got), CASES[i].want);
	}
	world_done(&w);
}

TEST(a_long_name_is_cut_at_a_part)
{
	struct world w;
	struct expr *e = NULL;
	struct err err = {0};
	AUTO_BUF text;
	AUTO_BUF got;

	buf_init(&text, 2048);
	buf_init(&got, 2048);
	world_init(&w);
	buf_add_text(&text, "vars");
	for (int i = 0; i < 40; i++)
		buf_add_text(&text, ".abcdefghij");
	assert_int_equal(expr_parse(w.arena, buf_str(&text), NULL, &e, &err), 0);
	expr_names(e, add_name, &got);
	assert_true(got.n < 260);
	assert_true(str_ends(buf_str(&got), ".abcdefghij "));
	world_done(&w);
}

T_MAIN
