/*
 * supports - the systems a recipe is for: "debian 11-13", "ubuntu 22.04", "fedora".
 *
 * A word of os-release's ID, and versions of which as many parts count as are
 * given: "rhel 8-9" holds 9.6. rhel also means its rebuilds. A recipe without
 * the key is for all systems but the experimental ones (facts.os.experimental),
 * which have to be named.
 */
#pragma once

#include "agent/base/json.h"

struct err;
struct loader;
struct recipe;
struct yaml_node;

struct recipe_support {
	const char *text;        /* as written */
	struct str id, from, to; /* from empty: all versions */
};

/* Reads the key's list into the recipe. */
int supports_load(const struct loader *l, const struct yaml_node *list, struct err *err);
/* os: the facts group. 0, or E_UNSUPPORTED with what is supported. */
int recipe_supports(const struct recipe *r, const json_t *os, struct err *err);
