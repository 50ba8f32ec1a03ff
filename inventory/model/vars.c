/* vars - layers merged one over the other, with the origin of each value beside it. */
#include "inventory/model/vars.h"

#include "agent/base/err.h"

#include <string.h>

bool vars_is_secret(const json_t *value)
{
	return json_is_object(value) && json_object_size(value) == 1 && json_get(value, "$secret");
}

static bool is_map(const json_t *value)
{
	return json_is_object(value) && !vars_is_secret(value);
}

/* The map under name of obj, made anew when something else is there. */
static json_t *map_at(json_t *obj, const char *name)
{
	json_t *map = json_object_get(obj, name);

	if (is_map(map))
		return map;
	map = json_object();
	json_object_set_new(obj, name, map);
	return map;
}

static void put_map(json_t *values, json_t *origins, const char *name, json_t *map, const char *by)
{
	json_t *into = map_at(values, name), *from = map_at(origins, name), *value;
	const char *key;

	json_object_foreach(map, key, value)
	{
		json_object_set(into, key, value);
		json_put_str(from, key, by);
	}
}

static void put_layer(json_t *values, json_t *origins, json_t *layer, const char *by)
{
	const char *name;
	json_t *value;

	json_object_foreach(layer, name, value)
	{
		if (is_map(value)) {
			put_map(values, origins, name, value, by);
			continue;
		}
		json_object_set(values, name, value);
		json_put_str(origins, name, by);
	}
}

static bool says_something(const struct vars_layer *l)
{
	return l->text && *l->text && strcmp(l->text, "{}") != 0;
}

bool vars_any(const struct vars_layer *layers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (says_something(&layers[i]))
			return true;
	return false;
}

int vars_resolve(const struct vars_layer *layers, unsigned n, json_t **values, json_t **origins,
	struct err *err)
{
	AUTO_JSON sum = json_object();
	AUTO_JSON from = json_object();

	for (unsigned i = 0; i < n; i++) {
		AUTO_JSON layer = NULL;
		int rc;

		if (!says_something(&layers[i]))
			continue;
		rc = json_parse(
			str_of(layers[i].text), VARS_TEXT_MAX, layers[i].origin, &layer, err);
		if (rc < 0)
			return err_wrap(err, "variables of %s", layers[i].origin);
		put_layer(sum, from, layer, layers[i].origin);
	}
	*values = json_incref(sum);
	if (origins)
		*origins = json_incref(from);
	return 0;
}

json_t *vars_params(const json_t *values, const char *recipe, json_t *given)
{
	json_t *own = json_get(values, recipe), *params = json_object();

	if (is_map(own))
		json_object_update(params, own);
	if (given)
		json_object_update(params, given);
	return params;
}
