/*
 * json_tree - JSON to located nodes, which jansson does not give: an importer has to name the
 * place.
 *
 * Strict RFC 8259: one value, no comments, keys once per object. Strings become
 * quoted scalars; numbers, true, false plain ones; null is no entry at all. A depth
 * of JSON_TREE_DEPTH at most; lone surrogates and NUL in strings are refused.
 */
#pragma once

#include "inventory/import/source.h"

#define JSON_TREE_DEPTH 32

/* NULL after one fault. */
struct yaml_node *json_tree_parse(struct sources *s, const struct source_file *f);
