#include "tests/bench/simulated.h"

#include "agent/base/arena.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/recipe/recipe.h"
#include "inventory/model/model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char RECIPE[] = "recipe: w\nsteps:\n  - file: {path: /etc/w, content: x}\n";

void simulated_must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	err_print(err);
	exit(1);
}

int64_t simulated_cpu(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * CLOCK_SEC + t.tv_nsec;
}

static void make_nodes(struct simulated *b)
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
	simulated_must(store_begin(b->store, &err), &err);
	simulated_must(store_put_model(b->store, m, &err), &err);
	simulated_must(store_commit(b->store, &err), &err);
	model_free(m);
	simulated_must(store_nodes(b->store, b->arena, &b->rows, &err), &err);
	vec_each(&b->rows, const struct node_row, r)
		*vec_push(&b->refs) = r;
}

void simulated_make(struct simulated *b, unsigned n)
{
	const char *db, *name;
	struct err err = {0};

	*b = (struct simulated){.n = n};
	b->arena = arena_new();
	snprintf(b->dir, sizeof b->dir, "/tmp/stoika-bench.XXXXXX");
	if (!mkdtemp(b->dir))
		exit(2);
	db = arena_printf(b->arena, "%s/stoika.db", b->dir);
	simulated_must(store_open(db, STORE_CREATE, &b->store, &err), &err);
	simulated_must(keys_make(db, &err), &err);
	simulated_must(keys_load(db, &b->keys, &err), &err);
	name = arena_printf(b->arena, "%s/w", b->dir);
	if (mkdir(name, 0755) != 0)
		exit(2);

	AUTO_FD dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	simulated_must(
		fs_replace(dir, "recipe.yaml", str_of(RECIPE), 0644, FS_KEEP_ID, FS_KEEP_ID, &err),
		&err);
	simulated_must(pack_resolve(b->arena, &name, 1, &b->recipes, &b->n_recipes, &err), &err);
	make_nodes(b);
}

void simulated_drop(struct simulated *b)
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
