/*
 * world - what expressions see: names of the recipe at hand, facts gathered once, probes.
 *
 * In a plan nothing is applied, so what a probe reads may be stale: it is
 * unknown when an earlier step would change and its kind could matter to it.
 */
#include "agent/facts/facts.h"
#include "agent/run/bundle.h"
#include "agent/run/run_priv.h"

#include <string.h>

#define SITE_BYTES_MAX (64u << 20)

static int gather(void *ctx, const char *group, json_t **out, struct err *err)
{
	struct execution *x = ctx;
	const struct facts_env env = {.root = x->env->root, .self = x->env->self};
	json_t *found = json_object_get(x->facts, group);
	int rc = 0;

	if (!found) {
		rc = facts_group(&env, group, &found, err);
		if (rc == -E_NOTFOUND) {
			*out = NULL;
			return 0;
		}
		if (rc < 0)
			return rc;
		json_object_set_new(x->facts, group, found);
	}
	*out = found;
	return rc;
}

int world_facts(struct execution *x, const char *group, json_t **out, struct err *err)
{
	return gather(x, group, out, err);
}

/* {"$secret": NAME} by itself stands for the value, or for not knowing it yet. */
static json_t *secret_value(const struct execution *x, const char *name)
{
	json_t *value = json_get(x->order->secret_values, name);

	if (value)
		return json_incref(value);
	return value_unknown_json(arena_printf(x->arena, NEEDS_SECRET "%s'", name));
}

static bool names_secret(const json_t *v)
{
	return json_object_size(v) == 1 && json_is_string(json_get(v, RECIPE_SECRET_KEY));
}

static bool holds_secret_name(json_t *v)
{
	const char *key;
	json_t *one;
	size_t i;

	if (names_secret(v))
		return true;
	json_array_foreach(v, i, one)
	{
		if (holds_secret_name(one))
			return true;
	}
	json_object_foreach(v, key, one)
	{
		if (holds_secret_name(one))
			return true;
	}
	return false;
}

/* v with values in the places of their names; a new reference, v itself when there are none. */
static json_t *bind_secrets(const struct execution *x, json_t *v)
{
	const char *key;
	json_t *copy, *one;
	size_t i;

	if (!v || !holds_secret_name(v))
		return json_incref(v);
	if (names_secret(v))
		return secret_value(x, json_get_str(v, RECIPE_SECRET_KEY, ""));
	if (json_is_array(v)) {
		copy = json_array();
		json_array_foreach(v, i, one) json_array_append_new(copy, bind_secrets(x, one));
		return copy;
	}
	copy = json_object();
	json_object_foreach(v, key, one) json_object_set_new(copy, key, bind_secrets(x, one));
	return copy;
}

static bool in_list(const char *word, const char *const *list)
{
	while (*list && strcmp(*list, word) != 0)
		list++;
	return *list;
}

/* One path lies on the way to the other. */
static bool paths_meet(const char *a, const char *b)
{
	const size_t na = strlen(a), nb = strlen(b), n = na < nb ? na : nb;
	const char *longer = na < nb ? b : a;

	if (strncmp(a, b, n) != 0)
		return false;
	return na == nb || longer[n] == '/' || (n > 0 && longer[n - 1] == '/');
}

static bool touch_matters(const struct touch *t, const char *probe, const char *path)
{
	static const char *const of_files[] = {"exists", "contains", "json_file", "toml_file",
		"ini_file", "text_file", "lines", "glob", "gres_lint", NULL};
	static const char *const of_processes[] = {
		"running", "port_open", "http_ok", "program", NULL};

	if (strcmp(t->kind, "command") == 0 || strcmp(t->kind, "package") == 0)
		return true;
	if (in_list(probe, of_processes))
		return strcmp(t->kind, "service") == 0;
	if (strcmp(probe, "unit_setting") == 0)
		return strcmp(t->kind, "unit") == 0 || (t->path && strstr(t->path, "/systemd/"));
	return in_list(probe, of_files) && t->path && paths_meet(t->path, path);
}

static const struct touch *find_touch(
	const struct execution *x, const char *probe, const json_t *args)
{
	const char *path = json_string_value(json_array_get(args, 0));

	for (size_t i = x->touched.n; i-- > 0;)
		if (touch_matters(&x->touched.at[i], probe, path ? path : ""))
			return &x->touched.at[i];
	return NULL;
}

