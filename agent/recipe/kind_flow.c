/* kind_flow - kinds of step that run, wait, judge or tell. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const struct kind_param COMMAND[] = {
	{"run", PARAM_LIST, false, NULL, NULL, "program and arguments, no shell"},
	{"shell", PARAM_TEXT, false, NULL, NULL, "a line for /bin/sh -eu"},
	{"creates", PARAM_PATH, false, NULL, NULL, "not run when this path exists"},
	{"unless", PARAM_EXPR, false, NULL, NULL, "not run when this expression is true"},
	{"cwd", PARAM_PATH, false, NULL, "/", "where it runs"},
	{"timeout", PARAM_INT, false, NULL, "300", "seconds"},
	{0},
};
static const char *const COMMAND_ONE_OF[] = {"run", "shell", NULL};

const struct kind KIND_FLOW[] = {
	{
		.name = "command",
		.about = "a program, run only when its guard says so",
		.check =
			"Judges the guards (creates, unless) without running a program. Without a guard "
			"it differs each time and says so.",
		.apply =
			"Runs it with a clean environment and a deadline, its output capped. A status "
			"other than 0 fails with the last lines of the output.",
		.undo = "Cannot be undone: give the recipe an undo of its own.",
		.example = "command:\n"
			   "  run: [nvidia-ctk, cdi, generate, \"--output=/etc/cdi/nvidia.yaml\"]\n"
			   "  creates: /etc/cdi/nvidia.yaml",
		.params = COMMAND,
		.one_of = COMMAND_ONE_OF,
		.not_both = COMMAND_ONE_OF,
	},
	{0},
};
