/*
 * recipe_warn - what is not wrong in a recipe, but will be regretted; a table of warnings.
 *
 * A warning is a row in WARNINGS of recipe_warn.c: a name, and a function that tells each place.
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/vec.h"
#include "agent/recipe/recipe.h"

struct recipe_warning {
	const char *name; /* "unguarded-command" */
	struct err at;    /* message, place and hint; its code says nothing */
};
struct recipe_warnings vec(struct recipe_warning);

/* dir: the recipe's folder. In the order of the places. */
void recipe_warn(const struct recipe *r, const char *dir, struct recipe_warnings *out);
