#include "controller/command/recipe_view.h"

#include "agent/base/fs.h"
#include "agent/recipe/recipe.h"
#include "agent/recipe/supports.h"
#include "agent/recipe/type.h"
#include "controller/command/help.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLACES_MAX 32
#define README_MAX (256u << 10)

/* As 'type:' has it. */
static const char *type_word(enum param_type type)
{
	static const char *const words[] = {
		[PARAM_TEXT] = "text",
		[PARAM_INT] = "int",
		[PARAM_NUM] = "num",
		[PARAM_BOOL] = "bool",
		[PARAM_CHOICE] = "choice",
		[PARAM_LIST] = "list",
		[PARAM_MAP] = "map",
		[PARAM_SECRET] = "secret",
	};

	return type < sizeof words / sizeof *words && words[type] ? words[type] : "text";
}

/* --- found --- */

static int compare_found(const void *a, const void *b)
{
	const struct found_recipe *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool is_known(const struct found_recipes *found, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++)
		if (strcmp(found->at[i].name, name) == 0)
			return true;
	return false;
}

static void find_in(struct arena *a, const char *place, struct found_recipes *out)
{
	const size_t before = out->n;
	DIR *d = opendir(place);
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		const char *dir = arena_printf(a, "%s/%s", place, e->d_name);
		struct found_recipe *f;

		if (e->d_name[0] == '.' || access(arena_printf(a, "%s/recipe.yaml", dir), F_OK) < 0)
			continue;
		f = vec_push(out);
		f->name = arena_strdup(a, e->d_name);
		f->dir = dir;
		f->hidden = is_known(out, before, f->name);
		if (recipe_load(a, dir, &f->recipe, &f->err) < 0)
			f->recipe = NULL;
	}
	if (d)
		closedir(d);
	if (out->n > before + 1)
		qsort(out->at + before, out->n - before, sizeof *out->at, compare_found);
}

void recipe_view_find(struct arena *a, struct found_recipes *out)
{
	const char *places[PLACES_MAX];
	const unsigned n = pack_places(a, places, PLACES_MAX);

	for (unsigned i = 0; i < n; i++)
		find_in(a, places[i], out);
}

void recipe_view_done(struct found_recipes *found)
{
	vec_each(found, struct found_recipe, f)
		if (f->recipe)
			recipe_done(f->recipe);
	vec_done(found);
}

/* --- JSON --- */

static json_t *names_json(const char *const *names, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_string(names[i]));
	return list;
}

static json_t *param_json(const struct recipe_param *p)
{
	json_t *one = json_object();

	json_put_str(one, "name", p->name);
	json_put_str(one, "type", type_word(p->type));
	json_put_str(one, "about", p->about);
	json_put_bool(one, "required", p->required);
	if (p->preset)
		json_object_set(one, "default", p->preset);
	return one;
}

static json_t *supports_json(const struct recipe *r)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < r->n_supports; i++)
		json_array_append_new(list, json_string(r->supports[i].text));
	return list;
}

static json_t *steps_json(const struct step *steps, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++) {
		json_t *one = json_object();

		json_put_str(one, "kind", steps[i].kind->name);
		json_put_str(one, "name", steps[i].name);
		json_array_append_new(list, one);
	}
	return list;
}

json_t *recipe_view_json(const struct recipe *r, const char *dir)
{
	json_t *obj = json_object(), *params = json_array();

	json_put_str(obj, "recipe", r->name);
	json_put_str(obj, "about", r->about);
	json_put_str(obj, "dir", dir);
	json_put_int(obj, "steps", r->n_steps);
	json_put_int(obj, "checks", r->n_checks);
	json_object_set_new(obj, "needs", names_json(r->needs, r->n_needs));
	json_object_set_new(obj, "disrupts", names_json(r->disrupts, r->n_disrupts));
	if (r->n_supports > 0)
		json_object_set_new(obj, "supports", supports_json(r));
	for (unsigned i = 0; i < r->n_params; i++)
		json_array_append_new(params, param_json(&r->params[i]));
	json_object_set_new(obj, "params", params);
	json_object_set_new(obj, "step_list", steps_json(r->steps, r->n_steps));
	return obj;
}

/* --- text --- */

