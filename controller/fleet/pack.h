/*
 * pack - recipe folders to a signed bundle, kept beside the database by content.
 *
 * DIR/bundles/CONTENT/{manifest,manifest.sig,payload.tar.zst}. The same content
 * gives the same bundle until half of its life is over, so nodes that have it
 * are not sent it again. Serial numbers are of the name and the signer, only grow,
 * and are kept in the database: going back to what was before is a new bundle too.
 */
#pragma once

#include "agent/base/json.h"
#include "agent/base/str.h"
#include "agent/wire/manifest.h"

#define PACK_LIFE_DAYS 30

struct err;
struct keys;
struct store;

struct pack {
	char digest[HASH_HEX];
	struct str manifest, sig, payload; /* mapped or read; valid until pack_done */
	void *priv;
};

/* Finds NAME below the recipe directories ("recipes" beside the program's data, then
 * STOIKA_RECIPES). */
int pack_find_recipe(struct arena *a, const char *name, const char **dir, struct err *err);
/* The folders that are searched, in their order; how many, at most 'most'. */
unsigned pack_places(struct arena *a, const char **out, unsigned most);
/*
 * Recipes by name in the order they run, those they need put before them
 * (a loop is E_CONFLICT), each loaded and judged.
 */
struct recipe;
struct pack_recipe {
	const char *name, *dir;
	struct recipe *recipe;
	bool asked;     /* named by the user, not only needed */
	bool by_folder; /* asked for by its folder: its name alone may find nothing */
};
int pack_resolve(struct arena *a, const char *const *names, unsigned n, struct pack_recipe **out,
	unsigned *n_out, struct err *err);
/*
 * "NAME=VALUE" or "RECIPE.NAME=VALUE" into params {recipe: {name: text}}; a bare name goes to the
 * recipe that was asked for before those it needs. E_NOTFOUND with a hint when none declares it.
 */
int pack_set(json_t *params, const struct pack_recipe *recipes, unsigned n, const char *text,
	struct err *err);
int pack_make(struct store *store, const struct keys *keys, const struct pack_recipe *recipes,
	unsigned n, struct pack *out, struct err *err);
void pack_done(struct pack *p);
/* Copies the recipes to folders DIR/NAME, so that they can be used again as they are now. */
int pack_copy(
	struct arena *a, const struct pack_recipe *recipes, unsigned n, int dir, struct err *err);
/* The digest of all their files, which is that of the bundle's content. */
int pack_content(struct arena *a, const struct pack_recipe *recipes, unsigned n,
	char out[static HASH_HEX], struct err *err);
