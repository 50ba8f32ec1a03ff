/* recipe_load - the frame of a recipe; params, steps and texts have files of their own. */
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/recipe/arg_tree.h"
#include "agent/recipe/recipe_priv.h"
#include "agent/recipe/supports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define WITHIN_MAX 3600

static const char *const KEYS[] = {"recipe", "about", "params", "data", "let", "when", "supports",
	"needs", "disrupts", "steps", "handlers", "check", "undo", NULL};
static const char *const BESIDE[] = {"name", "when", "each", "as", "notify"};
static const char *const CHECK_KEYS[] = {
	"name", "id", "level", "when", "expect", "within", "message", "hint", NULL};
static const char *const LEVELS[] = {[CHECK_FAIL] = "fail", [CHECK_WARN] = "warn", NULL};

static void list_step_keys(struct loader *l)
{
	size_t n = 0, beside = sizeof BESIDE / sizeof *BESIDE;

	while (kind_at((unsigned)n))
		n++;
	l->step_keys = arena_alloc(l->arena, (n + beside + 1) * sizeof *l->step_keys);
	for (size_t i = 0; i < n; i++)
		l->step_keys[i] = kind_at((unsigned)i)->name;
	for (size_t i = 0; i < beside; i++)
		l->step_keys[n + i] = BESIDE[i];
}

/* The last part of the folder's real path, so that "." has a name as well. */
static char *folder_name(const char *dir)
{
	AUTO_STR path = realpath(dir, NULL);
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? xstrdup(slash + 1) : NULL;
}

static int load_name(const struct loader *l, const struct yaml_node *root, struct err *err)
{
	struct recipe *r = l->recipe;
	const struct yaml_node *n = yaml_get(root, "recipe");
	AUTO_STR folder = NULL;
	int rc;

	if (!n) {
		yaml_err(r->doc, root, err, E_SCHEMA, "the recipe has no name");
		return err_hint(err, "begin with 'recipe: NAME', the name of its folder");
	}
	if ((rc = load_text(l, n, "'recipe'", &r->name, err)) < 0)
		return rc;
	if (!str_is_name(n->text)) {
		yaml_err(r->doc, n, err, E_SCHEMA, "'%.60s' is not a name for a recipe", r->name);
		return err_hint(err, "names are made of letters, digits and . _ -");
	}
	folder = l->dir ? folder_name(l->dir) : NULL;
	if (!folder || strcmp(folder, r->name) == 0)
		return 0;
	yaml_err(r->doc, n, err, E_CONFLICT, "the recipe is called '%s', its folder '%s'", r->name,
		folder);
	return err_hint(err, "give both the same name");
}

static int load_needs(const struct loader *l, const struct yaml_node *root, struct err *err)
{
	struct recipe *r = l->recipe;
	const struct yaml_node *needs = yaml_get(root, "needs");
	const struct yaml_node *disrupts = yaml_get(root, "disrupts");
	int rc;

	if (needs && (rc = load_words(
			      l, needs, "'needs'", str_is_name, &r->needs, &r->n_needs, err)) < 0)
		return rc;
	for (unsigned i = 0; i < r->n_needs; i++)
		if (strcmp(r->needs[i], r->name) == 0)
			return load_hint(yaml_err(r->doc, needs->item[i], err, E_CONFLICT,
						 "the recipe needs itself"),
				err, "leave it out of 'needs'");
	if (!disrupts)
		return 0;
	return load_words(
		l, disrupts, "'disrupts'", str_is_name, &r->disrupts, &r->n_disrupts, err);
}

static int load_level(
	const struct loader *l, const struct yaml_node *n, struct recipe_check *c, struct err *err)
{
	const char *word;
	int rc = load_text(l, n, "'level'", &word, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; LEVELS[i]; i++) {
		c->level = (enum check_level)i;
		if (strcmp(LEVELS[i], word) == 0)
			return 0;
	}
	yaml_err(l->recipe->doc, n, err, E_SCHEMA, "'level' is fail or warn, not '%.40s'", word);
	return err_hint(err, "leave it out: a check that is false fails the run");
}

static int load_id(
	const struct loader *l, const struct yaml_node *n, struct recipe_check *c, struct err *err)
{
	int rc = load_text(l, n, "'id'", &c->id, err);

	if (rc < 0 || str_is_name(n->text))
		return rc;
	yaml_err(l->recipe->doc, n, err, E_SCHEMA, "'%.40s' is no id", c->id);
	return err_hint(err, "letters, digits and . _ -, such as F01");
}

/* What may stand beside 'expect'. */
static int load_beside(const struct loader *l, const struct yaml_node *map, struct recipe_check *c,
	struct err *err)
{
	const struct readable may = {0};
	const struct yaml_node *id = yaml_get(map, "id"), *level = yaml_get(map, "level");
	const struct yaml_node *when = yaml_get(map, "when"), *hint = yaml_get(map, "hint");
	const struct yaml_node *message = yaml_get(map, "message");
	int rc;

