/*
 * bench-crew [NODES [--check]] - what a rollout costs the controller when no node has anything to
 * do: orders alone, and how that grows with nodes and with how many are out at once; then whole
 * rollouts, all nodes at once and in the waves of the preset.
 *
 * Each figure is measured in a process of its own, from an empty database: wall and CPU ms of the
 * controller, CPU us a node, its largest memory. With --check it fails when 10,000 nodes cost more
 * than 20 s of CPU or 400 MiB, or when a curve has a cliff.
 */
#include "controller/fleet/crew.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "controller/rollout/world.h"
#include "tests/bench/simulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_MAX    (20 * CLOCK_SEC)
#define MEMORY_MAX 400 /* MiB */
#define CLIFF      2   /* times as much for a node, from one line of a table to the next */
#define CURVE_AT   2000

struct figures {
	int64_t wall, cpu; /* ns */
	unsigned ok;
	long memory; /* KiB */
};

/* --- orders alone --- */

struct orders {
	struct crew *crew;
	size_t n, called, done, out, wave;
	unsigned ok;
};

static void on_done(void *ctx, size_t node, enum order_mode mode, const struct node_result *r,
	const json_t *facts)
{
	struct orders *b = ctx;
	struct err err = {0};

	(void)mode, (void)facts;
	b->done++;
	b->out--;
	b->ok += r->state == RESULT_OK;
	simulated_must(crew_release(b->crew, node, &err), &err);
}

static bool tick(void *ctx)
{
	struct orders *b = ctx;
	struct err err = {0};

	while (b->called < b->n && b->out < b->wave) {
		simulated_must(
			crew_call(b->crew, b->called++, ORDER_PLAN, 1, false, 0, &err), &err);
		b->out++;
	}
	return b->done < b->n;
}

static unsigned give_orders(struct simulated *s, struct agents *a, size_t wave)
{
	struct orders b = {.n = s->n, .wave = wave};
	const struct crew_opts o = {
		.name = "bench",
		.recipes = s->recipes,
		.n_recipes = s->n_recipes,
		.nodes_text = "all",
		.by = "bench",
		.transport = agents_transport(a),
		.ctx = &b,
		.done = on_done,
	};
	bool stopped;
	struct err err = {0};

	simulated_must(crew_open(s->store, &s->keys, &s->refs, &o, &b.crew, &err), &err);
	simulated_must(crew_run(b.crew, tick, &b, &stopped, &err), &err);
	simulated_must(crew_close(b.crew, &err), &err);
	return b.ok;
}

/* --- whole rollouts --- */

static unsigned roll(struct simulated *s, struct agents *a, const char *flags)
{
	struct frozen order = {.recipes = s->recipes, .n_recipes = s->n_recipes};
	const struct rollout_opts o = {
		.order = &order,
		.nodes = &s->refs,
		.nodes_text = "all",
		.by = "bench",
		.transport = agents_transport(a),
	};
	struct rollout_outcome out;
	struct err err = {0};

	simulated_must(frozen_read_policy(s->arena, NULL, flags, &order, &err), &err);
	simulated_must(rollout_drive(s->store, &s->keys, &o, &out, &err), &err);
	return (unsigned)out.states[STATE_DONE];
}

static unsigned roll_at_once(struct simulated *s, struct agents *a, size_t wave)
{
	(void)wave;
	return roll(s, a,
		"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 100%\nbudgets: {}\n"
		"soak: {canary: 0s, wave: 0s}\n");
}

static unsigned roll_in_waves(struct simulated *s, struct agents *a, size_t wave)
{
	(void)wave;
	return roll(s, a, "soak: {canary: 0s, wave: 0s}\n");
}

/* --- measuring --- */

typedef unsigned work_fn(struct simulated *s, struct agents *a, size_t wave);

/* In a process of its own, so that the largest memory is this one's. */
static struct figures measure(work_fn *work, unsigned n, size_t wave)
{
	struct figures *shared = mmap(
		NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct figures got;
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct simulated s;
		struct agents *a = agents_start(n, NULL);
		struct rusage usage;
		int64_t began, used;

		simulated_make(&s, n);
		began = clock_mono();
		used = simulated_cpu();
		shared->ok = work(&s, a, wave);
		shared->wall = clock_mono() - began;
		shared->cpu = simulated_cpu() - used;
		getrusage(RUSAGE_SELF, &usage);
		shared->memory = usage.ru_maxrss;
		agents_stop(a);
		simulated_drop(&s);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	got = *shared;
	munmap(shared, sizeof *shared);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || got.ok != n) {
		fprintf(stderr, "%u of %u nodes answered\n", got.ok, n);
		exit(1);
	}
	return got;
}

static void print_row(const char *what, size_t figure, unsigned n, const struct figures *f)
{
	printf("%-6s %6zu  wall %8.1f ms  CPU %8.1f ms  %7.1f us a node  %6.1f MiB\n", what, figure,
		(double)f->wall / CLOCK_MS, (double)f->cpu / CLOCK_MS, (double)f->cpu / 1000 / n,
		(double)f->memory / 1024);
	fflush(stdout);
}

/* What is more than a process costs before its first node. */
static bool is_cliff(const struct figures *f, unsigned n, const struct figures *before, unsigned m)
{
	return f->cpu > 100 * CLOCK_MS && m > 0 && f->cpu / n > CLIFF * (before->cpu / m);
}

/* Nodes all at once, tenfold from line to line. */
static bool by_nodes(unsigned most, struct figures *last)
{
	struct figures before = {0};
	unsigned m = 0;
	bool good = true;

	for (unsigned n = most >= 10000 ? most / 10000 : 1; n <= most; n *= 10) {
		*last = measure(give_orders, n, n);
		print_row("nodes", n, n, last);
		good = good && !is_cliff(last, n, &before, m);
		before = *last;
		m = n;
	}
	return good;
}

/* The same nodes, so many of them out at once. */
static bool by_width(unsigned n)
{
	struct figures before = {0};
	bool good = true;

	for (size_t wave = 1; wave <= n; wave *= 4) {
		const struct figures f = measure(give_orders, n, wave);

		print_row("width", wave, n, &f);
		good = good && (wave == 1 || f.wall < CLIFF * before.wall);
		before = f;
	}
	return good;
}

static bool is_within(const struct figures *f)
{
	if (f->cpu <= CPU_MAX && f->memory <= MEMORY_MAX * 1024L)
		return true;
	fprintf(stderr, "more than %d s of CPU or %d MiB\n", (int)(CPU_MAX / CLOCK_SEC),
		MEMORY_MAX);
	return false;
}

int main(int argc, char **argv)
{
	const unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000;
	const bool check = argc > 2 && strcmp(argv[2], "--check") == 0;
	struct figures orders = {0};
	const bool even = by_nodes(n, &orders);
	const bool flat = by_width(n < CURVE_AT ? n : CURVE_AT);
	const struct figures at_once = measure(roll_at_once, n, n);
	const struct figures in_waves = measure(roll_in_waves, n, n);

	print_row("once", n, n, &at_once);
	print_row("waves", n, n, &in_waves);
	if (!check)
		return 0;
	if (!even || !flat)
		fputs("the curve has a cliff\n", stderr);
	return even && flat && is_within(&orders) && is_within(&at_once) && is_within(&in_waves)
		       ? 0
		       : 1;
}
