/*
 * fleet_params - which parameters and secrets each node's order carries.
 *
 * Parameters come from what was given for the run, under it from the node's
 * variables. Nodes with the same variables share one set, so that a thousand of
 * them cost one evaluation. Orders carry the names of secrets; the values wait
 * here until they are sent behind the order.
 */
#include "agent/base/json.h"
#include "agent/base/mem.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/fleet_priv.h"
#include "controller/secret/secret.h"
#include "inventory/model/vars.h"
#include "inventory/store/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A secret that the variables hold under the parameter's own name. */
static void add_plain_secrets(const struct recipe *r, const json_t *vars, json_t *params)
{
	for (unsigned i = 0; i < r->n_params; i++) {
		json_t *v = json_get(vars, r->params[i].name);

		if (r->params[i].type == PARAM_SECRET && !json_get(params, r->params[i].name) &&
			vars_is_secret(v))
			json_object_set(params, r->params[i].name, v);
	}
}

json_t *fleet_params_given(const struct recipe *r, const json_t *vars, json_t *given)
{
	json_t *params = vars_params(vars, r->name, given);

	add_plain_secrets(r, vars, params);
	return params;
}

static int find_value(const struct hub *h, struct param_set *set, const char *name, struct err *err)
{
	struct str value;
	int rc;

	if (!h->opts->secrets) {
		err_set(err, E_NOTFOUND, "there is no secret '%s'", name);
		return err_hint(err, "stoika secret set %s", name);
	}
	rc = secrets_find(h->opts->secrets, name, &value, err);
	if (rc < 0)
		return rc;
	if (!set->secrets)
		set->secrets = json_object();
	json_put_text(set->secrets, name, value);
	return 0;
}

static int give_params(struct hub *h, struct param_set *set, unsigned i, struct err *err)
{
	const struct pack_recipe *p = &h->opts->recipes[i];
	AUTO_JSON params =
		fleet_params_given(p->recipe, set->vars, json_get(h->opts->params, p->name));
	int rc = recipe_params(p->recipe, params, &set->params[i], err);
	for (unsigned k = 0; rc == 0 && k < p->recipe->n_params; k++) {
		const struct recipe_param *r = &p->recipe->params[k];

		if (r->type == PARAM_SECRET)
			rc = find_value(h, set,
				json_get_str(
					json_get(set->params[i], r->name), RECIPE_SECRET_KEY, ""),
				err);
	}
	return rc < 0 ? err_wrap(err, "recipe '%s'", p->name) : 0;
}

static void fill(struct hub *h, struct param_set *set, const char *text)
{
	int rc;

	*set = (struct param_set){
		.text = text, .params = xcalloc(h->opts->n_recipes + 1, sizeof *set->params)};
	rc = json_parse(
		str_of(text && *text ? text : "{}"), VARS_TEXT_MAX, "vars", &set->vars, &set->err);
	for (unsigned i = 0; rc == 0 && i < h->opts->n_recipes; i++)
		rc = give_params(h, set, i, &set->err);
}

const struct param_set *params_of(const struct hub *h, const struct node_row *node)
{
	char id[24];

	snprintf(id, sizeof id, "%lld", (long long)node->id);
	for (unsigned i = 0; i < h->n_sets; i++)
		if (h->sets[i].nodes ? json_get(h->sets[i].nodes, id) != NULL
				     : h->sets[i].text == node->vars)
			return &h->sets[i];
	return NULL;
}

/* The values by the names that the run's order had for these nodes. */
static int fill_again(struct hub *h, json_t *record, struct param_set *set, struct err *err)
{
	size_t i;
	json_t *name;
	int rc = 0;

	*set = (struct param_set){.nodes = json_incref(json_get(record, "nodes"))};
	json_array_foreach(json_get(record, "secrets"), i, name)
	{
		if (rc == 0 && json_is_string(name))
			rc = find_value(h, set, json_string_value(name), err);
	}
	return rc;
}

