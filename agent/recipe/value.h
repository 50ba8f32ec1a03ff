/* value - what an expression yields: a JSON value, or "unknown" with the reason why. */
#pragma once

#include "agent/base/json.h"

/*
 * Unknown is contagious: any operator over it gives unknown, except where the
 * other side decides alone (false and X, true or X). It appears in a dry run
 * when something depends on a step that would change.
 */
struct value {
	json_t *json; /* owned; NULL when unknown */
	const char
		*unknown; /* "depends on step 2 (package)"; NULL when known; arena or static text */
};

/*
 * Inside a scope's names, an object {"$unknown": "why"} stands for an unknown
 * value: whatever reads it becomes unknown. This makes one (a new reference).
 */
#define VALUE_UNKNOWN_KEY "$unknown"
json_t *value_unknown_json(const char *why);

struct value value_of(json_t *json); /* steals the reference */
struct value value_unknown(const char *why);
void value_done(struct value *v);
bool value_is_known(const struct value *v);
/* Text as templates print it: strings bare, numbers, true/false; lists and maps are E_SCHEMA. */
struct buf;
struct err;
int value_to_text(const struct value *v, struct buf *out, struct err *err);
/* "text", "integer", "number", "bool", "list", "map", "nothing": as messages call it. */
const char *value_type_name(const json_t *v);
