/*
 * bench-warm [NODES [TURNS]] - what the controller spends on nodes that have nothing to do.
 *
 * A fresh run over simulated agents, then turns over the same links. One line per figure:
 * what, nodes, wall ms, CPU ms of the controller (all of its process), CPU us a node, rows.
 * With a limit behind it ("bench-warm 10000 3 150"), more CPU us a node in a warm turn is an error.
 */
#include "controller/fleet/warm.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/recipe/recipe.h"
#include "inventory/model/model.h"
#include "tests/bench/agents.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char RECIPE[] = "recipe: w\nsteps:\n  - file: {path: /etc/w, content: x}\n";

struct bench {
	struct arena *arena;
	char dir[64];
	struct store *store;
	struct keys keys;
	struct node_rows rows;
	struct node_refs refs;
	struct pack_recipe *recipes;
	unsigned n, n_recipes;
};

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	err_print(err);
	exit(1);
}

static int64_t cpu(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * CLOCK_SEC + t.tv_nsec;
}

static void make_nodes(struct bench *b)
{
	struct model *m = model_new();
	struct err err = {0};

	m->site = "sim";
	for (unsigned i = 0; i < b->n; i++)
		*vec_push(&m->nodes) = (struct node){
			.name = arena_printf(b->arena, "n%u", i + 1),
			.device = MODEL_NONE,
			.address = arena_printf(
				b->arena, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255),
			.user = "root",
			.port = 22,
			.vars = "{}",
		};
	must(store_begin(b->store, &err), &err);
	must(store_put_model(b->store, m, &err), &err);
	must(store_commit(b->store, &err), &err);
	model_free(m);
	must(store_nodes(b->store, b->arena, &b->rows, &err), &err);
	vec_each(&b->rows, const struct node_row, r)
		*vec_push(&b->refs) = r;
}

static void set_up(struct bench *b, unsigned n)
{
	const char *db, *name;
	struct err err = {0};

	b->n = n;
	b->arena = arena_new();
	snprintf(b->dir, sizeof b->dir, "/tmp/stoika-bench-warm.XXXXXX");
	if (!mkdtemp(b->dir))
		exit(2);
	db = arena_printf(b->arena, "%s/stoika.db", b->dir);
	must(store_open(db, STORE_CREATE, &b->store, &err), &err);
	must(keys_make(db, &err), &err);
	must(keys_load(db, &b->keys, &err), &err);
	name = arena_printf(b->arena, "%s/w", b->dir);
	if (mkdir(name, 0755) != 0)
		exit(2);

	AUTO_FD dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	must(fs_replace(dir, "recipe.yaml", str_of(RECIPE), 0644, FS_KEEP_ID, FS_KEEP_ID, &err),
		&err);
	must(pack_resolve(b->arena, &name, 1, &b->recipes, &b->n_recipes, &err), &err);
	make_nodes(b);
}

static void tear_down(struct bench *b)
{
	AUTO_FD tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (unsigned i = 0; i < b->n_recipes; i++)
		recipe_done(b->recipes[i].recipe);
	vec_done(&b->refs);
	vec_done(&b->rows);
	keys_done(&b->keys);
	store_close(b->store);
	(void)fs_remove(tmp, b->dir + strlen("/tmp/"), true, NULL);
	arena_free(b->arena);
}

static double turn(struct bench *b, struct warm *w, const char *what)
{
	struct fleet_outcome out;
	struct err err = {0};
	const int64_t used = cpu();
	double us;

	must(warm_turn(w, &out, &err), &err);
	us = (double)(cpu() - used) / 1000 / b->n;
	printf("%-6s %6u nodes  wall %8.1f ms  CPU %8.1f ms  %7.1f us a node  %u ok\n", what, b->n,
		(double)out.took / CLOCK_MS, us * b->n / 1000, us, out.nodes.n[RESULT_OK]);
	if (out.nodes.n[RESULT_OK] != b->n) {
		fputs("not all nodes answered\n", stderr);
		exit(1);
	}
	return us;
}

int main(int argc, char **argv)
{
	const unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000;
	const unsigned turns = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
	const double limit = argc > 3 ? strtod(argv[3], NULL) : 0;
	struct bench b = {0};
	struct warm *w = NULL;
	struct agents *agents = agents_start(n, NULL);
	struct err err = {0};
	double best = 1e9;

	set_up(&b, n);

	const struct fleet_opts o = {
		.mode = ORDER_CHECK,
		.recipes = b.recipes,
		.n_recipes = b.n_recipes,
		.nodes_text = "all",
		.by = "bench",
		.transport = agents_transport(agents),
	};

	must(warm_open(b.store, &b.keys, &b.refs, &o, &w, &err), &err);
	(void)turn(&b, w, "fresh");
	for (unsigned i = 0; i < turns; i++) {
		const double us = turn(&b, w, "warm");

		best = us < best ? us : best;
	}
	warm_close(w);
	agents_stop(agents);
	tear_down(&b);
	if (limit > 0 && best > limit) {
		fprintf(stderr, "a warm node costs %.1f us of CPU, more than %.1f\n", best, limit);
		return 1;
	}
	return 0;
}
