/* recipe - what recipes there are, what one does, whether it is right; a new one. */
#include "agent/recipe/recipe.h"

#include "controller/command/help.h"
#include "controller/command/recipe_view.h"
#include "controller/command/recipe_warn.h"
#include "controller/command/table.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (4u << 20)

/* --- list --- */

static void list_text(const struct found_recipes *found, struct buf *out)
{
	const char *place = "";

	vec_each(found, const struct found_recipe, f) {
		const size_t n = strlen(f->dir) - strlen(f->name) - 1;
		const struct recipe *r = f->recipe;

		if (strncmp(place, f->dir, n) != 0 || (place[n] && place[n] != '/')) {
			buf_addf(out, "%s%.*s:\n", *place ? "\n" : "", (int)n, f->dir);
			place = f->dir;
		}
		buf_addf(out, "  %-18s ", f->name);
		if (!r) {
			buf_addf(out, "broken: %s (stoika recipe check %s)\n", f->err.msg, f->dir);
			continue;
		}
		help_add_filled(out, r->about ? r->about : "-", 21);
		buf_addf(out, "%21s%u parameter%s", "", r->n_params, r->n_params == 1 ? "" : "s");
		for (unsigned i = 0; i < r->n_needs; i++)
			buf_addf(out, "%s%s", i ? ", " : "; needs ", r->needs[i]);
		for (unsigned i = 0; i < r->n_disrupts; i++)
			buf_addf(out, "%s%s", i ? ", " : "; disrupts ", r->disrupts[i]);
		buf_addf(out, "%s\n", f->hidden ? "; hidden by the one of a folder above" : "");
	}
	if (found->n == 0)
		buf_add_text(out, "no recipes: STOIKA_RECIPES names folders that hold some\n");
}

static void list_names(const struct found_recipes *found, struct buf *out)
{
	vec_each(found, const struct found_recipe, f)
		if (!f->hidden)
			buf_addf(out, "%s\n", f->name);
}

static void list_json(const struct found_recipes *found)
{
	AUTO_JSON list = json_array();

	vec_each(found, const struct found_recipe, f) {
		json_t *one = f->recipe ? recipe_view_json(f->recipe, f->dir) : json_object();

		json_put_bool(one, "hidden", f->hidden);
		if (!f->recipe) {
			json_put_str(one, "recipe", f->name);
			json_put_str(one, "dir", f->dir);
			json_put_str(one, "error", f->err.msg);
		}
		json_array_append_new(list, one);
	}
	session_print_json(list);
}

static int run_list(struct invocation *inv)
{
	struct found_recipes found = VEC_INIT;
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	recipe_view_find(inv->arena, &found);
	if (inv->json)
		list_json(&found);
	else if (option_get(inv, "names"))
		list_names(&found, &text);
	else
		list_text(&found, &text);
	session_print_lines(&text);
	recipe_view_done(&found);
	return EXIT_OK;
}

/* --- show --- */

static int load_one(
	const struct invocation *inv, const char **dir, struct recipe **r, struct err *err)
{
	const int rc = pack_find_recipe(inv->arena, inv->args[0], dir, err);

	return rc < 0 ? rc : recipe_load(inv->arena, *dir, r, err);
}

static int run_show(struct invocation *inv)
{
	struct recipe *r = NULL;
	const char *dir = "";
	AUTO_BUF text = {0};
	struct err err;

	if (load_one(inv, &dir, &r, &err) < 0)
		return command_fail(inv, &err);
	buf_init(&text, TEXT_MAX);
	if (inv->json) {
		AUTO_JSON doc = recipe_view_json(r, dir);

		session_print_json(doc);
	} else {
		recipe_view_text(r, dir, &text);
		session_print_lines(&text);
	}
	recipe_done(r);
	return EXIT_OK;
}

/* --- check --- */

static void add_count(struct buf *out, const char *before, unsigned n, const char *noun)
{
	buf_addf(out, "%s%u %s%s", before, n, noun, n == 1 ? "" : "s");
}

