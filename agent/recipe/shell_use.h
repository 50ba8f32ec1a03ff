/*
 * shell_use - what a line for a shell is made of, and whether it is quoted.
 *
 * A text from outside must stand in quote() there: else its blanks, ';' or '$('
 * are the shell's. Numbers, true and false, and choices do no harm.
 */
#pragma once

#include "agent/recipe/recipe.h"

#define SHELL_NAME_MAX 128

/*
 * The first name that the template writes out without quote(), "params.user", into name; false when
 * there is none. Facts count too: a node's text is not ours.
 */
bool shell_finds_unquoted(
	const struct recipe *r, const struct template *t, char name[static SHELL_NAME_MAX]);
