/*
 * type - text to a typed value, for parameters of recipes and arguments of steps.
 *
 * Errors carry no place; the caller knows it (type_place).
 */
#pragma once

#include "agent/base/json.h"
#include "agent/base/yaml.h"
#include "agent/recipe/kind.h"

struct type {
	enum param_type type;
	const char *const *choices;
	const char *what;  /* as messages call it: "'mode'" */
	bool natural;      /* an integer must not be negative */
	const char *about; /* what a number is for, or NULL: the hint when it is none */
};

/* A new reference. PARAM_LIST and PARAM_MAP are not made of text: E_INTERNAL. */
int type_from_text(const struct type *t, struct str text, json_t **out, struct err *err);
/*
 * An unquoted scalar of a PARAM_TREE: exactly JSON's true, false, null, a whole number without
 * leading zeros and a decimal in its shortest form are typed. Other numbers (1.10, 0755, 1e3, 0x1f,
 * 99999999999999999999) would not stay as written: E_SCHEMA with a hint. All else is text, 'no'
 * and 'yes' too.
 */
int type_from_plain(struct str text, json_t **out, struct err *err);
/* "a list", "true or false" ... */
const char *type_name(enum param_type type);
/* The words of a NULL-terminated list as "a, b or c" into out. */
void type_list_words(const char *const *words, char *out, size_t n);
/* Gives an error that is already set the place of a node; returns -err->code. */
int type_place(const struct yaml_doc *d, const struct yaml_node *at, struct err *err);
