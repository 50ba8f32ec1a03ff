/* repeat: who changes the same thing twice running is told so, and nobody else. */
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

static const char YAML[] = "recipe: demo\n"
			   "params:\n"
			   "  word: {type: text, default: a}\n"
			   "steps:\n"
			   "  - file: {path: /kept, content: \"{{ params.word }}\\n\"}\n"
			   "  - file: {path: /other, content: x}\n";

TEST(a_step_that_is_undone_each_time_is_told)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", YAML);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_null(stage_event(&s, "defective", 0));
	stage_write(&s, "kept", "somebody\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	stage_says(stage_event_str(&s, "defective", 0, "why"), "step 1 changed something");
	assert_non_null(stage_event_str(&s, "defective", 0, "hint"));
	stage_done(&s);
}

TEST(a_quiet_apply_between_them_forgives)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", YAML);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_false(stage_has(s.state, "repeat/demo.json"));
	stage_write(&s, "kept", "somebody\n");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_null(stage_event(&s, "defective", 0));
	stage_done(&s);
}

TEST(other_inputs_are_another_matter)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", YAML);
	stage_run(&s, ORDER_APPLY, "demo");
	json_put_str(s.params, "word", "b");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_null(stage_event(&s, "defective", 0));
	stage_done(&s);
}

TEST(another_step_is_another_matter)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", YAML);
	stage_write(&s, "other", "x");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_write(&s, "other", "y");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_null(stage_event(&s, "defective", 0));
	stage_done(&s);
}

TEST(a_torn_file_costs_nothing)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", YAML);
	stage_run(&s, ORDER_APPLY, "demo");
	assert_int_equal(
		fs_replace(s.state, "repeat/demo.json", str_of("{\"inp"), 0600, 0, 0, NULL), 0);
	stage_write(&s, "kept", "somebody\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_null(stage_event(&s, "defective", 0));
	stage_done(&s);
}

T_MAIN
