/* recipe_view - recipes found and shown, for the commands 'recipe ...'. */
#pragma once

#include "controller/command/session.h"
#include "controller/fleet/pack.h"

struct recipe;
struct recipe_param;

/* One recipe of the folders that are searched, broken ones too. */
struct found_recipe {
	const char *name, *dir;
	struct recipe *recipe; /* NULL: err says why */
	struct err err;
	bool hidden; /* another folder before has one of this name */
};
struct found_recipes vec(struct found_recipe);
/* By folder in the order of the search, then by name. recipe_view_done drops what was loaded. */
void recipe_view_find(struct arena *a, struct found_recipes *out);
void recipe_view_done(struct found_recipes *found);

json_t *recipe_view_json(const struct recipe *r, const char *dir);
/* What a person reads before using it. */
void recipe_view_text(const struct recipe *r, const char *dir, struct buf *out);
void recipe_view_params(const struct recipe *r, struct buf *out);
