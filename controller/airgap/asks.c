/* asks - the steps of recipes evaluated over names that are known without a node. */
#include "controller/airgap/asks.h"

#include "agent/base/err.h"
#include "agent/recipe/recipe.h"
#include "agent/recipe/supports.h"
#include "controller/fleet/fleet.h"
#include "controller/fleet/pack.h"

#include <string.h>

static const struct {
	const char *name, *id, *version, *codename;
} SYSTEMS[] = {
	{"debian-12", "debian", "12", "bookworm"},
	{"debian-13", "debian", "13", "trixie"},
	{"ubuntu-22.04", "ubuntu", "22.04", "jammy"},
	{"ubuntu-24.04", "ubuntu", "24.04", "noble"},
};
#define SYSTEMS_N (sizeof SYSTEMS / sizeof *SYSTEMS)

int asks_system(const char *name, json_t **os, struct err *err)
{
	size_t i = 0;

	while (i < SYSTEMS_N && strcmp(SYSTEMS[i].name, name) != 0)
		i++;
	if (i == SYSTEMS_N) {
		err_set(err, E_UNSUPPORTED, "packages cannot be collected for '%.40s'", name);
		return err_hint(
			err, "for debian-12, debian-13, ubuntu-22.04 and ubuntu-24.04 they can");
	}
	*os = json_object();
	json_put_str(*os, "id", SYSTEMS[i].id);
	json_put_str(*os, "family", "debian");
	json_put_str(*os, "packages", "apt");
	json_put_str(*os, "version_id", SYSTEMS[i].version);
	json_put_str(*os, "codename", SYSTEMS[i].codename);
	json_put_str(*os, "arch", "x86_64");
	json_put_bool(*os, "systemd", true);
	json_put_bool(*os, "experimental", false);
	json_object_set_new(*os, "kernel", value_unknown_json("the kernel is a node's"));
	return 0;
}

struct asking {
	const struct pack_recipe *recipe;
	struct scope scope;
	json_t *os, *elsewhere; /* facts: the system's, and what stands for all others */
	json_t *out;
};

static int facts(void *ctx, const char *group, json_t **out, struct err *err)
{
	struct asking *x = ctx;

	(void)err;
	*out = strcmp(group, "os") == 0 ? x->os : x->elsewhere;
	return 0;
}

static json_t *part(const struct asking *x, const char *name)
{
	return json_object_get(x->out, name);
}

static void add_open(struct asking *x, const struct step *s, const char *why)
{
	json_t *one = json_object();

	json_put_str(one, "recipe", x->recipe->name);
	json_put_str(one, "step", s->name);
	json_put_str(one, "why", why);
	json_array_append_new(part(x, "open"), one);
}

static void add_text(json_t *list, json_t *text)
{
	size_t i;
	json_t *one;

	json_array_foreach(list, i, one) if (json_equal(one, text)) return;
	json_array_append(list, text);
}

static void add_packages(struct asking *x, const json_t *args)
{
	size_t i;
	json_t *name;

	json_array_foreach(json_get(args, "names"), i, name) add_text(part(x, "packages"), name);
}

static void add_repo(struct asking *x, json_t *args)
{
	json_t *one = json_object();

	json_put_str(one, "recipe", x->recipe->name);
	json_put_str(one, "dir", x->recipe->dir);
	json_object_set(one, "args", args);
	json_array_append_new(part(x, "repos"), one);
}

static void add_file(struct asking *x, const struct step *s, const json_t *args)
{
	const char *first = json_string_value(json_array_get(json_get(args, "urls"), 0));
	const char *url = json_get_str(args, "url", first), *sum = json_get_str(args, "sha256", "");
	json_t *one;

	if (!url || !*sum) {
		add_open(x, s, "its SHA-256 stands in no argument");
		return;
	}
	one = json_object();
	json_put_str(one, "recipe", x->recipe->name);
	json_put_str(one, "url", url);
	json_put_str(one, "sha256", sum);
	json_array_append_new(part(x, "files"), one);
}

static void add_args(struct asking *x, const struct step *s, json_t *args)
{
	const char *kind = s->kind->name;

	if (strcmp(json_get_str(args, "state", "present"), "absent") == 0)
		return;
	if (strcmp(kind, "package") == 0)
		add_packages(x, args);
	else if (strcmp(kind, "repo") == 0 && json_get_bool(args, "enabled", true))
		add_repo(x, args);
	else if (strcmp(kind, "download") == 0)
		add_file(x, s, args);
	else if (strcmp(kind, "container") == 0 && json_get(args, "image"))
		add_text(part(x, "images"), json_get(args, "image"));
}

static bool asks_network(const struct step *s)
{
	static const char *const KINDS[] = {"package", "repo", "download", "container"};

	for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
		if (strcmp(s->kind->name, KINDS[i]) == 0)
			return true;
	return false;
}

