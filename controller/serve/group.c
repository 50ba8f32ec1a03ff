/* group - nodes by what their roles list, and one run in check mode for each group. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/fleet.h"
#include "controller/fleet/warm.h"
#include "controller/secret/secret.h"
#include "controller/serve/look.h"

#include <stdlib.h>
#include <string.h>

/* --- groups --- */

static struct role_group *group_of(struct arena *a, struct role_groups *all, const char *text)
{
	struct str rest = str_of(text), name;
	struct role_group *g;

	vec_each(all, struct role_group, it)
		if (it->text == text || strcmp(it->text, text) == 0)
			return it;
	g = vec_push(all);
	g->text = text;
	g->names = arena_alloc(a, GROUP_RECIPES_MAX * sizeof *g->names);
	while (g->n < GROUP_RECIPES_MAX && str_next(&rest, ' ', &name))
		if (name.n > 0)
			g->names[g->n++] = arena_text(a, name);
	return g;
}

static const char *with_blanks(struct arena *a, const char *recipes)
{
	char *text = arena_strdup(a, recipes);

	for (char *p = text; p && *p; p++)
		if (*p == ',')
			*p = ' ';
	return text;
}

int role_groups_make(struct arena *a, const struct node_refs *nodes, const char *recipes,
	struct role_groups *out, struct node_refs *bare, struct err *err)
{
	const char *all = with_blanks(a, recipes);

	for (size_t i = 0; i < nodes->n; i++) {
		const struct node_row *n = nodes->at[i];
		const char *text = all ? all : n->role_recipes;

		if (text && *text)
			*vec_push(&group_of(a, out, text)->nodes) = n;
		else
			*vec_push(bare) = n;
	}
	if (out->n > 0)
		return 0;
	err_set(err, E_NOTFOUND, "no recipe is meant for %s '%s'%s",
		nodes->n == 1 ? "node" : "the nodes, such as", nodes->at[0]->name,
		*nodes->at[0]->role ? "" : ", which has no role");
	return err_hint(err, "list them in the site file: roles: {%s: {recipes: [base]}}",
		*nodes->at[0]->role ? nodes->at[0]->role : "ROLE");
}

void role_groups_done(struct role_groups *g)
{
	vec_each(g, struct role_group, it)
		vec_done(&it->nodes);
	vec_done(g);
}

/* --- one group --- */

struct group_look {
	struct looking *whole;
	const struct role_group *group;
	struct pack_recipe *recipes;
	unsigned n_recipes;
	json_t *params;
	struct secrets *secrets;
	struct warm *warm;
	struct fleet_opts opts;
	struct buf nodes; /* folded, for the record */
	bool ready;       /* else broken says why not */
	struct err broken;
	/* of the turn */
	struct look *looks; /* of group->nodes, by the node's id */
	struct fleet_outcome outcome;
	unsigned unreachable; /* of the outcome, so far */
	unsigned interrupted;
};

struct looking {
	struct store *store;
	const struct keys *keys;
	const struct look_opts *opts;
	struct role_groups groups;
	struct node_refs bare;
	struct group_look *at; /* beside groups */
	/* of the turn */
	struct arena *arena;
	struct drift_reports *reports;
};

static int compare_ids(const void *key, const void *item)
{
	const int64_t id = *(const int64_t *)key;
	const struct look *l = item;

	return id < l->report.node ? -1 : id > l->report.node;
}

static int compare_looks(const void *a, const void *b)
{
	return compare_ids(&((const struct look *)a)->report.node, b);
}

static struct look *look_of(struct group_look *g, const struct node_row *node)
{
	return bsearch(&node->id, g->looks, g->group->nodes.n, sizeof *g->looks, compare_ids);
}

static void on_event(void *ctx, const struct node_row *node, const json_t *record)
{
	struct look *l = look_of(ctx, node);

	if (l)
		look_record(l, record);
}

/* The outcome counts an unreachable node just before it tells its result. */
static void on_done(void *ctx, const struct node_row *node, const struct node_result *r)
{
	struct group_look *g = ctx;
	struct look *l = look_of(g, node);
	const bool reached = g->outcome.unreachable == g->unreachable;

	g->unreachable = g->outcome.unreachable;
	if (!l)
		return;
	if (r->state == RESULT_INTERRUPTED) {
		g->interrupted++;
		return;
	}
	look_end(l, r, reached);
	l->report.recipes = g->group->text;
	l->report.run = arena_strdup(g->whole->arena, g->outcome.id);
	*vec_push(g->whole->reports) = l->report;
}

static bool wants_secrets(const struct pack_recipe *recipes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < recipes[i].recipe->n_params; k++)
			if (recipes[i].recipe->params[k].type == PARAM_SECRET)
				return true;
	return false;
}

static int prepare(struct group_look *g, struct arena *a, struct err *err)
{
	static const struct secret_ask ask = {secret_passphrase, NULL};
	const struct looking *l = g->whole;
	int rc = pack_resolve(a, g->group->names, g->group->n, &g->recipes, &g->n_recipes, err);

	g->params = json_object();
	for (unsigned i = 0; rc == 0 && i < l->opts->n_set; i++)
		rc = pack_set(g->params, g->recipes, g->n_recipes, l->opts->set[i], err);
	if (rc == 0 && wants_secrets(g->recipes, g->n_recipes))
		rc = secrets_open(store_path(l->store), false, &ask, &g->secrets, err);
	if (rc < 0)
		return rc;
	range_fold(&g->group->nodes, &g->nodes);
	g->opts = (struct fleet_opts){.mode = ORDER_CHECK,
		.recipes = g->recipes,
		.n_recipes = g->n_recipes,
		.params = g->params,
		.secrets = g->secrets,
		.nodes_text = buf_ok(&g->nodes) ? buf_text(&g->nodes) : "many",
		.by = l->opts->by,
		.parallel = l->opts->parallel,
		.kex = l->opts->kex,
		.ctx = g,
		.event = on_event,
		.done = on_done};
	return l->opts->keep
		       ? warm_open(l->store, l->keys, &g->group->nodes, &g->opts, &g->warm, err)
		       : 0;
}

