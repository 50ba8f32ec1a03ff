/* recipes - the order's recipes, read and judged as a whole before the first one acts; kept for the
 * next run of the same order. */
#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "agent/recipe/supports.h"
#include "agent/run/bundle.h"
#include "agent/run/run_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECIPE_BYTES_MAX (1u << 20)
#define RECIPE_WHAT_MAX  128

/* Is it for this node's system? Taking back is not asked, since it was applied here. */
static int judge_system(struct execution *x, const struct recipe *r, struct err *err)
{
	json_t *os = NULL;
	int rc = 0;

	if (x->order->mode != ORDER_UNDO)
		rc = world_facts(x, "os", &os, err);
	return rc < 0 || !os ? rc : recipe_supports(r, os, err);
}

static int read_recipe(
	struct execution *x, const struct order_recipe *asked, struct ready *r, struct err *err)
{
	struct arena *a = x->memory->arena;
	AUTO_BUF text;
	const char *path = arena_printf(a, "%s/recipe.yaml", asked->name);
	int rc;

	buf_init(&text, RECIPE_BYTES_MAX);
	rc = bundle_read(x->env->bundle, path, &text, err);
	if (rc == 0)
		rc = recipe_parse(a, path, buf_str(&text), NULL, &r->recipe, err);
	if (rc == 0 && strcmp(r->recipe->name, asked->name) != 0)
		rc = err_set(
			err, E_CONFLICT, "'%s' says that it is recipe '%s'", path, r->recipe->name);
	if (rc == 0)
		rc = judge_system(x, r->recipe, err);
	if (rc == 0)
		rc = recipe_params(r->recipe, asked->params, &r->params, err);
	return rc;
}

static void refuse_recipe(struct execution *x, const char *name, const struct err *err)
{
	json_t *record = events_new(x, "recipe");
	char what[RECIPE_WHAT_MAX];

	json_put_str(record, "recipe", name);
	events_put_error(record, err);
	snprintf(what, sizeof what, "recipe '%s'", name);
	events_add(x, record);
	events_stop(x, what, err);
}

unsigned recipes_read(struct execution *x)
{
	struct run_memory *m = x->memory;
	const unsigned n = x->order->n_recipes;

	if (m->ready)
		return m->n;
	m->ready = xcalloc(n + 1, sizeof *m->ready);
	m->n = n;
	for (unsigned i = 0; i < n; i++) {
		struct err err;

		if (read_recipe(x, &x->order->recipes[i], &m->ready[i], &err) < 0) {
			refuse_recipe(x, x->order->recipes[i].name, &err);
			run_memory_forget_order(m);
			return i;
		}
	}
	return n;
}

struct run_memory *run_memory_new(void)
{
	struct run_memory *m = xcalloc(1, sizeof *m);

	m->arena = arena_new();
	m->cache = step_cache_new();
	m->facts = json_object();
	return m;
}

void run_memory_forget_order(struct run_memory *m)
{
	for (unsigned i = 0; m->ready && i < m->n; i++) {
		recipe_done(m->ready[i].recipe);
		json_decref(m->ready[i].params);
	}
	free(m->ready);
	m->ready = NULL;
	m->n = 0;
	arena_free(m->arena);
	m->arena = arena_new();
}

void run_memory_free(struct run_memory *m)
{
	if (!m)
		return;
	run_memory_forget_order(m);
	arena_free(m->arena);
	step_cache_free(m->cache);
	json_decref(m->facts);
	free(m);
}
