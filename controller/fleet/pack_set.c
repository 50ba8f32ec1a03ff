/* pack_set - a parameter given on the command line, and whose it is. */
#include "agent/base/err.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/pack.h"

static bool declares(const struct recipe *r, struct str name)
{
	for (unsigned i = 0; i < r->n_params; i++)
		if (str_is(name, r->params[i].name))
			return true;
	return false;
}

/* The recipe that NAME or RECIPE.NAME of --set means; the name without the recipe in *name. */
static const struct pack_recipe *owner_of(
	const struct pack_recipe *recipes, unsigned n, struct str *name)
{
	const struct pack_recipe *found = NULL;
	const size_t dot = str_find(*name, '.');

	for (unsigned i = 0; i < n; i++) {
		if (dot != STR_NONE && str_is(str_first(*name, dot), recipes[i].name)) {
			*name = str_from(*name, dot + 1);
			return &recipes[i];
		}
		if (dot == STR_NONE && declares(recipes[i].recipe, *name) &&
			(!found || recipes[i].asked))
			found = &recipes[i];
	}
	return found;
}

int pack_set(json_t *params, const struct pack_recipe *recipes, unsigned n, const char *text,
	struct err *err)
{
	struct str rest = str_of(text), name;
	const struct pack_recipe *owner;

	if (str_find(rest, '=') == STR_NONE) {
		err_set(err, E_SYNTAX, "'--set %s' has no '='", text);
		return err_hint(err, "--set NAME=VALUE, or --set RECIPE.NAME=VALUE");
	}
	if (!str_is_utf8(rest))
		return err_set(err, E_SYNTAX, "a '--set' is no valid UTF-8");
	str_next(&rest, '=', &name);
	owner = owner_of(recipes, n, &name);
	if (!owner || !declares(owner->recipe, name)) {
		err_set(err, E_NOTFOUND, "no recipe here has a parameter '" STR_FMT "'",
			STR_ARG(name));
		return err_hint(err, "'stoika recipe check RECIPE' lists its parameters");
	}

	json_t *of = json_get(params, owner->name);

	if (!of) {
		of = json_object();
		json_object_set_new(params, owner->name, of);
	}
	json_object_setn_new(of, name.p, name.n, json_stringn(rest.p, rest.n));
	return 0;
}
