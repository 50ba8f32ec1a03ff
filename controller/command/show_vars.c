#include "controller/command/show_vars.h"

#include "inventory/model/vars.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (16u << 20)

struct var {
	const char *name, *origin; /* "ntp" or "node-exporter.port" */
	const json_t *value;
};
struct var_list vec(struct var);

static int compare_vars(const void *a, const void *b)
{
	const struct var *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void add_map(struct arena *a, const char *name, json_t *values, const json_t *origins,
	struct var_list *out)
{
	const char *key;
	json_t *value;

	json_object_foreach(values, key, value) * vec_push(out) = (struct var){
		arena_printf(a, "%s.%s", name, key), json_get_str(origins, key, ""), value};
}

/* The parts of a map are told apart, as each may be from elsewhere. */
static void list_vars(struct arena *a, json_t *values, const json_t *origins, struct var_list *out)
{
	const char *name;
	json_t *value;

	json_object_foreach(values, name, value)
	{
		const json_t *from = json_get(origins, name);

		if (json_is_object(from) && json_object_size(value) > 0)
			add_map(a, name, value, from, out);
		else
			*vec_push(out) = (struct var){name, json_get_str(origins, name, ""), value};
	}
	vec_sort(out, compare_vars);
}

static void add_value(const json_t *value, struct buf *out)
{
	if (vars_is_secret(value))
		buf_addf(out, "secret %s", json_get_str(value, "$secret", ""));
	else if (json_is_string(value) && *json_string_value(value))
		buf_add_text(out, json_string_value(value));
	else
		json_write(value, out);
}

static void print_text(const struct node_row *node, const struct var_list *vars)
{
	AUTO_BUF text = {0}, value = {0};
	int name = 4, width = 5;

	buf_init(&text, TEXT_MAX);
	buf_init(&value, TEXT_MAX);
	vec_each(vars, const struct var, v) {
		buf_clear(&value);
		add_value(v->value, &value);
		name = (int)strlen(v->name) > name ? (int)strlen(v->name) : name;
		width = (int)value.n > width && value.n <= 40 ? (int)value.n : width;
	}
	if (vars->n == 0)
		buf_addf(&text, "nothing is said about '%s': the site file's 'vars' do\n",
			node->name);
	else
		buf_addf(&text, "%-*s  %-*s  FROM\n", name, "NAME", width, "VALUE");
	vec_each(vars, const struct var, v) {
		buf_clear(&value);
		add_value(v->value, &value);
		buf_addf(&text, "%-*s  %-*s  %s\n", name, v->name, width, buf_text(&value),
			v->origin);
	}
	session_print_lines(&text);
}

static void print_json(const struct node_row *node, const struct var_list *vars)
{
	AUTO_JSON doc = json_object();
	json_t *list = json_array();

	json_put_str(doc, "node", node->name);
	vec_each(vars, const struct var, v) {
		json_t *one = json_object();

		json_put_str(one, "name", v->name);
		json_object_set_new(one, "value", json_deep_copy(v->value));
		json_put_str(one, "origin", v->origin);
		json_array_append_new(list, one);
	}
	json_object_set_new(doc, "vars", list);
	session_print_json(doc);
}

int show_vars(const struct invocation *inv, const struct node_row *node)
{
	struct var_list vars = VEC_INIT;
	AUTO_JSON values = NULL;
	AUTO_JSON origins = NULL;
	struct err err;

	if (vars_resolve(node->layers, VARS_LAYERS, &values, &origins, &err) < 0)
		return command_fail(inv, &err);
	list_vars(inv->arena, values, origins, &vars);
	if (inv->json)
		print_json(node, &vars);
	else
		print_text(node, &vars);
	vec_done(&vars);
	return EXIT_OK;
}
