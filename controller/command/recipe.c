/* recipe - what recipes there are, and whether one is right. */
#include "agent/recipe/recipe.h"

#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/fleet/pack.h"

#include <stdio.h>

static const char *const TYPE_NAMES[] = {
	[PARAM_TEXT] = "text",
	[PARAM_INT] = "int",
	[PARAM_NUM] = "num",
	[PARAM_BOOL] = "bool",
	[PARAM_MODE] = "mode",
	[PARAM_PATH] = "path",
	[PARAM_NAME] = "name",
	[PARAM_SOURCE] = "source",
	[PARAM_CHOICE] = "choice",
	[PARAM_LIST] = "list",
	[PARAM_MAP] = "map",
	[PARAM_EXPR] = "expr",
};

static json_t *recipe_json(const struct recipe *r)
{
	json_t *obj = json_object(), *params = json_array(), *needs = json_array();

	json_put_str(obj, "recipe", r->name);
	json_put_str(obj, "about", r->about);
	json_put_int(obj, "steps", r->n_steps);
	json_put_int(obj, "checks", r->n_checks);
	for (unsigned i = 0; i < r->n_needs; i++)
		json_array_append_new(needs, json_string(r->needs[i]));
	json_object_set_new(obj, "needs", needs);
	for (unsigned i = 0; i < r->n_params; i++) {
		const struct recipe_param *p = &r->params[i];
		json_t *one = json_object();

		json_put_str(one, "name", p->name);
		json_put_str(one, "type", TYPE_NAMES[p->type]);
		json_put_str(one, "about", p->about);
		json_put_bool(one, "required", p->required);
		if (p->preset)
			json_object_set(one, "default", p->preset);
		json_array_append_new(params, one);
	}
	json_object_set_new(obj, "params", params);
	return obj;
}

static void add_count(struct buf *out, const char *before, unsigned n, const char *noun)
{
	buf_addf(out, "%s%u %s%s", before, n, noun, n == 1 ? "" : "s");
}

/* A preset as one would write it on the command line. */
static void add_preset(struct buf *out, json_t *preset)
{
	const char *key, *between = "";
	json_t *value;
	size_t i;

	if (json_is_string(preset)) {
		buf_add_text(out, *json_string_value(preset) ? json_string_value(preset) : "empty");
	} else if (json_is_array(preset) && json_array_size(preset) > 0) {
		json_array_foreach(preset, i, value)
		{
			buf_addf(out, "%s%s", between, json_string_value(value));
			between = ",";
		}
	} else if (json_is_object(preset) && json_object_size(preset) > 0) {
		json_object_foreach(preset, key, value)
		{
			buf_addf(out, "%s%s=%s", between, key, json_string_value(value));
			between = ",";
		}
	} else if (json_is_array(preset) || json_is_object(preset)) {
		buf_add_text(out, "empty");
	} else {
		json_write(preset, out);
	}
}

static void recipe_text(const struct recipe *r, struct buf *out)
{
	buf_addf(out, "%s%s%s\nno mistakes: ", r->name, r->about ? ": " : "",
		r->about ? r->about : "");
	add_count(out, "", r->n_steps, "step");
	add_count(out, ", ", r->n_handlers, "handler");
	add_count(out, ", ", r->n_checks, "check");
	buf_add_char(out, '\n');
	for (unsigned i = 0; i < r->n_params; i++) {
		const struct recipe_param *p = &r->params[i];

		buf_addf(out, "  %-18s %-6s %s\n%28s", p->name, TYPE_NAMES[p->type],
			p->about ? p->about : "", "");
		if (p->preset) {
			buf_add_text(out, "default: ");
			add_preset(out, p->preset);
		} else {
			buf_add_text(out, "must be given");
		}
		buf_add_char(out, '\n');
	}
}

static int run_check(struct invocation *inv)
{
	struct pack_recipe *recipes = NULL;
	unsigned n = 0;
	AUTO_BUF text = {0};
	struct err err;

	if (pack_resolve(inv->arena, &inv->args[0], 1, &recipes, &n, &err) < 0)
		return command_fail(inv, &err);
	buf_init(&text, 1u << 20);
	for (unsigned i = 0; i < n; i++) {
		if (recipes[i].asked && inv->json) {
			AUTO_JSON doc = recipe_json(recipes[i].recipe);

			session_print_json(doc);
		} else if (recipes[i].asked) {
			recipe_text(recipes[i].recipe, &text);
		}
		recipe_done(recipes[i].recipe);
	}
	session_print(&text);
	return EXIT_OK;
}

const struct command COMMAND_RECIPE_CHECK = {
	.name = "recipe check",
	.args = "RECIPE",
	.min_args = 1,
	.max_args = 1,
	.summary = "judge a recipe without a node, and list its parameters",
	.about = "RECIPE is a name, or a folder when it has a '/'.\n",
	.run = run_check,
};
