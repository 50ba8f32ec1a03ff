#include "controller/rollout/frozen.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/yaml.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/keys.h"
#include "inventory/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_MAX (16u << 20)

/* --- the policy --- */

static int parse_policy(struct arena *a, struct frozen *f, struct err *err)
{
	int rc = 0;

	rollout_policy_preset(&f->policy);
	if (f->text)
		rc = rollout_policy_parse(a, f->name, str_of(f->text), &f->policy, err);
	if (rc == 0 && f->flags)
		rc = rollout_policy_change(a, "options", str_of(f->flags), &f->policy, err);
	return rc;
}

int frozen_read_policy(
	struct arena *a, const char *file, const char *flags, struct frozen *out, struct err *err)
{
	struct yaml_caps caps = YAML_CAPS_RECIPE;
	AUTO_BUF text = {0};
	int rc = 0;

	caps.bytes = FROZEN_POLICY_MAX;
	if (file && strcmp(file, "default") != 0) {
		rc = yaml_read(file, &caps, &text, err);
		if (rc == -E_NOTFOUND)
			err_hint(err, "name a file of YAML, or 'default': 'stoika help rollout "
				      "explain' shows one");
		out->text = arena_strdup(a, buf_text(&text));
		out->name = arena_strdup(a, file);
	}
	out->flags = flags && *flags ? arena_strdup(a, flags) : NULL;
	return rc < 0 ? rc : parse_policy(a, out, err);
}

/* --- kept --- */

/* For who types the same again, maybe elsewhere. */
static void put_folder(json_t *o, const char *dir)
{
	AUTO_STR path = realpath(dir, NULL);

	json_put_str(o, "dir", path ? path : dir);
}

static json_t *recipe_json(struct arena *a, const struct pack_recipe *r, struct err *err)
{
	char sha256[HASH_HEX];
	json_t *o;

	if (pack_content(a, r, 1, sha256, err) < 0)
		return NULL;
	o = json_object();
	json_put_str(o, "name", r->name);
	json_put_str(o, "sha256", sha256);
	json_put_bool(o, "asked", r->asked);
	if (r->by_folder)
		put_folder(o, r->dir);
	return o;
}

static int write_order(struct arena *a, const struct frozen *f, struct buf *order, struct err *err)
{
	AUTO_JSON doc = json_object();
	json_t *recipes = json_array();

	json_object_set_new(doc, "recipes", recipes);
	for (unsigned i = 0; i < f->n_recipes; i++) {
		json_t *one = recipe_json(a, &f->recipes[i], err);

		if (!one)
			return -(int)err->code;
		json_array_append_new(recipes, one);
	}
	json_put_str(doc, "policy", f->text);
	json_put_str(doc, "policy_name", f->name);
	json_put_str(doc, "flags", f->flags);
	json_put_str(doc, "site", f->site);
	if (f->params)
		json_object_set(doc, "params", f->params);
	json_write(doc, order);
	return buf_ok(order) ? 0
			     : err_set(err, E_LIMIT, "the order is more than %u bytes", ORDER_MAX);
}

static const char *folder_of(struct arena *a, struct store *s, const char *run)
{
	return keys_path(a, store_path(s), arena_printf(a, "rollouts/%s", run));
}

/* What paths such as the database's begin at. */
static int open_top(const char *path)
{
	return open(*path == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int frozen_keep(struct store *s, struct arena *a, const char *run, const struct frozen *f,
	struct buf *order, struct err *err)
{
	const char *folder = folder_of(a, s, run);
	AUTO_FD top = open_top(folder);
	AUTO_FD dir = -1;
	int rc = fs_mkdirs(top, folder, 0700, err);

	if (rc < 0)
		return rc;
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(err, errno, "cannot open '%s'", folder);
	rc = pack_copy(a, f->recipes, f->n_recipes, dir, err);
	buf_init(order, ORDER_MAX);
	return rc < 0 ? rc : write_order(a, f, order, err);
}

void frozen_forget(struct store *s, struct arena *a, const char *run)
{
	const char *folder = folder_of(a, s, run);
	AUTO_FD top = open_top(folder);

	if (*run && top >= 0)
		(void)fs_remove(top, folder, true, NULL);
}

/* --- read back --- */

/* Those that were asked for by name: the others lie beside them, and are found there. */
static int load_recipes(struct arena *a, const char *folder, const json_t *list, struct frozen *out,
	struct err *err)
{
	const char **names = arena_alloc(a, (json_array_size(list) + 1) * sizeof *names);
	unsigned n = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);

		if (json_get_bool(one, "asked", true))
			names[n++] =
				arena_printf(a, "%s/%s", folder, json_get_str(one, "name", ""));
	}
	return pack_resolve(a, names, n, &out->recipes, &out->n_recipes, err);
}

static int judge_recipe(struct arena *a, const char *run, const struct pack_recipe *r,
	const json_t *list, struct err *err)
{
	char sha256[HASH_HEX];
	const int rc = pack_content(a, r, 1, sha256, err);

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);

		if (strcmp(json_get_str(one, "name", ""), r->name) == 0 &&
			strcmp(json_get_str(one, "sha256", ""), sha256) == 0)
			return 0;
	}
	if (rc < 0)
		return rc;
	err_set(err, E_VERIFY,
		"the copy of recipe '%s' in '%.200s' is not what the rollout began with", r->name,
		r->dir);
	return err_hint(err,
		"put the recipe's files back as they were; who is out: stoika run show %s", run);
}

int frozen_load(struct store *s, struct arena *a, const char *run, const char *order,
	struct frozen *out, struct err *err)
{
	AUTO_JSON doc = NULL;
	int rc = json_parse(str_of(order), ORDER_MAX, "order", &doc, err);

	*out = (struct frozen){0};
	if (rc < 0)
		return rc;
	out->text = arena_strdup(a, json_get_str(doc, "policy", NULL));
	out->name = arena_strdup(a, json_get_str(doc, "policy_name", "policy"));
	out->flags = arena_strdup(a, json_get_str(doc, "flags", NULL));
	out->site = arena_strdup(a, json_get_str(doc, "site", NULL));
	out->params = json_incref(json_get(doc, "params"));
	rc = parse_policy(a, out, err);
	if (rc == 0)
		rc = load_recipes(a, folder_of(a, s, run), json_get(doc, "recipes"), out, err);
	for (unsigned i = 0; rc == 0 && i < out->n_recipes; i++)
		rc = judge_recipe(a, run, &out->recipes[i], json_get(doc, "recipes"), err);
	return rc;
}

void frozen_done(struct frozen *f)
{
	for (unsigned i = 0; i < f->n_recipes; i++)
		recipe_done(f->recipes[i].recipe);
	json_decref(f->params);
	f->n_recipes = 0;
	f->params = NULL;
}
