/* expr_text_test - functions that compare texts or write values as text. */
#include "agent/recipe/expr_priv.h"
#include "tests/unit/recipe/world.h"

static const struct world_case CASES[] = {
	{"matches('nvidia-580', '^nvidia-[0-9]+$')", "true"},
	{"matches('nvidia-', '^nvidia-[0-9]+$')", "false"},
	{"matches('x', '(')", "! '(' is no regular expression: Unmatched ( or \\("},
	{"newer('595.91.07', '595.9.7')", "true"},
	{"newer('1.0~rc1', '1.0')", "false"},
	{"newer('1:1.0', '2.0')", "true"},
	{"newer('1.0', '1.0')", "false"},
	{"json([1, 'a'])", "\"[1,\\\"a\\\"]\""},
	{"yaml([])", "\"[]\""},
	{"yaml([1, ['a']])", "\"- 1\\n-\\n  - \\\"a\\\"\\n\""},
};

TEST(functions)
{
	world_cases(CASES, sizeof CASES / sizeof *CASES);
}

T_MAIN
