/*
 * site_pack - the inventory in a bundle, for recipes that read site.*
 * (inventory/model/site_names.h).
 *
 * It travels as the file SITE_FILE (wire/manifest.h) among the recipes: once for all nodes, signed,
 * and not sent again while nothing has changed. Recipes that do not read it get bundles without.
 */
#pragma once

#include "controller/fleet/pack.h"

/*
 * recipes, or a copy with the folder of the site behind them when one of them reads site.* in an
 * expression or a template; in a. Their recipes are loaded. The folder lies beside the database and
 * is written anew.
 */
int site_pack_add(struct store *s, struct arena *a, const struct pack_recipe *recipes, unsigned n,
	const struct pack_recipe **out, unsigned *n_out, struct err *err);
