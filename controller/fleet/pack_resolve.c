/* pack_resolve - recipes by name or folder, and in which order they run. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/vec.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/pack.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECIPES_MAX 256 /* of one run */
#define PLACES_MAX  32

/* --- where recipes live --- */

struct places {
	unsigned n;
	const char *at[PLACES_MAX + 1];
};

static void add_place(struct places *p, const char *dir)
{
	if (p->n < PLACES_MAX && *dir)
		p->at[p->n++] = dir;
}

/* STOIKA_RECIPES (a ':' list) first, then what lies beside the program: a package's, a build's. */
static void list_places(struct arena *a, struct places *p)
{
	const char *env = getenv("STOIKA_RECIPES");
	struct str rest = str_of(env), part;
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	*p = (struct places){0};
	while (str_next(&rest, ':', &part))
		add_place(p, arena_text(a, part));
	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		add_place(p, arena_printf(a, "%s/../share/stoika/recipes", self));
		add_place(p, arena_printf(a, "%s/../recipes", self));
	}
#ifdef STOIKA_SOURCE_RECIPES
	add_place(p, STOIKA_SOURCE_RECIPES);
#endif
}

static bool is_same_folder(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Each folder once, though two ways may lead to it. */
unsigned pack_places(struct arena *a, const char **out, unsigned most)
{
	struct places p;
	unsigned n = 0;

	list_places(a, &p);
	for (unsigned i = 0; i < p.n && n < most; i++) {
		bool known = false;

		for (unsigned k = 0; k < n; k++)
			known = known || is_same_folder(out[k], p.at[i]);
		if (!known)
			out[n++] = p.at[i];
	}
	return n;
}

static bool has_recipe(struct arena *a, const char *dir)
{
	struct stat st;

	return stat(arena_printf(a, "%s/recipe.yaml", dir), &st) == 0 && S_ISREG(st.st_mode);
}

struct words vec(const char *);

/* Names of the recipes in all places, NULL-terminated. */
static void list_names(struct arena *a, const struct places *p, struct words *names)
{
	for (unsigned i = 0; i < p->n; i++) {
		DIR *d = opendir(p->at[i]);
		const struct dirent *e;

		while (d && (e = readdir(d)) != NULL)
			if (e->d_name[0] != '.' &&
				has_recipe(a, arena_printf(a, "%s/%s", p->at[i], e->d_name)))
				*vec_push(names) = arena_strdup(a, e->d_name);
		if (d)
			closedir(d);
	}
	*vec_push(names) = NULL;
}

static int no_such_recipe(
	struct arena *a, const struct places *p, const char *name, struct err *err)
{
	struct words names = VEC_INIT;
	const char *near;

	list_names(a, p, &names);
	near = err_nearest(name, names.at);
	err_set(err, E_NOTFOUND, "there is no recipe '%s'", name);
	if (near)
		err_hint(err, "did you mean '%s'?", near);
	else
		err_hint(err,
			"recipes are looked for in %.120s; STOIKA_RECIPES names more folders, "
			"./%.40s is one here",
			p->n ? p->at[0] : "STOIKA_RECIPES", name);
	vec_done(&names);
	return -E_NOTFOUND;
}

/* A recipe named by its folder; made absolute, so that "." has a name too. */
static int find_folder(struct arena *a, const char *path, const char **dir, struct err *err)
{
	char *real = realpath(path, NULL);

	if (real) {
		*dir = arena_strdup(a, real);
		free(real);
		if (has_recipe(a, *dir))
			return 0;
	}
	err_set(err, E_NOTFOUND, "there is no recipe in '%s': it has no recipe.yaml", path);
	return err_hint(err, "name the folder that holds recipe.yaml");
}

int pack_find_recipe(struct arena *a, const char *name, const char **dir, struct err *err)
{
	struct places p;

	if (strchr(name, '/'))
		return find_folder(a, name, dir, err);
	if (!str_is_name(str_of(name)))
		return err_set(err, E_SYNTAX, "'%s' is no name of a recipe", name);
	list_places(a, &p);
	for (unsigned i = 0; i < p.n; i++) {
		*dir = arena_printf(a, "%s/%s", p.at[i], name);
		if (has_recipe(a, *dir))
			return 0;
	}
	return no_such_recipe(a, &p, name, err);
}

/* --- the order they run in --- */

struct entry {
	struct pack_recipe recipe;
	bool done; /* all it needs stands before it in order */
};

struct resolver {
	struct arena *arena;
	struct vec(struct entry) all;
	struct vec(size_t) order; /* indices into all */
	unsigned depth;
	const char *path[RECIPES_MAX]; /* from the asked one down to this */
	struct err *err;
};

static const char *base_name(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	return slash ? slash + 1 : dir;
}

/* STR_NONE when it was not met yet. */
static size_t find_entry(const struct resolver *r, const char *name)
{
	for (size_t i = 0; i < r->all.n; i++)
		if (strcmp(r->all.at[i].recipe.name, name) == 0)
			return i;
	return STR_NONE;
}

/* Gives the error that is set the place where 'by' says that it needs name. */
static void place_need(struct resolver *r, const struct pack_recipe *by, const char *name)
{
	const struct yaml_node *needs = yaml_get(by->recipe->doc->root, "needs");
	const struct err told = *r->err;

	for (unsigned i = 0; needs && i < needs->n; i++)
		if (str_is(needs->item[i]->text, name)) {
			yaml_err(
				by->recipe->doc, needs->item[i], r->err, told.code, "%s", told.msg);
			err_hint(r->err, "%s", told.hint);
			return;
		}
}

/* A needed recipe is looked for beside the one that needs it first. */
static int find_needed(
	struct resolver *r, const struct pack_recipe *by, const char *name, const char **dir)
{
	const char *beside;

	if (!by || strchr(name, '/'))
		return pack_find_recipe(r->arena, name, dir, r->err);
	beside = arena_printf(r->arena, "%s/../%s", by->dir, name);
	if (str_is_name(str_of(name)) && has_recipe(r->arena, beside)) {
		*dir = beside;
		return 0;
	}
	if (pack_find_recipe(r->arena, name, dir, r->err) < 0) {
		place_need(r, by, name);
		return err_wrap(r->err, "recipe '%s' needs '%s'", by->name, name);
	}
	return 0;
}

static int add_loop(struct resolver *r, const struct pack_recipe *by, const char *name)
{
	AUTO_BUF text = {0};

	buf_init(&text, 300);
	for (unsigned i = 0; i < r->depth; i++)
		if (text.n > 0 || strcmp(r->path[i], name) == 0)
			buf_addf(&text, "%s -> ", r->path[i]);
	err_set(r->err, E_CONFLICT, "recipes need each other in a circle: %s%s", buf_text(&text),
		name);
	err_hint(r->err, "take one of these names out of a 'needs:'");
	if (by)
		place_need(r, by, name);
	return -E_CONFLICT;
}

static int load_entry(struct resolver *r, const char *dir, size_t *index)
{
	struct entry *e;
	struct recipe *recipe = NULL;
	const int rc = recipe_load(r->arena, dir, &recipe, r->err);

	if (rc < 0)
		return rc;
	*index = r->all.n;
	e = vec_push(&r->all);
	e->recipe = (struct pack_recipe){.name = recipe->name, .dir = dir, .recipe = recipe};
	return 0;
}

/* Puts name, after all it needs, at the end of the order. */
static int visit(struct resolver *r, const struct pack_recipe *by, const char *name, size_t *index)
{
	struct pack_recipe mine;
	const char *dir;
	int rc = find_needed(r, by, name, &dir);

	if (rc < 0)
		return rc;
	name = base_name(dir);
	*index = find_entry(r, name);
	if (*index != STR_NONE) {
		const struct entry *e = &r->all.at[*index];

		if (!is_same_folder(e->recipe.dir, dir))
			return err_set(r->err, E_CONFLICT,
				"two recipes are called '%s': '%s' and '%s'", name, e->recipe.dir,
				dir);
		return e->done ? 0 : add_loop(r, by, name);
	}
	if (r->all.n == RECIPES_MAX || r->depth == RECIPES_MAX)
		return err_set(r->err, E_LIMIT, "more than %d recipes in one run", RECIPES_MAX);
	rc = load_entry(r, dir, index);
	if (rc < 0)
		return rc;
	mine = r->all.at[*index].recipe;
	r->path[r->depth++] = mine.name;
	for (unsigned i = 0; rc == 0 && i < mine.recipe->n_needs; i++) {
		size_t needed;

		rc = visit(r, &mine, mine.recipe->needs[i], &needed);
	}
	r->depth--;
	r->all.at[*index].done = true;
	*vec_push(&r->order) = *index;
	return rc;
}

static void hand_over(struct resolver *r, struct pack_recipe **out, unsigned *n_out)
{
	struct pack_recipe *list = arena_alloc(r->arena, r->order.n * sizeof *list + 1);

	for (size_t i = 0; i < r->order.n; i++)
		list[i] = r->all.at[r->order.at[i]].recipe;
	*out = list;
	*n_out = (unsigned)r->order.n;
}

int pack_resolve(struct arena *a, const char *const *names, unsigned n, struct pack_recipe **out,
	unsigned *n_out, struct err *err)
{
	struct resolver r = {.arena = a, .err = err};
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < n; i++) {
		size_t index = 0;

		rc = visit(&r, NULL, names[i], &index);
		if (rc < 0)
			break;
		r.all.at[index].recipe.asked = true;
		if (strchr(names[i], '/'))
			r.all.at[index].recipe.by_folder = true;
	}
	if (rc == 0)
		hand_over(&r, out, n_out);
	else
		vec_each(&r.all, struct entry, e)
			recipe_done(e->recipe.recipe);
	vec_done(&r.all);
	vec_done(&r.order);
	return rc;
}
