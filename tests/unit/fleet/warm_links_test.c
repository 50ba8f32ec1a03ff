/* warm_links_test - links that stay: the same order again, nodes that leave, and what the store
 * keeps. */
#include "agent/base/arena.h"
#include "agent/base/err.h"
#include "agent/base/sign.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/warm.h"
#include "inventory/model/model.h"
#include "tests/bench/agents.h"
#include "tests/unit/t.h"

#include <sys/stat.h>

#define NODES 20

static struct arena *arena;
static struct keys keys;
static struct store *store;
static struct node_rows rows;
static struct node_refs refs;
static struct pack_recipe *recipes;
static unsigned n_recipes;

static void make_nodes(void)
{
	struct model *m = model_new();
	struct err err = {0};

	m->site = "test";
	for (unsigned i = 0; i < NODES; i++)
		*vec_push(&m->nodes) = (struct node){
			.name = arena_printf(arena, "n%u", i + 1),
			.device = MODEL_NONE,
			.address = arena_printf(arena, "10.0.0.%u", i + 1),
			.user = "root",
			.port = 22,
			.vars = "{}",
		};
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_put_model(store, m, &err), 0);
	assert_int_equal(store_commit(store, &err), 0);
	model_free(m);
	assert_int_equal(store_nodes(store, arena, &rows, &err), 0);
	vec_each(&rows, const struct node_row, r)
		*vec_push(&refs) = r;
}

static void set_up(void)
{
	const char *db, *name;
	FILE *f;
	struct err err = {0};

	if (arena)
		return;
	arena = arena_new();
	db = arena_printf(arena, "%s/stoika.db", t_dir());
	assert_int_equal(store_open(db, STORE_CREATE, &store, &err), 0);
	assert_int_equal(keys_make(db, &err), 0);
	assert_int_equal(keys_load(db, &keys, &err), 0);
	name = arena_printf(arena, "%s/w", t_dir());
	assert_int_equal(mkdir(name, 0755), 0);
	f = fopen(arena_printf(arena, "%s/recipe.yaml", name), "we");
	assert_non_null(f);
	fputs("recipe: w\nsteps:\n  - file: {path: /etc/w, content: x}\n", f);
	fclose(f);
	assert_int_equal(pack_resolve(arena, &name, 1, &recipes, &n_recipes, &err), 0);
	make_nodes();
}

static struct agents *start(void)
{
	char key[SIGN_TEXT_MAX];

	sign_key_public_text(keys.sign, key);
	return agents_start(NODES, key);
}

static struct fleet_opts opts(struct agents *a)
{
	return (struct fleet_opts){
		.mode = ORDER_CHECK,
		.recipes = recipes,
		.n_recipes = n_recipes,
		.nodes_text = "all",
		.by = "tester",
		.transport = agents_transport(a),
	};
}

TEST(says_the_same_again)
{
	struct agents *a = (set_up(), start());
	const struct fleet_opts o = opts(a);
	struct warm *w = NULL;
	struct fleet_outcome out;
	struct node_results results = VEC_INIT;
	struct run_row row;
	struct err err = {0};
	char last[64] = "";

	assert_int_equal(warm_open(store, &keys, &refs, &o, &w, &err), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(warm_turn(w, &out, &err), 0);
		assert_int_equal(out.nodes.n[RESULT_OK], NODES);
		assert_int_equal(warm_links(w), NODES);
		assert_string_not_equal(out.id, last);
		snprintf(last, sizeof last, "%s", out.id);
	}
	/* a turn that changed nothing is one row a node, and what was left out is filled in */
	assert_int_equal(store_results(store, arena, last, &results, &err), 0);
	assert_int_equal(results.n, NODES);
	assert_int_equal(results.at[7].counts.n[RESULT_OK], 14);
	assert_int_equal(strlen(results.at[7].plan_hash), 64);
	assert_int_equal(store_run_find(store, arena, last, &row, &err), 0);
	assert_string_equal(row.state, "done");
	assert_string_equal(row.plan_hash, out.plan_hash);
	vec_done(&results);
	warm_close(w);
	agents_stop(a);
}

/* They are tried anew at each turn; the others keep their links. */
TEST(does_without_nodes_that_left)
{
	struct agents *a = (set_up(), start());
	struct fleet_opts o = opts(a);
	struct warm *w = NULL;
	struct fleet_outcome out;
	struct err err = {0};

	o.patience = 1000000000;
	assert_int_equal(warm_open(store, &keys, &refs, &o, &w, &err), 0);
	assert_int_equal(warm_turn(w, &out, &err), 0);
	agents_leave(a, 3, 5);
	usleep(100000);
	assert_int_equal(warm_turn(w, &out, &err), 0);
	assert_int_equal(out.nodes.n[RESULT_OK], NODES - 3);
	assert_int_equal(warm_links(w), NODES - 3);
	assert_int_equal(warm_turn(w, &out, &err), 0);
	assert_int_equal(out.nodes.n[RESULT_OK], NODES - 3);
	assert_int_equal(out.unreachable, 3);
	warm_close(w);
	agents_stop(a);
}

TEST(refused_signatures_are_told)
{
	struct agents *a = (set_up(), start());
	const struct fleet_opts o = opts(a);
	struct warm *w = NULL;
	struct keys other = keys;
	struct fleet_outcome out;
	struct err err = {0};

	assert_int_equal(sign_key_make(&other.sign, &err), 0);
	assert_int_equal(warm_open(store, &other, &refs, &o, &w, &err), 0);
	assert_int_equal(warm_turn(w, &out, &err), 0);
	assert_int_equal(out.nodes.n[RESULT_DENIED], NODES);
	assert_int_equal(warm_links(w), 0);
	warm_close(w);
	sign_key_free(other.sign);
	agents_stop(a);
}

TEST(z_clean_up)
{
	for (unsigned i = 0; i < n_recipes; i++)
		recipe_done(recipes[i].recipe);
	vec_done(&refs);
	vec_done(&rows);
	keys_done(&keys);
	store_close(store);
	arena_free(arena);
}

T_MAIN
