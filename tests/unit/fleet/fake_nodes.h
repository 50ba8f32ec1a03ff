/*
 * fake_nodes - what tests of runs share: a database, keys, a recipe, and fake nodes n1, n2, ...
 *
 * Each node is a port of one real sshd, whose forced command is fake_agent (see there). All is made
 * once a program, by set_up.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/pack.h"
#include "inventory/model/model.h"
#include "inventory/store/store.h"
#include "tests/unit/ssh/sshd.h"

#define NODES 12

static struct arena *arena;
static struct t_sshd server;
static struct keys keys;
static struct store *store;
static struct node_rows rows;
static struct pack_recipe *recipes;
static unsigned n_recipes, ports[NODES];

/* A path below the program's folder, in arena. */
static inline char *path_of(const char *rest)
{
	return arena_printf(arena, "%s/%s", t_dir(), rest);
}

static inline void make_nodes(void)
{
	struct model *m = model_new();
	struct err err = {0};

	m->site = "test";
	for (unsigned i = 0; i < NODES; i++)
		*vec_push(&m->nodes) = (struct node){
			.name = arena_printf(arena, "n%u", i + 1),
			.device = MODEL_NONE,
			.address = "127.0.0.1",
			.user = "root",
			.role = "gpu",
			.port = ports[i],
			.host_key = server.host_key,
			.vars = "{\"colour\":\"red\"}",
		};
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_put_model(store, m, &err), 0);
	assert_int_equal(store_commit(store, &err), 0);
	model_free(m);
	assert_int_equal(store_nodes(store, arena, &rows, &err), 0);
	assert_int_equal(rows.n, NODES);
}

static inline void make_recipe(void)
{
	const char *name;
	struct err err = {0};

	assert_int_equal(mkdir(path_of("alpha"), 0755), 0);
	t_write_file(path_of("alpha/recipe.yaml"),
		"recipe: alpha\nabout: a test\nparams:\n  port: {type: int, default: 9100}\n"
		"steps:\n  - file: {path: /etc/alpha, content: x}\n",
		0644);
	name = path_of("alpha");
	assert_int_equal(pack_resolve(arena, &name, 1, &recipes, &n_recipes, &err), 0);
}

static inline void set_up(void)
{
	AUTO_BUF extra = {0};
	char *db, *authorized;
	struct err err = {0};

	if (arena)
		return;
	buf_init(&extra, 4096);
	/* bash then reads no .bashrc, whose words would stand before the fake agent's */
	buf_add_text(&extra, "SetEnv SHLVL=2\n");
	arena = arena_new();
	db = path_of("stoika.db");
	assert_int_equal(keys_make(db, &err), 0);
	assert_int_equal(keys_load(db, &keys, &err), 0);
	assert_int_equal(store_open(db, STORE_CREATE, &store, &err), 0);
	assert_int_equal(mkdir(path_of("fake"), 0755), 0);
	t_run((const char *const[]){
		"cp", path_of("keys/sign.pub"), path_of("fake/sign.pub"), NULL});
	authorized = arena_printf(arena, "command=\"%s %s\" %s\n", FAKE_AGENT, path_of("fake"),
		link_key_public(keys.ssh));
	for (unsigned i = 0; i < NODES; i++) {
		ports[i] = t_free_port();
		buf_addf(&extra, "Port %u\n", ports[i]);
	}
	t_sshd_start(&server, "ed25519", authorized, buf_text(&extra));
	make_nodes();
	make_recipe();
}

/* How node i (from 1) behaves from now on. */
static inline void behave(unsigned i, const char *mode)
{
	char *path = path_of(arena_printf(arena, "fake/%u", ports[i - 1]));

	t_write_file(path, mode, 0644);
	(void)unlink(arena_printf(arena, "%s.count", path));
	(void)unlink(arena_printf(arena, "%s.bundle", path));
}

/* What its agent left: ".count", ".order", ".bundle". */
static inline const char *left_by(unsigned i, const char *suffix)
{
	char *text = arena_alloc(arena, 8192);

	t_read_file(path_of(arena_printf(arena, "fake/%u%s", ports[i - 1], suffix)), text, 8192);
	return text;
}

static inline void no_lease_is_left(void)
{
	struct err err = {0};

	assert_int_equal(store_begin(store, &err), 0);
	vec_each(&rows, struct node_row, n) {
		struct lease holder;

		assert_int_equal(
			store_lease_take(store, arena, n->id, "probe", "me", 1, &holder, &err), 0);
	}
	store_rollback(store);
}

static inline void clean_up(void)
{
	for (unsigned i = 0; i < n_recipes; i++)
		recipe_done(recipes[i].recipe);
	vec_done(&rows);
	keys_done(&keys);
	store_close(store);
	t_sshd_stop(&server);
	arena_free(arena);
}