/* 0.8, not 0.80000000000000004: a real as it was written. */
static void add_value(const json_t *value, struct buf *out)
{
	if (json_is_string(value))
		buf_add_text(out, json_string_value(value));
	else if (json_is_real(value))
		buf_addf(out, "%.15g", json_real_value(value));
	else
		json_write(value, out);
}

static void add_list(const json_t *list, struct buf *out)
{
	const char *between = "";
	json_t *value;
	size_t i;

	json_array_foreach(list, i, value)
	{
		buf_add_text(out, between);
		add_value(value, out);
		between = ",";
	}
}

/* A preset as one would write it on the command line. */
static void add_preset(struct buf *out, json_t *preset)
{
	const char *key, *between = "";
	json_t *value;

	if (json_is_string(preset) && *json_string_value(preset)) {
		buf_add_text(out, json_string_value(preset));
	} else if (json_is_array(preset) && json_array_size(preset) > 0) {
		add_list(preset, out);
	} else if (json_is_object(preset) && json_object_size(preset) > 0) {
		json_object_foreach(preset, key, value)
		{
			buf_addf(out, "%s%s=", between, key);
			add_value(value, out);
			between = ",";
		}
	} else if (json_is_string(preset) || json_is_array(preset) || json_is_object(preset)) {
		buf_add_text(out, "empty");
	} else {
		add_value(preset, out);
	}
}

void recipe_view_params(const struct recipe *r, struct buf *out)
{
	for (unsigned i = 0; i < r->n_params; i++) {
		const struct recipe_param *p = &r->params[i];

		buf_addf(out, "  %-18s %-6s ", p->name, type_word(p->type));
		help_add_filled(out, p->about ? p->about : "-", 28);
		buf_addf(out, "%28s", "");
		if (p->preset) {
			buf_add_text(out, "default: ");
			add_preset(out, p->preset);
		} else {
			buf_add_text(out, "must be given");
		}
		buf_add_char(out, '\n');
	}
}

static void add_words(struct buf *out, const char *before, const char *const *names, unsigned n)
{
	if (n > 0)
		buf_add_text(out, before);
	for (unsigned i = 0; i < n; i++)
		buf_addf(out, "%s%s", i ? ", " : "", names[i]);
	buf_add_text(out, n > 0 ? "\n" : "");
}

static void add_steps(const struct step *steps, unsigned n, const char *title, struct buf *out)
{
	if (n > 0)
		buf_addf(out, "\n%s:\n", title);
	for (unsigned i = 0; i < n; i++)
		buf_addf(out, "  %2u %-14s %s\n", i + 1, steps[i].kind->name, steps[i].name);
}

static void add_readme(const char *dir, struct buf *out)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUF text = {0};

	buf_init(&text, README_MAX);
	if (fd >= 0 && fs_read(fd, "README.md", &text, NULL) == 0 && text.n > 0) {
		buf_add_char(out, '\n');
		buf_add_str(out, buf_str(&text));
	}
	if (fd >= 0)
		close(fd);
}

void recipe_view_text(const struct recipe *r, const char *dir, struct buf *out)
{
	buf_addf(out, "%s%s%s\nfolder: %s\n", r->name, r->about ? ": " : "",
		r->about ? r->about : "", dir);
	add_words(out, "needs: ", r->needs, r->n_needs);
	add_words(out, "disrupts: ", r->disrupts, r->n_disrupts);
	for (unsigned i = 0; i < r->n_supports; i++)
		buf_addf(out, "%s%s%s", i ? ", " : "supports: ", r->supports[i].text,
			i + 1 == r->n_supports ? "\n" : "");
	if (r->n_params > 0)
		buf_add_text(out, "\nparameters:\n");
	recipe_view_params(r, out);
	add_steps(r->steps, r->n_steps, "steps", out);
	add_steps(r->handlers, r->n_handlers, "handlers, when notified", out);
	if (r->n_checks > 0)
		buf_add_text(out, "\nchecks:\n");
	for (unsigned i = 0; i < r->n_checks; i++)
		buf_addf(out, "  %2u %s\n", i + 1, r->checks[i].name);
	add_steps(r->undo, r->n_undo, "undo", out);
	add_readme(dir, out);
}
