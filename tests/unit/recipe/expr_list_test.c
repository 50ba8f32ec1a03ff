/* expr_list_test - functions over lists, maps and numbers, on good and on bad arguments. */
#include "agent/recipe/expr_priv.h"
#include "tests/unit/recipe/world.h"

static const struct world_case CASES[] = {
	{"keys(params.map)", "[\"x\",\"y\"]"},
	{"sort(['b', 'a', 'c'])", "[\"a\",\"b\",\"c\"]"},
	{"sort([10, 9, 1.5])", "[1.5,9,10]"},
	{"sort([])", "[]"},
	{"sort(['a', 1])", "! 'sort' orders texts or numbers"},
	{"unique(['a', 'b', 'a', 1, 1, true])", "[\"a\",\"b\",1,true]"},
	{"len(where([params.map, params.map, 1], 'x', '1'))", "2"},
	{"where([params.map], 'x', 'other')", "[]"},
	{"pluck([params.map], 'x')", "[\"1\"]"},
	{"pluck([params.map], 'z')", "! item 0 of the list has no 'z'"},
	{"range(3)", "[0,1,2]"},
	{"range(0)", "[]"},
	{"range(-1)", "! 'range' counts from 0 to 10000, not to -1"},
	{"[div(7, 2), mod(7, 2), div(-7, 2), mod(-7, 2)]", "[3,1,-4,1]"},
	{"div(1, 0)", "! nothing can be divided by 0"},
	{"[min(2, 1), max(2, 1), max(1, 1.5)]", "[1,2,1.5]"},
};

TEST(functions)
{
	world_cases(CASES, sizeof CASES / sizeof *CASES);
}

T_MAIN
