#include "agent/recipe/value.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value value_of(json_t *json)
{
	return (struct value){json, NULL};
}

struct value value_unknown(const char *why)
{
	return (struct value){NULL, why ? why : "unknown"};
}

void value_done(struct value *v)
{
	if (!v)
		return;
	json_decref(v->json);
	*v = (struct value){NULL, NULL};
}

bool value_is_known(const struct value *v)
{
	return v->json != NULL;
}

json_t *value_unknown_json(const char *why)
{
	json_t *v = json_object();

	json_put_str(v, VALUE_UNKNOWN_KEY, why ? why : "unknown");
	return v;
}

const char *value_type_name(const json_t *v)
{
	if (!v)
		return "unknown";
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "map";
	case JSON_ARRAY:
		return "list";
	case JSON_STRING:
		return "text";
	case JSON_INTEGER:
		return "integer";
	case JSON_REAL:
		return "number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "bool";
	case JSON_NULL:
		break;
	}
	return "nothing";
}

/* The shortest decimal that reads back as the same number; never without a point. */
static void add_real(double v, struct buf *out)
{
	char text[40];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) >= v && strtod(text, NULL) <= v)
			break;
	}
	buf_add_text(out, text);
	if (!text[strcspn(text, ".en")])
		buf_add_text(out, ".0");
}

int value_to_text(const struct value *v, struct buf *out, struct err *err)
{
	const json_t *j = v->json;

	switch (j ? json_typeof(j) : JSON_NULL) {
	case JSON_STRING:
		buf_add(out, json_string_value(j), json_string_length(j));
		return 0;
	case JSON_INTEGER:
		buf_addf(out, "%lld", (long long)json_integer_value(j));
		return 0;
	case JSON_REAL:
		add_real(json_real_value(j), out);
		return 0;
	case JSON_TRUE:
		buf_add_text(out, "true");
		return 0;
	case JSON_FALSE:
		buf_add_text(out, "false");
		return 0;
	case JSON_ARRAY:
		err_set(err, E_SCHEMA, "a list cannot be written as text");
		return err_hint(err, "join(x, ', ') makes text of a list");
	case JSON_OBJECT:
		err_set(err, E_SCHEMA, "a map cannot be written as text");
		return err_hint(err, "name one of its fields, or loop over it");
	default:
		err_set(err, E_SCHEMA, "there is no value to write");
		return err_hint(err, "default(x, '') gives one where there may be none");
	}
}
