#include "tests/unit/rollout/controller.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/recipe/recipe.h"
#include "inventory/model/model.h"
#include "tests/unit/rollout/nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MS INT64_C(1000000)

static void make_nodes(struct site *s)
{
	struct model *m = model_new();
	struct err err = {0};

	m->site = "test";
	for (unsigned i = 0; i < s->n; i++)
		*vec_push(&m->nodes) = (struct node){
			.name = arena_printf(s->arena, "n%u", i + 1),
			.device = MODEL_NONE,
			.address = arena_printf(s->arena, "10.0.0.%u", i + 1),
			.user = "root",
			.port = 22,
			.vars = "{}",
		};
	assert_int_equal(store_begin(s->store, &err), 0);
	assert_int_equal(store_put_model(s->store, m, &err), 0);
	assert_int_equal(store_commit(s->store, &err), 0);
	model_free(m);
}

void site_open(struct site *s)
{
	struct err err = {0};
	const char *db = arena_printf(s->arena, "%s/stoika.db", s->dir);

	assert_int_equal(store_open(db, STORE_WRITE, &s->store, &err), 0);
	assert_int_equal(keys_load(db, &s->keys, &err), 0);
	assert_int_equal(store_nodes(s->store, s->arena, &s->rows, &err), 0);
	vec_each(&s->rows, const struct node_row, r)
		*vec_push(&s->refs) = r;
}

void site_close(struct site *s)
{
	vec_done(&s->refs);
	vec_done(&s->rows);
	keys_done(&s->keys);
	store_close(s->store);
}

static void make_recipe(struct site *s)
{
	const char *dir = arena_printf(s->arena, "%s/w", s->dir);
	struct err err = {0};
	FILE *f;

	assert_int_equal(mkdir(dir, 0755), 0);
	f = fopen(arena_printf(s->arena, "%s/recipe.yaml", dir), "we");
	assert_non_null(f);
	fputs("recipe: w\nsteps:\n  - file: {path: /etc/w, content: x}\n", f);
	fclose(f);
	assert_int_equal(
		pack_resolve(s->arena, &dir, 1, &s->order.recipes, &s->order.n_recipes, &err), 0);
}

/* flags: YAML over a policy that has no soak, no canary, one wave, and a fence of the test's own.
 */
void site_make(struct site *s, const char *top, const char *name, unsigned n, const char *flags)
{
	struct err err = {0};
	const char *db;

	*s = (struct site){.arena = arena_new(), .n = n};
	s->dir = arena_printf(s->arena, "%s/%s", top, name);
	assert_int_equal(mkdir(s->dir, 0755), 0);
	db = arena_printf(s->arena, "%s/stoika.db", s->dir);
	assert_int_equal(store_open(db, STORE_CREATE, &s->store, &err), 0);
	assert_int_equal(keys_make(db, &err), 0);
	make_nodes(s);
	store_close(s->store);
	site_open(s);
	make_recipe(s);
	s->order.text = arena_printf(s->arena,
		"rollout: test\ncanary: {count: 0}\nwaves: [100%%]\nmax_unavailable: 100%%\n"
		"budgets: {}\nfailures: {most: 100%%, same: 0}\nretry: 0\n"
		"fence: {by: command, command: [%s, %s], deadline: 30s, grace: 1s}\n"
		"reboot: {within: 5s}\n",
		STANDIN, s->dir);
	s->order.name = "test.yaml";
	rollout_policy_preset(&s->order.policy);
	assert_int_equal(rollout_policy_parse(s->arena, "test.yaml", str_of(s->order.text),
				 &s->order.policy, &err),
		0);
	s->order.flags = flags;
	if (flags)
		assert_int_equal(rollout_policy_change(
					 s->arena, "flags", str_of(flags), &s->order.policy, &err),
			0);
	s->opts = (struct rollout_opts){.order = &s->order,
		.nodes = &s->refs,
		.nodes_text = "all",
		.by = "tester",
		.look_every = 50 * MS,
		.patience = 2000 * MS,
		.transport = nodes_transport(s->dir)};
}

void site_drop(struct site *s)
{
	for (unsigned i = 0; i < s->order.n_recipes; i++)
		recipe_done(s->order.recipes[i].recipe);
	site_close(s);
	arena_free(s->arena);
}

int site_drive(struct site *s)
{
	struct err err = {0};
	const int rc = rollout_drive(s->store, &s->keys, &s->opts, &s->out, &err);

	if (rc < 0)
		print_message("%s (%s)\n", err.msg, err.hint);
	return rc;
}

/* The node's states in order, as the history has them: "preflight staged ... done". */
const char *site_way(struct site *s, const char *node)
{
	struct rollout_moves moves = VEC_INIT;
	struct buf text;
	struct err err = {0};
	const char *out;
	int64_t id = 0;

	buf_init(&text, 4096);
	for (size_t i = 0; i < s->refs.n; i++)
		if (strcmp(s->refs.at[i]->name, node) == 0)
			id = s->refs.at[i]->id;
	assert_int_equal(store_rollout_moves(s->store, s->arena, s->out.id, id, &moves, &err), 0);
	vec_each(&moves, const struct rollout_move, m)
		buf_addf(&text, "%s%s", text.n ? " " : "", m->to);
	out = arena_strdup(s->arena, buf_text(&text));
	buf_done(&text);
	vec_done(&moves);
	return out;
}

struct rollout_node_row site_row(struct site *s, const char *node)
{
	struct rollout_node_rows rows = VEC_INIT;
	struct rollout_node_row out = {0};
	struct err err = {0};

	assert_int_equal(store_rollout_nodes(s->store, s->arena, s->out.id, &rows, &err), 0);
	vec_each(&rows, const struct rollout_node_row, r)
		if (strcmp(r->name, node) == 0)
			out = *r;
	vec_done(&rows);
	assert_non_null(out.state);
	return out;
}

const char *site_run_state(struct site *s)
{
	struct run_row r;
	struct err err = {0};

	assert_int_equal(store_run_find(s->store, s->arena, s->out.id, &r, &err), 0);
	return r.state;
}
