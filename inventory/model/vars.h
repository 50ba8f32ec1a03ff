/*
 * vars - what recipes are told about a node: the values of its layers, the last one wins.
 *
 * Layers go from the wide to the narrow: site, location, rack, role, node. A value that
 * is a map is merged by its own keys with the map of the layer below; what lies deeper,
 * and lists, texts and numbers, are replaced whole. {"$secret": NAME} counts as one value.
 * A map under a recipe's name holds parameters of that recipe.
 */
#pragma once

#include "agent/base/json.h"

struct vars_layer {
	const char *origin; /* "rack R1" */
	const char *text;   /* JSON object; NULL or "{}": nothing */
};
#define VARS_LAYERS   5
#define VARS_TEXT_MAX ((size_t)1 << 20) /* of one layer */

/*
 * New references: values {name: value}, and origins (may be NULL) {name: "rack R1"} or
 * {name: {key: "rack R1"}} where the value is a map that layers may add to.
 */
int vars_resolve(const struct vars_layer *layers, unsigned n, json_t **values, json_t **origins,
	struct err *err);
bool vars_is_secret(const json_t *value);
/* Whether any layer says something. */
bool vars_any(const struct vars_layer *layers, unsigned n);
/* Parameters of a recipe: those of the variables, over them those given (NULL: none). New. */
json_t *vars_params(const json_t *values, const char *recipe, json_t *given);
