/*
 * asks - what recipes ask a network for on a given system, told without any node.
 *
 * Every step is evaluated with the facts of the distribution alone. What hangs on more (another
 * fact, a probe, the result of a step) counts as asked for where only a condition is open, and is
 * told as open where a name is.
 */
#pragma once

#include "agent/base/json.h"

struct err;
struct pack_recipe;

/* Facts 'os' of "debian-12" and the like: a new reference; E_UNSUPPORTED names those there are. */
int asks_system(const char *name, json_t **os, struct err *err);
/*
 * vars and params (by recipe, over vars) as for a run, mirror what vars.mirror says, NULL nothing.
 * A new reference in *out:
 *	packages [text]                     names, with '=version' where one is asked for
 *	repos    [{recipe, dir, args}]      in the order of the steps; dir: the recipe's folder
 *	files    [{recipe, url, sha256}]
 *	images   [text]                     of containers
 *	open     [{recipe, step, why}]      what cannot be told here
 */
int asks_of(const struct pack_recipe *recipes, unsigned n, const json_t *vars, const json_t *params,
	json_t *os, const char *mirror, json_t **out, struct err *err);