/* One step, of each one item. */
static int ask_once(struct asking *x, const struct step *s, struct err *err)
{
	AUTO_JSON args = NULL;
	const char *unknown = NULL;
	bool yes = true;
	int rc;

	if (s->when && (rc = expr_eval_bool(s->when, &x->scope, &yes, &unknown, err)) < 0)
		return rc;
	if (!yes && !unknown)
		return 0;
	unknown = NULL;
	rc = step_args_eval(x->recipe->recipe, s, &x->scope, &args, &unknown, err);
	if (rc < 0)
		return rc;
	if (args)
		add_args(x, s, args);
	else
		add_open(x, s, unknown ? unknown : "an argument is not known here");
	return 0;
}

static int ask_step(struct asking *x, const struct step *s, struct err *err)
{
	struct value list = {0};
	json_t *item;
	size_t i;
	int rc;

	if (!asks_network(s))
		return 0;
	if (!s->each)
		return ask_once(x, s, err);
	rc = expr_eval(s->each, &x->scope, &list, err);
	if (rc == 0 && !value_is_known(&list))
		add_open(x, s, list.unknown);
	json_array_foreach(list.json, i, item)
	{
		json_object_set(x->scope.names, "item", item);
		if (rc == 0)
			rc = ask_once(x, s, err);
	}
	json_object_del(x->scope.names, "item");
	value_done(&list);
	return rc;
}

/* A secret's value is nobody's business here. */
static void hide_secrets(json_t *params)
{
	const char *name;
	json_t *v;
	void *next;

	json_object_foreach_safe(params, next, name, v)
	{
		if (json_is_object(v) && json_get(v, RECIPE_SECRET_KEY))
			json_object_set_new(params, name, value_unknown_json("it is a secret"));
	}
}

static int bind_names(struct asking *x, const json_t *vars, const json_t *params,
	const char *mirror, struct err *err)
{
	const struct recipe *r = x->recipe->recipe;
	AUTO_JSON given = fleet_params_given(r, vars, json_get(params, x->recipe->name));
	AUTO_JSON seen = vars ? json_copy((json_t *)(uintptr_t)vars) : json_object();
	json_t *full = NULL, *names = x->scope.names;
	const int rc = recipe_params(r, given, &full, err);

	if (rc < 0)
		return rc;
	hide_secrets(full);
	hide_secrets(seen);
	if (mirror)
		json_put_str(seen, "mirror", mirror);
	else
		json_object_del(seen, "mirror");
	json_object_set_new(names, "params", full);
	json_object_set(names, "vars", seen);
	json_object_set_new(names, "node", value_unknown_json("it is a node's"));
	json_object_set_new(names, "site", value_unknown_json("the site is not asked here"));
	json_object_set_new(names, "steps", value_unknown_json("it is the result of a step"));
	if (r->data)
		json_object_set(names, "data", r->data);
	x->scope.lets = r->lets;
	x->scope.n_lets = r->n_lets;
	return 0;
}

static int ask_recipe(struct asking *x, struct err *err)
{
	const struct recipe *r = x->recipe->recipe;
	const char *unknown = NULL;
	bool yes = true;
	int rc = recipe_supports(r, x->os, err);

	if (rc == 0 && r->when)
		rc = expr_eval_bool(r->when, &x->scope, &yes, &unknown, err);
	if (rc < 0 || (!yes && !unknown))
		return rc;
	for (unsigned i = 0; rc == 0 && i < r->n_steps; i++)
		rc = ask_step(x, &r->steps[i], err);
	for (unsigned i = 0; rc == 0 && i < r->n_handlers; i++)
		rc = ask_step(x, &r->handlers[i], err);
	return rc;
}

int asks_of(const struct pack_recipe *recipes, unsigned n, const json_t *vars, const json_t *params,
	json_t *os, const char *mirror, json_t **out, struct err *err)
{
	static const char *const PARTS[] = {"packages", "repos", "files", "images", "open"};
	AUTO_JSON all = json_object();
	AUTO_JSON elsewhere = value_unknown_json("it is a fact of a node");
	int rc = 0;

	for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
		json_object_set_new(all, PARTS[i], json_array());
	for (unsigned i = 0; rc == 0 && i < n; i++) {
		AUTO_JSON names = json_object();
		struct asking x = {
			.recipe = &recipes[i], .os = os, .elsewhere = elsewhere, .out = all};

		x.scope = (struct scope){.names = names, .ctx = &x, .facts = facts};
		rc = bind_names(&x, vars, params, mirror, err);
		if (rc == 0)
			rc = ask_recipe(&x, err);
		if (rc < 0)
			err_wrap(err, "recipe '%s'", recipes[i].name);
	}
	if (rc == 0)
		*out = json_incref(all);
	return rc;
}
