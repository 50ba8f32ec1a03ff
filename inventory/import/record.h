/*
 * record - rows of foreign tables, from CSV cells or JSON objects alike, and what stays behind.
 *
 * A reference may be text, or an object as NetBox nests it ({"id": 1, "name": "R1"},
 * {"value": "active"}); record_text gives its name either way.
 */
#pragma once

#include "inventory/import/source.h"

struct records vec(const struct yaml_node *);

const struct yaml_node *record_get(const struct yaml_node *row, const char *key);
/* NULL when it is not there or empty. */
const char *record_text(struct sources *s, const struct yaml_node *row, const char *key);
/* The same in lower case with '-' for blanks: "Three-phase" is "three-phase". */
const char *record_word(struct sources *s, const struct yaml_node *row, const char *key);
/* MODEL_UNSET when absent; a fault when it is no number. "42U" and "10.0" are. */
double record_num(struct sources *s, const struct yaml_node *row, const char *key);
/* True, yes and 1 of CSV too. */
bool record_true(struct sources *s, const struct yaml_node *row, const char *key, bool unset);
/* The id of a row or reference as text, NULL. */
const char *record_id(const struct yaml_node *row);

/* Every value of the rows whose key is in neither list is counted as not carried. */
void records_losses(struct sources *s, const struct records *rows, const char *noun,
	const char *const *carried, const char *const *ignored);
/* kg from a weight and the word of its unit; MODEL_UNSET with a fault for an unknown unit. */
double record_kg(struct sources *s, const struct yaml_node *row, const char *key, const char *unit);