/* A resumed run takes what its own record says, whatever variables say now. */
static int prepare_resume(struct hub *h, struct err *err)
{
	AUTO_JSON order = NULL;
	json_t *sets;
	int rc = store_order_get(h->store, h->opts->id, &order, err);

	if (rc == -E_NOTFOUND)
		return 0;
	sets = json_get(order, "sets");
	h->sets = xcalloc(json_array_size(sets) + 1, sizeof *h->sets);
	for (size_t i = 0; rc == 0 && i < json_array_size(sets); i++)
		rc = fill_again(h, json_array_get(sets, i), &h->sets[h->n_sets++], err);
	return rc;
}

static void know_secrets(struct hub *h)
{
	AUTO_JSON all = json_object();

	for (unsigned i = 0; i < h->n_sets; i++)
		if (h->sets[i].secrets)
			json_object_update(all, h->sets[i].secrets);
	if (json_object_size(all) > 0)
		h->redact = redact_new(all);
}

int params_prepare(struct hub *h, const struct node_refs *nodes, struct err *err)
{
	unsigned bad = 0;

	if (h->opts->mode == ORDER_RESUME) {
		const int rc = prepare_resume(h, err);

		know_secrets(h);
		return rc;
	}
	h->sets = xcalloc(nodes->n + 1, sizeof *h->sets);
	for (size_t i = 0; i < nodes->n; i++) {
		if (params_of(h, nodes->at[i]))
			continue;
		fill(h, &h->sets[h->n_sets], nodes->at[i]->vars);
		bad += h->sets[h->n_sets++].err.code ? 1 : 0;
	}
	know_secrets(h);
	if (bad == 0 || bad < h->n_sets)
		return 0;
	*err = h->sets[0].err; /* not a single node could be told what to do */
	return -(int)err->code;
}

void params_cleanup(struct hub *h)
{
	for (unsigned i = 0; i < h->n_sets; i++) {
		struct param_set *set = &h->sets[i];

		for (unsigned k = 0; set->params && k < h->opts->n_recipes; k++)
			json_decref(set->params[k]);
		free(set->params);
		json_decref(set->nodes);
		json_decref(set->vars);
		json_decref(set->secrets);
	}
	free(h->sets);
	h->sets = NULL;
	h->n_sets = 0;
	redact_free(h->redact);
	h->redact = NULL;
}

static json_t *set_record(const struct hub *h, const struct param_set *set)
{
	json_t *obj = json_object(), *recipes = json_array(), *names = json_array(), *value;
	const char *name;

	for (unsigned i = 0; i < h->opts->n_recipes; i++) {
		json_t *one = json_object();

		json_put_str(one, "name", h->opts->recipes[i].name);
		if (set->params[i])
			json_object_set(one, "params", set->params[i]);
		json_array_append_new(recipes, one);
	}
	json_object_foreach(set->secrets, name, value)
	{
		json_array_append_new(names, json_string(name));
	}
	json_object_set_new(obj, "recipes", recipes);
	json_object_set_new(obj, "secrets", names);
	json_object_set_new(obj, "nodes", json_object());
	return obj;
}

json_t *params_record(const struct hub *h)
{
	json_t *doc = json_object(), *sets = json_array();

	for (unsigned i = 0; i < h->n_sets; i++)
		json_array_append_new(sets, set_record(h, &h->sets[i]));
	for (size_t i = 0; i < h->nodes->n; i++) {
		const struct node_row *node = h->nodes->at[i];
		const struct param_set *set = params_of(h, node);
		char id[24];

		if (!set)
			continue;
		snprintf(id, sizeof id, "%lld", (long long)node->id);
		json_put_int(
			json_get(json_array_get(sets, (size_t)(set - h->sets)), "nodes"), id, 1);
	}
	json_object_set_new(doc, "sets", sets);
	return doc;
}
