/* import_vars - variables for recipes, lists of names, and the roles that have both. */
#include "agent/base/buf.h"
#include "agent/base/json.h"
#include "inventory/import/import_priv.h"

#include <string.h>

#define VARS_MAX  ((size_t)1 << 20)
#define NAMES_MAX 64 /* recipes of a role */

/* A number only when JSON would write it just so: 8 and 1.5, but 08 and 1.10 stay text. */
static json_t *number(struct str text)
{
	AUTO_BUF shown;
	AUTO_JSON list = json_array();
	int64_t i;
	double d;

	buf_init(&shown, 64);
	if (str_to_i64(text, &i))
		json_array_append_new(list, json_integer(i));
	else if (str_to_f64(text, &d))
		json_array_append_new(list, json_real(d));
	else
		return NULL;
	json_write(list, &shown);
	if (shown.n != text.n + 2 || memcmp(shown.p + 1, text.p, text.n) != 0)
		return NULL;
	return json_incref(json_array_get(list, 0));
}

static json_t *scalar(const struct yaml_node *node)
{
	json_t *v = node->plain ? number(node->text) : NULL;

	if (v)
		return v;
	if (node->plain && str_is(node->text, "true"))
		return json_true();
	if (node->plain && str_is(node->text, "false"))
		return json_false();
	if (node->plain && (node->text.n == 0 || str_is(node->text, "null")))
		return json_null();
	return json_stringn(node->text.p, node->text.n);
}

/* {$secret: NAME} stands for a secret of the store; no other key may begin with '$'. */
static void check_secret(struct importer *im, const struct yaml_node *map)
{
	for (unsigned i = 0; i < map->n; i++) {
		const struct yaml_node *key = map->key[i], *value = map->item[i];

		if (!str_starts(key->text, "$") ||
			(str_is(key->text, "$secret") && map->n == 1 &&
				value->kind == YAML_SCALAR && str_is_name(value->text)))
			continue;
		import_fault_at(im, key, E_SCHEMA, "{$secret: NAME}, and nothing beside it",
			"'" STR_FMT "' is no way to name a secret",
			STR_ARG(str_first(key->text, 40)));
	}
}

/* As deep as yaml's cap lets it be. */
static json_t *json_of(struct importer *im, const struct yaml_node *node)
{
	json_t *v;

	if (node->kind == YAML_SCALAR)
		return scalar(node);
	if (node->kind == YAML_MAP)
		check_secret(im, node);
	v = node->kind == YAML_MAP ? json_object() : json_array();
	for (unsigned i = 0; i < node->n; i++) {
		json_t *item = json_of(im, node->item[i]);

		if (node->kind == YAML_MAP)
			json_object_setn_new(v, node->key[i]->text.p, node->key[i]->text.n, item);
		else
			json_array_append_new(v, item);
	}
	return v;
}

void import_vars(
	struct importer *im, const struct yaml_node *value, const char *what, const char **to)
{
	AUTO_JSON vars = NULL;
	AUTO_BUF text;

	buf_init(&text, VARS_MAX);
	if (value->kind != YAML_MAP) {
		import_fault_at(im, value, E_SCHEMA,
			"such as {ntp_server: 10.0.0.1, node-exporter: {port: 9101}}",
			"%s must be a map", what);
		return;
	}
	if (value->n == 0)
		return;
	vars = json_of(im, value);
	json_write(vars, &text);
	if (buf_ok(&text))
		*to = arena_text(im->m->arena, buf_str(&text));
	else
		import_fault_at(
			im, value, E_LIMIT, NULL, "%s: more than %zu bytes", what, VARS_MAX);
}

static bool is_before(const struct yaml_node *list, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (str_eq(list->item[k]->text, list->item[i]->text))
			return true;
	return false;
}

/* What is wrong with an item of a list of names is told at the item. */
static bool item_holds(
	struct importer *im, const struct yaml_node *list, unsigned i, const char *what)
{
	const struct yaml_node *item = list->item[i];

	if (item->kind != YAML_SCALAR || !str_is_name(item->text)) {
		import_fault_at(im, item, E_SCHEMA,
			"letters, digits and . _ - only, at most 64; STOIKA_RECIPES says in which "
			"folders recipes lie",
			"an item of %s is no name", what);
		return false;
	}
	if (!is_before(list, i))
		return true;
	import_fault_at(im, item, E_EXISTS, "name it once", "%s has '" STR_FMT "' twice", what,
		STR_ARG(item->text));
	return false;
}

void import_names(
	struct importer *im, const struct yaml_node *value, const char *what, const char **to)
{
	AUTO_BUF text;

	buf_init(&text, (size_t)NAMES_MAX * 66);
	if (value->kind != YAML_LIST || value->n > NAMES_MAX) {
		import_fault_at(im, value, E_SCHEMA, "such as [base, node-exporter]",
			"%s must be a list of at most %d names", what, NAMES_MAX);
		return;
	}
	for (unsigned i = 0; i < value->n; i++)
		if (item_holds(im, value, i, what))
			buf_addf(&text, "%s" STR_FMT, text.n ? " " : "",
				STR_ARG(value->item[i]->text));
	if (text.n > 0)
		*to = arena_text(im->m->arena, buf_str(&text));
}

/* "gpu: {recipes: [...]}": the name is the key, all else a row as any. */
static void read_role(
	struct importer *im, const struct yaml_node *key, const struct yaml_node *node)
{
	struct model_fields fields = model_fields_of(NOUN_ROLE);
	struct role row;

	if (!import_name_ok(im, key, "a role"))
		return;
	model_row_clear(NOUN_ROLE, &row);
	row.name = import_text(im, key);
	row.line = node->line;
	fields.at++;
	fields.n--;
	if (node->kind != YAML_MAP) {
		import_fault_at(im, node, E_SCHEMA, "such as {recipes: [base], vars: {tier: 2}}",
			"role '%s' must be a map", row.name);
		return;
	}
	import_row(im, node, NOUN_ROLE, fields, NULL, &row);
	import_enter(im, NOUN_ROLE, 0, row.name, im->m->roles.n, node);
	*vec_push(&im->m->roles) = row;
}

void import_roles(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *map = import_map(im, root, "roles");

	for (unsigned i = 0; map && i < map->n; i++)
		read_role(im, map->key[i], map->item[i]);
}
