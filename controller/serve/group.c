/* group - nodes by what their roles list, and one run in check mode for each group. */
#include "agent/base/clock.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/fleet.h"
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

struct looking {
	struct store *store;
	struct arena *arena;
	const struct look_opts *opts;
	const struct role_group *group;
	struct look *looks; /* of group->nodes, by the node's id */
	struct fleet_outcome outcome;
	unsigned unreachable; /* of the outcome, so far */
	unsigned interrupted;
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

static struct look *look_of(struct looking *g, const struct node_row *node)
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
	struct looking *g = ctx;
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
	l->report.run = arena_strdup(g->arena, g->outcome.id);
	*vec_push(g->reports) = l->report;
}

/* One transaction for the group, after the run has ended its own. */
static int store_reports(struct looking *g, size_t from, struct err *err)
{
	int rc = store_begin(g->store, err);

	if (rc < 0)
		return rc;
	for (size_t i = from; rc == 0 && i < g->reports->n; i++)
		rc = store_drift_put(g->store, &g->reports->at[i], err);
	if (rc < 0) {
		store_rollback(g->store);
		return rc;
	}
	return store_commit(g->store, err);
}

static void tell(const struct looking *g, size_t from)
{
	for (size_t i = from; g->opts->done && i < g->reports->n; i++)
		g->opts->done(g->opts->ctx, &g->reports->at[i]);
}

/* The recipes cannot even be read: what each of the nodes is, nobody knows. */
static void fail_group(struct looking *g, const struct err *why)
{
	for (size_t i = 0; i < g->group->nodes.n; i++) {
		struct drift_report *r = &g->looks[i].report;

		r->at = clock_wall() / CLOCK_SEC;
		r->state = DRIFT_FAILED;
		r->recipes = g->group->text;
		r->reason = arena_printf(
			g->arena, "%s%s%s", why->file, *why->file ? ": " : "", why->msg);
		r->hint = arena_strdup(g->arena, why->hint);
		*vec_push(g->reports) = *r;
	}
}

static int run_group(struct looking *g, const struct keys *k, struct err *err)
{
	const struct look_opts *o = g->opts;
	struct pack_recipe *recipes = NULL;
	struct fleet_opts f = {.mode = ORDER_CHECK,
		.nodes_text = "",
		.by = o->by,
		.parallel = o->parallel,
		.kex = o->kex,
		.ctx = g,
		.event = on_event,
		.done = on_done};
	AUTO_BUF nodes = {0};
	int rc = pack_resolve(g->arena, g->group->names, g->group->n, &recipes, &f.n_recipes, err);

	if (rc < 0)
		return rc;
	buf_init(&nodes, 1u << 20);
	range_fold(&g->group->nodes, &nodes);
	f.nodes_text = buf_ok(&nodes) ? buf_text(&nodes) : "many";
	f.recipes = recipes;
	rc = fleet_run(g->store, k, &g->group->nodes, &f, &g->outcome, err);
	for (unsigned i = 0; i < f.n_recipes; i++)
		recipe_done(recipes[i].recipe);
	return rc;
}

/* A broken store ends the whole look, a recipe at fault only its group. */
static bool is_of_recipes(const struct err *err)
{
	return err->code == E_SYNTAX || err->code == E_SCHEMA || err->code == E_NOTFOUND ||
	       err->code == E_CONFLICT || err->code == E_LIMIT || err->code == E_EXISTS;
}

static int look_at_group(struct looking *g, const struct keys *k, struct err *err)
{
	const size_t from = g->reports->n;
	struct err why;
	int rc;

	g->looks = arena_alloc(g->arena, g->group->nodes.n * sizeof *g->looks);
	for (size_t i = 0; i < g->group->nodes.n; i++)
		look_begin(&g->looks[i], g->arena, g->group->nodes.at[i]);
	qsort(g->looks, g->group->nodes.n, sizeof *g->looks, compare_looks);
	rc = run_group(g, k, &why);
	if (rc < 0 && (!is_of_recipes(&why) || g->reports->n > from)) {
		*err = why;
		return rc;
	}
	if (rc < 0)
		fail_group(g, &why);
	rc = store_reports(g, from, err);
	if (rc == 0)
		tell(g, from);
	if (rc == 0 && g->interrupted > 0)
		rc = err_set(err, E_CANCELLED, "stopped before all nodes were looked at");
	return rc;
}

int look_at(struct store *s, const struct keys *k, struct arena *a, const struct node_refs *nodes,
	const struct look_opts *o, struct drift_reports *reports, struct node_refs *bare,
	struct err *err)
{
	struct role_groups groups = VEC_INIT;
	int rc = role_groups_make(a, nodes, o->recipes, &groups, bare, err);

	for (size_t i = 0; rc == 0 && i < groups.n; i++) {
		struct looking g = {.store = s,
			.arena = a,
			.opts = o,
			.group = &groups.at[i],
			.reports = reports};

		rc = look_at_group(&g, k, err);
	}
	role_groups_done(&groups);
	return rc;
}