	if ((id && (rc = load_id(l, id, c, err)) < 0) ||
		(level && (rc = load_level(l, level, c, err)) < 0) ||
		(when && (rc = load_expr(l, when, "'when'", may, &c->when, err)) < 0) ||
		(message &&
			(rc = load_template(l, message, "'message'", may, &c->message, err)) < 0))
		return rc;
	return hint ? load_template(l, hint, "'hint'", may, &c->hint, err) : 0;
}

static int load_check(const struct loader *l, const struct yaml_node *map, struct recipe_check *c,
	struct err *err)
{
	const struct yaml_doc *d = l->recipe->doc;
	const struct yaml_node *name = yaml_get(map, "name"), *expect = yaml_get(map, "expect");
	const struct yaml_node *within = yaml_get(map, "within");
	int64_t seconds = 0;
	int rc;

	c->at = map;
	rc = yaml_want_map(d, map, "a check", err);
	if (load_hint(rc, err, "such as - expect: exists('/etc/motd')") < 0 ||
		(rc = yaml_known_keys(d, map, CHECK_KEYS, err)) < 0)
		return rc;
	if (!expect) {
		yaml_err(d, map, err, E_SCHEMA, "the check has no 'expect'");
		return err_hint(err, "write expect: an expression that must be true");
	}
	if ((rc = load_expr(l, expect, "'expect'", (struct readable){0}, &c->expect, err)) < 0)
		return rc;
	if (within && (rc = yaml_want_int(d, within, "'within'", 0, WITHIN_MAX, &seconds, err)) < 0)
		return load_hint(rc, err, "'within' counts seconds");
	c->within = (unsigned)seconds;
	c->name = expect->text.p;
	if ((rc = load_beside(l, map, c, err)) < 0)
		return rc;
	return name ? load_line(l, name, "'name'", &c->name, err) : 0;
}

/* --- data, let --- */

static int load_data(const struct loader *l, const struct yaml_node *n, struct err *err)
{
	int rc;

	if (!n)
		return 0;
	rc = load_hint(yaml_want_map(l->recipe->doc, n, "'data'", err), err,
		"such as data: {names: {debian: [a, b]}}");
	return rc < 0 ? rc : arg_tree_literal(l->recipe->doc, n, "'data'", &l->recipe->data, err);
}

/* Each is known to those behind it only, so none can hang on itself. */
static int load_lets(const struct loader *l, const struct yaml_node *map, struct err *err)
{
	struct recipe *r = l->recipe;
	int rc;

	if (!map)
		return 0;
	rc = load_hint(yaml_want_map(r->doc, map, "'let'", err), err,
		"such as let: {os: \"facts.os.id + facts.os.version\"}");
	if (rc < 0)
		return rc;
	if (map->n > RECIPE_LETS_MAX)
		return yaml_err(
			r->doc, map, err, E_LIMIT, "more than %d under 'let'", RECIPE_LETS_MAX);
	r->lets = arena_alloc(l->arena, (map->n + 1) * sizeof *r->lets);
	for (unsigned i = 0; i < map->n; i++) {
		struct expr *e;

		if (!load_is_identifier(map->key[i]->text)) {
			yaml_err(r->doc, map->key[i], err, E_SCHEMA, "'%.60s' is not a name",
				map->key[i]->text.p);
			return err_hint(err, "letters, digits and '_', not beginning with a digit");
		}
		rc = load_expr(l, map->item[i], arena_printf(l->arena, "'%s'", map->key[i]->text.p),
			(struct readable){0}, &e, err);
		if (rc < 0)
			return rc;
		r->lets[r->n_lets++] = (struct expr_let){map->key[i]->text.p, e};
	}
	return 0;
}

static int load_checks(const struct loader *l, const struct yaml_node *list, struct err *err)
{
	struct recipe *r = l->recipe;
	int rc;

	if (!list)
		return 0;
	if ((rc = load_want_list(l, list, "'check'", "- expect: exists('/etc/motd')", err)) < 0)
		return rc;
	r->checks = arena_alloc(l->arena, (list->n + 1) * sizeof *r->checks);
	for (unsigned i = 0; i < list->n; i++)
		if ((rc = load_check(l, list->item[i], &r->checks[i], err)) < 0)
			return rc;
	r->n_checks = list->n;
	return 0;
}

