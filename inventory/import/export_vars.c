/* export_vars - variables and lists of names in flow YAML, and the roles that have both. */
#include "agent/base/json.h"
#include "inventory/import/export_priv.h"

#include <string.h>

#define VARS_MAX ((size_t)1 << 20)

static int compare_keys(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void write_json(json_t *v, struct buf *out);

/* Keys sorted, as the vars are kept. */
static void write_object(json_t *v, struct buf *out)
{
	struct model_names keys = VEC_INIT;
	const char *key;
	json_t *item;

	json_object_foreach(v, key, item)
	{
		*vec_push(&keys) = key;
	}
	vec_sort(&keys, compare_keys);
	buf_add_char(out, '{');
	for (size_t i = 0; i < keys.n; i++) {
		buf_add_text(out, i ? ", " : "");
		export_text(out, keys.at[i]);
		buf_add_text(out, ": ");
		write_json(json_object_get(v, keys.at[i]), out);
	}
	buf_add_char(out, '}');
	vec_done(&keys);
}

/* Flow YAML; as deep as json_parse lets it be. */
static void write_json(json_t *v, struct buf *out)
{
	json_t *item;
	size_t i;

	if (json_is_string(v)) {
		export_quoted(out, json_string_value(v));
	} else if (json_is_object(v)) {
		write_object(v, out);
	} else if (json_is_array(v)) {
		buf_add_char(out, '[');
		json_array_foreach(v, i, item)
		{
			buf_add_text(out, i ? ", " : "");
			write_json(item, out);
		}
		buf_add_char(out, ']');
	} else {
		json_write(v, out);
	}
}

void export_vars(struct buf *out, const char *json)
{
	AUTO_JSON vars = NULL;

	if (json_parse(str_of(json), VARS_MAX, "vars", &vars, NULL) < 0)
		buf_add_text(out, "{}");
	else
		write_json(vars, out);
}

void export_names(struct buf *out, const char *names)
{
	struct str rest = str_of(names), name;
	const char *between = "";

	buf_add_char(out, '[');
	while (str_next(&rest, ' ', &name)) {
		buf_addf(out, "%s" STR_FMT, between, STR_ARG(name));
		between = ", ";
	}
	buf_add_char(out, ']');
}

/* "gpu: {recipes: [base], vars: {...}}" */
void export_roles(const struct exporter *e)
{
	buf_add_text(e->out, e->m->roles.n ? "roles:\n" : "");
	for (size_t i = 0; i < e->m->roles.n; i++) {
		struct flow f = {e->out, 0};

		buf_addf(e->out, "  %s: {", e->m->roles.at[i].name);
		flow_fields(e, NOUN_ROLE, i, "name", &f);
		buf_add_text(e->out, "}\n");
	}
}