static void group_done(struct group_look *g)
{
	warm_close(g->warm);
	secrets_close(g->secrets);
	for (unsigned i = 0; i < g->n_recipes; i++)
		recipe_done(g->recipes[i].recipe);
	json_decref(g->params);
	buf_done(&g->nodes);
}

/* One transaction for the group, after the run has ended its own. */
static int store_reports(struct looking *l, size_t from, struct err *err)
{
	int rc = store_begin(l->store, err);

	if (rc < 0)
		return rc;
	for (size_t i = from; rc == 0 && i < l->reports->n; i++)
		rc = store_drift_put(l->store, &l->reports->at[i], err);
	if (rc < 0) {
		store_rollback(l->store);
		return rc;
	}
	return store_commit(l->store, err);
}

static void tell(const struct looking *l, size_t from)
{
	for (size_t i = from; l->opts->done && i < l->reports->n; i++)
		l->opts->done(l->opts->ctx, &l->reports->at[i]);
}

/* The recipes cannot even be read: what each of the nodes is, nobody knows. */
static void fail_group(struct group_look *g)
{
	const struct err *why = &g->broken;

	for (size_t i = 0; i < g->group->nodes.n; i++) {
		struct drift_report *r = &g->looks[i].report;

		r->at = clock_wall() / CLOCK_SEC;
		r->state = DRIFT_FAILED;
		r->recipes = g->group->text;
		r->reason = arena_printf(
			g->whole->arena, "%s%s%s", why->file, *why->file ? ": " : "", why->msg);
		r->hint = arena_strdup(g->whole->arena, why->hint);
		*vec_push(g->whole->reports) = *r;
	}
}

static int run_group(struct group_look *g, struct err *err)
{
	struct looking *l = g->whole;

	if (g->warm)
		return warm_turn(g->warm, &g->outcome, err);
	return fleet_run(l->store, l->keys, &g->group->nodes, &g->opts, &g->outcome, err);
}

/* What cannot be sent to any node, such as a parameter that is missing, is the group's failure. */
static bool is_of_recipes(const struct err *err)
{
	return err->code == E_SYNTAX || err->code == E_SCHEMA || err->code == E_NOTFOUND ||
	       err->code == E_CONFLICT || err->code == E_LIMIT || err->code == E_EXISTS;
}

static int look_at_group(struct group_look *g, struct err *err)
{
	struct looking *l = g->whole;
	const size_t from = l->reports->n;
	int rc = 0;

	g->looks = arena_alloc(l->arena, g->group->nodes.n * sizeof *g->looks);
	g->unreachable = g->interrupted = 0;
	for (size_t i = 0; i < g->group->nodes.n; i++)
		look_begin(&g->looks[i], l->arena, g->group->nodes.at[i]);
	qsort(g->looks, g->group->nodes.n, sizeof *g->looks, compare_looks);
	if (g->ready)
		rc = run_group(g, &g->broken);
	if (rc < 0 && (!is_of_recipes(&g->broken) || l->reports->n > from)) {
		*err = g->broken;
		return rc;
	}
	if (rc < 0 || !g->ready)
		fail_group(g);
	rc = store_reports(l, from, err);
	if (rc == 0)
		tell(l, from);
	if (rc == 0 && g->interrupted > 0)
		rc = err_set(err, E_CANCELLED, "stopped before all nodes were looked at");
	return rc;
}

int look_open(struct store *s, const struct keys *k, struct arena *a, const struct node_refs *nodes,
	const struct look_opts *o, struct looking **out, struct err *err)
{
	struct looking *l = xcalloc(1, sizeof *l);
	const int rc = role_groups_make(a, nodes, o->recipes, &l->groups, &l->bare, err);

	l->store = s;
	l->keys = k;
	l->opts = o;
	l->at = xcalloc(l->groups.n + 1, sizeof *l->at);
	for (size_t i = 0; rc == 0 && i < l->groups.n; i++) {
		struct group_look *g = &l->at[i];

		g->whole = l;
		g->group = &l->groups.at[i];
		buf_init(&g->nodes, 1u << 20);
		g->ready = prepare(g, a, &g->broken) == 0;
	}
	if (rc < 0) {
		look_close(l);
		return rc;
	}
	*out = l;
	return 0;
}

int look_turn(struct looking *l, struct arena *a, struct drift_reports *reports, struct err *err)
{
	int rc = 0;

	l->arena = a;
	l->reports = reports;
	for (size_t i = 0; rc == 0 && i < l->groups.n; i++)
		rc = look_at_group(&l->at[i], err);
	return rc;
}

const struct node_refs *look_bare(const struct looking *l)
{
	return &l->bare;
}

void look_close(struct looking *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->groups.n; i++)
		group_done(&l->at[i]);
	free(l->at);
	role_groups_done(&l->groups);
	vec_done(&l->bare);
	free(l);
}