static int check_handlers(const struct loader *l, struct err *err)
{
	const struct recipe *r = l->recipe;

	for (unsigned i = 0; i < r->n_handlers; i++) {
		const struct step *h = &r->handlers[i];
		const struct yaml_node *name = yaml_get(h->at, "name");

		if (!name) {
			yaml_err(r->doc, h->at, err, E_SCHEMA, "the handler has no name");
			return err_hint(err, "give it the 'name' that steps notify");
		}
		if (h->n_notify > 0)
			return load_hint(yaml_err(r->doc, yaml_key(h->at, "notify"), err, E_SCHEMA,
						 "a handler cannot notify"),
				err, "let the steps notify both handlers");
		for (unsigned k = 0; k < i; k++) {
			if (strcmp(r->handlers[k].name, h->name) != 0)
				continue;
			yaml_err(r->doc, name, err, E_EXISTS, "there are two handlers '%s'",
				h->name);
			return err_hint(
				err, "the other one is in line %u", r->handlers[k].at->line);
		}
	}
	return 0;
}

static int load_all_steps(struct loader *l, const struct yaml_node *root, struct err *err)
{
	struct recipe *r = l->recipe;
	int rc = load_steps(l, yaml_get(root, "steps"), "'steps'", &r->steps, &r->n_steps, err);

	if (rc < 0)
		return rc;
	rc = load_steps(
		l, yaml_get(root, "handlers"), "'handlers'", &r->handlers, &r->n_handlers, err);
	if (rc < 0 || (rc = check_handlers(l, err)) < 0)
		return rc;
	l->as = NULL; /* undo is a run of its own */
	rc = load_steps(l, yaml_get(root, "undo"), "'undo'", &r->undo, &r->n_undo, err);
	if (rc < 0 || (rc = load_check_notify(l, r->steps, r->n_steps, err)) < 0)
		return rc;
	return load_check_notify(l, r->undo, r->n_undo, err);
}

static int load_frame(struct loader *l, const struct yaml_node *root, struct err *err)
{
	struct recipe *r = l->recipe;
	const struct yaml_node *about = yaml_get(root, "about"), *when = yaml_get(root, "when");
	int rc = load_hint(yaml_want_map(r->doc, root, "a recipe", err), err,
		"begin with 'recipe: NAME', the name of its folder");

	if (rc < 0 || (rc = yaml_known_keys(r->doc, root, KEYS, err)) < 0 ||
		(rc = load_name(l, root, err)) < 0)
		return rc;
	if (!yaml_get(root, "steps") && !yaml_get(root, "check")) {
		yaml_err(r->doc, root, err, E_SCHEMA, "the recipe has neither steps nor checks");
		return err_hint(err, "add 'steps:'");
	}
	if ((about && (rc = load_line(l, about, "'about'", &r->about, err)) < 0) ||
		(rc = load_params(l, yaml_get(root, "params"), err)) < 0 ||
		(rc = load_data(l, yaml_get(root, "data"), err)) < 0 ||
		(rc = load_lets(l, yaml_get(root, "let"), err)) < 0)
		return rc;
	if (when && (rc = load_expr(l, when, "'when'", (struct readable){0}, &r->when, err)) < 0)
		return rc;
	if ((rc = supports_load(l, yaml_get(root, "supports"), err)) < 0)
		return rc;
	if ((rc = load_needs(l, root, err)) < 0 || (rc = load_all_steps(l, root, err)) < 0)
		return rc;
	return load_checks(l, yaml_get(root, "check"), err);
}

static int read_recipe(struct arena *a, struct yaml_doc *doc, const char *dir, struct recipe **out,
	struct err *err)
{
	struct loader l = {.arena = a, .dir = dir, .dirfd = -1};
	AUTO_FD dirfd = -1;
	int rc;

	if (dir) {
		dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dirfd < 0)
			return err_sys(err, errno, "cannot open the recipe's folder '%s'", dir);
	}
	l.dirfd = dirfd;
	l.recipe = arena_alloc(a, sizeof *l.recipe);
	l.recipe->doc = doc;
	list_step_keys(&l);
	if ((rc = load_frame(&l, doc->root, err)) < 0) {
		recipe_done(l.recipe);
		return rc;
	}
	*out = l.recipe;
	return 0;
}

int recipe_parse(struct arena *a, const char *name, struct str text, const char *dir,
	struct recipe **out, struct err *err)
{
	struct yaml_doc *doc;
	int rc = yaml_parse(a, name, text, &YAML_CAPS_RECIPE, &doc, err);

	return rc < 0 ? rc : read_recipe(a, doc, dir, out, err);
}

int recipe_load(struct arena *a, const char *dir, struct recipe **out, struct err *err)
{
	size_t n = strlen(dir);
	struct yaml_doc *doc;
	int rc;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	dir = arena_text(a, (struct str){dir, n});
	rc = yaml_load(a, arena_printf(a, "%s/recipe.yaml", dir), &YAML_CAPS_RECIPE, &doc, err);
	return rc < 0 ? rc : read_recipe(a, doc, dir, out, err);
}

void recipe_done(struct recipe *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->n_params; i++) {
		json_decref(r->params[i].preset);
		r->params[i].preset = NULL;
	}
	json_drop(&r->data);
}