static void check_text(
	const struct recipe *r, const struct recipe_warnings *warnings, struct buf *out)
{
	buf_addf(out, "%s%s%s\nno mistakes: ", r->name, r->about ? ": " : "",
		r->about ? r->about : "");
	add_count(out, "", r->n_steps, "step");
	add_count(out, ", ", r->n_handlers, "handler");
	add_count(out, ", ", r->n_checks, "check");
	if (warnings->n > 0)
		add_count(out, "; ", (unsigned)warnings->n, "warning");
	buf_add_char(out, '\n');
	recipe_view_params(r, out);
	vec_each(warnings, const struct recipe_warning, w)
		buf_addf(out, "%s:%u:%u: warning: %s (%s)\nhint: %s\n", w->at.file, w->at.line,
			w->at.col, w->at.msg, w->name, w->at.hint);
}

static json_t *check_json(
	const struct recipe *r, const char *dir, const struct recipe_warnings *warnings)
{
	json_t *obj = recipe_view_json(r, dir), *list = json_array();

	vec_each(warnings, const struct recipe_warning, w) {
		json_t *one = json_object();

		json_put_str(one, "warning", w->name);
		json_put_str(one, "message", w->at.msg);
		json_put_str(one, "hint", w->at.hint);
		json_put_str(one, "file", w->at.file);
		json_put_int(one, "line", w->at.line);
		json_put_int(one, "col", w->at.col);
		json_array_append_new(list, one);
	}
	json_object_set_new(obj, "warnings", list);
	return obj;
}

static void check_one(
	const struct invocation *inv, const struct pack_recipe *p, struct buf *text, bool *warned)
{
	struct recipe_warnings warnings = VEC_INIT;

	recipe_warn(p->recipe, p->dir, &warnings);
	*warned = *warned || warnings.n > 0;
	if (inv->json) {
		AUTO_JSON doc = check_json(p->recipe, p->dir, &warnings);

		session_print_json(doc);
	} else {
		check_text(p->recipe, &warnings, text);
	}
	vec_done(&warnings);
}

static int run_check(struct invocation *inv)
{
	struct pack_recipe *recipes = NULL;
	unsigned n = 0;
	bool warned = false;
	AUTO_BUF text = {0};
	struct err err;

	if (pack_resolve(inv->arena, &inv->args[0], 1, &recipes, &n, &err) < 0)
		return command_fail(inv, &err);
	buf_init(&text, TEXT_MAX);
	for (unsigned i = 0; i < n; i++) {
		if (recipes[i].asked)
			check_one(inv, &recipes[i], &text, &warned);
		recipe_done(recipes[i].recipe);
	}
	session_print(&text);
	return warned && option_get(inv, "strict") ? EXIT_SOME : EXIT_OK;
}

/* --- descriptors --- */

static const struct option LIST_OPTIONS[] = {
	{"names", 0, NULL, "names only, one a line", false},
	{0},
};

const struct command COMMAND_RECIPE_LIST = {
	.name = "recipe list",
	.args = "",
	.summary = "all recipes, and the folders they are found in",
	.options = LIST_OPTIONS,
	.run = run_list,
};

const struct command COMMAND_RECIPE_SHOW = {
	.name = "recipe show",
	.args = "RECIPE",
	.min_args = 1,
	.max_args = 1,
	.summary = "what a recipe does: parameters, steps, what it needs and disrupts",
	.about = "RECIPE is a name, or a folder when it has a '/'. Its README.md comes last.\n",
	.run = run_show,
};

static const struct option CHECK_OPTIONS[] = {
	{"strict", 0, NULL, "warnings too give exit status 1", false},
	{0},
};

const struct command COMMAND_RECIPE_CHECK = {
	.name = "recipe check",
	.args = "RECIPE",
	.min_args = 1,
	.max_args = 1,
	.summary = "judge a recipe without a node, and list its parameters",
	.about =
		"RECIPE is a name, or a folder when it has a '/'. Mistakes are told with their place;\n"
		"warnings tell what is not wrong but will be regretted.\n",
	.options = CHECK_OPTIONS,
	.run = run_check,
};