const char *world_depends_on(struct execution *x, const struct touch *t, const char *rest)
{
	if (x->recipe && strcmp(t->recipe, x->recipe->name) == 0)
		return arena_printf(x->arena, "depends on step %u (%s)%s", t->step, t->kind, rest);
	return arena_printf(x->arena, "depends on step %u (%s) of recipe '%s'%s", t->step, t->kind,
		t->recipe, rest);
}

/* What a trial says that a server answers. */
static int probe_given(const struct execution *x, const json_t *args, struct value *out)
{
	const char *url = json_string_value(json_array_get(args, 0));
	const char *text = json_string_value(json_array_get(args, 1));
	const char *answer = url ? json_get_str(x->env->http, url, NULL) : NULL;

	*out = value_of(json_boolean(answer && text && strstr(answer, text)));
	return 0;
}

static int probe(
	void *ctx, const char *name, const json_t *args, struct value *out, struct err *err)
{
	struct execution *x = ctx;
	const struct touch *t = x->dry ? find_touch(x, name, args) : NULL;

	if (!t && x->env->http && strcmp(name, "http_ok") == 0)
		return probe_given(x, args, out);
	if (!t)
		return step_probe(&x->step_env, name, args, out, err);
	*out = value_unknown(world_depends_on(x, t, ""));
	return 0;
}

static void put_object(struct execution *x, const char *key, json_t *value)
{
	json_object_set_new(x->names, key, value ? bind_secrets(x, value) : json_object());
}

/* The inventory, which the bundle has when one of its recipes reads it. */
static json_t *site_of(struct execution *x)
{
	AUTO_BUF text = {0};

	if (x->site)
		return x->site;
	buf_init(&text, SITE_BYTES_MAX);
	if (x->env->site)
		x->site = json_incref(x->env->site);
	else if (x->env->bundle && bundle_find(x->env->bundle, SITE_FILE) &&
		 bundle_read(x->env->bundle, SITE_FILE, &text, NULL) == 0)
		(void)json_parse(buf_str(&text), SITE_BYTES_MAX, SITE_FILE, &x->site, NULL);
	if (!x->site)
		x->site = json_object();
	return x->site;
}

void world_enter(struct execution *x, const struct recipe *r, json_t *params)
{
	x->recipe = r;
	x->names = json_object();
	put_object(x, "params", params);
	put_object(x, "node", x->order->node_facts);
	put_object(x, "vars", x->order->vars);
	json_object_set(x->names, "site", site_of(x));
	put_object(x, "steps", NULL);
	json_object_set(x->names, "data", r->data);
	x->scope = (struct scope){.names = x->names,
		.ctx = x,
		.facts = gather,
		.probe = probe,
		.lets = r->lets,
		.n_lets = r->n_lets};
	x->step_env = (struct step_env){.root = x->env->root,
		.root_path = x->env->root_path,
		.bundle = x->env->bundle,
		.recipe = r->name,
		.scope = &x->scope,
		.cache = x->cache,
		.boot_id = x->env->boot_id,
		.dry = x->dry,
		.keep = -1};
	x->list = r->steps;
	x->n_list = r->n_steps;
	x->of = NULL;
	x->settled.n = 0;
}

void world_leave(struct execution *x)
{
	json_drop(&x->names);
	json_drop(&x->changed);
	x->recipe = NULL;
}

void world_bind_item(struct execution *x, json_t *item)
{
	if (item)
		json_object_set(x->names, "item", item);
	else
		json_object_del(x->names, "item");
}

void world_set_step(struct execution *x, const char *as, enum step_result result, const char *why)
{
	json_t *steps = json_object_get(x->names, "steps");
	json_t *value = json_object();

	if (result == RESULT_UNKNOWN) {
		json_object_set_new(value, "changed", value_unknown_json(why));
		json_object_set_new(value, "state", value_unknown_json(why));
	} else {
		json_put_bool(value, "changed", result == RESULT_CHANGED);
		json_put_str(value, "state", result_name(result));
	}
	json_object_set_new(steps, as, value);
}

void world_touch(struct execution *x, const struct task *t)
{
	const char *path = json_get_str(t->args, "path", json_get_str(t->args, "home", NULL));

	*vec_push(&x->touched) = (struct touch){.recipe = x->recipe->name,
		.kind = t->step->kind->name,
		.path = arena_strdup(x->arena, path),
		.step = t->step->index + 1};
}

const char *world_unknown_why(struct execution *x, const char *why)
{
	if (!x->dry || x->touched.n == 0 || str_starts(str_of(why), "depends on step "))
		return arena_strdup(x->arena, why);
	return world_depends_on(
		x, &x->touched.at[x->touched.n - 1], arena_printf(x->arena, ": %s", why));
}
