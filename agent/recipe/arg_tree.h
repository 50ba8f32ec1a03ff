/*
 * arg_tree - a PARAM_TREE argument: any nesting of maps, lists and scalars.
 *
 * Unquoted scalars are typed by type_from_plain, quoted ones are text, a scalar
 * that is one '{{ expr }}' takes the value of the expression as it is, and
 * other text with tags gives text. Keys are literal.
 */
#pragma once

#include "agent/recipe/recipe_priv.h"

#define TREE_DEPTH_MAX 20
#define TREE_NODES_MAX 20000
#define TREE_BYTES_MAX (1u << 20) /* of all texts and keys together */

/* what is "'values'". Every literal scalar is judged. */
int arg_tree_load(const struct loader *l, const struct yaml_node *at, const char *what,
	struct readable may, struct arg_tree **out, struct err *err);
/* A new reference that shares nothing; *out NULL and *unknown the reason when it hangs on something
   unknown. */
int arg_tree_eval(const struct arg_tree *t, const struct recipe *r, const struct scope *scope,
	const char *what, json_t **out, const char **unknown, struct err *err);
/* A node without expressions (a default) as the same values. */
int arg_tree_literal(const struct yaml_doc *d, const struct yaml_node *at, const char *what,
	json_t **out, struct err *err);
/* Whether a value from outside fits into a tree. E_LIMIT, E_SCHEMA; name is a parameter's. */
int arg_tree_judge(json_t *v, const char *name, struct err *err);
