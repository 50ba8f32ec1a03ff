/*
 * bench-rollout [NODES [--check]] - a whole rollout over nodes that have nothing to do: planner,
 * drive, crew, store. From an empty database: wall and CPU of the controller, CPU us a node, its
 * largest memory, by nodes. With --check it fails when 10,000 nodes cost more than 20 s of CPU or
 * 400 MiB.
 */
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
#define JUDGED     10000

struct figures {
	int64_t wall, cpu; /* ns */
	size_t done;
	long memory; /* KiB */
};

static void roll(struct simulated *s, struct agents *a, size_t *done)
{
	struct frozen order = {.recipes = s->recipes, .n_recipes = s->n_recipes};
	const struct rollout_opts o = {.order = &order,
		.nodes = &s->refs,
		.nodes_text = "all",
		.by = "bench",
		.transport = agents_transport(a)};
	struct rollout_outcome out;
	struct err err = {0};

	simulated_must(frozen_read_policy(s->arena, NULL,
			       "{canary: {count: 0}, waves: [1, 5%, 25%, 100%], budgets: {}}",
			       &order, &err),
		&err);
	simulated_must(rollout_drive(s->store, &s->keys, &o, &out, &err), &err);
	*done = out.states[STATE_DONE];
}

/* In a process of its own, so that the largest memory is this one's. */
static struct figures measure(unsigned n)
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
		roll(&s, a, &shared->done);
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
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || got.done != n) {
		fprintf(stderr, "%zu of %u nodes are done\n", got.done, n);
		exit(1);
	}
	return got;
}

int main(int argc, char **argv)
{
	const unsigned most = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : JUDGED;
	const bool check = argc > 2 && strcmp(argv[2], "--check") == 0;
	bool good = true;

	for (unsigned n = 625; n <= most; n *= 2) {
		const struct figures f = measure(n);

		printf("rollout %6u nodes  wall %8.1f ms  CPU %8.1f ms  %6.1f us a node  %4ld MiB\n",
			n, (double)f.wall / CLOCK_MS, (double)f.cpu / CLOCK_MS,
			(double)f.cpu / 1000 / n, f.memory / 1024);
		fflush(stdout);
		if (check && n == JUDGED)
			good = f.cpu <= CPU_MAX && f.memory <= MEMORY_MAX * 1024L;
	}
	if (!good)
		fputs("it costs more than it may\n", stderr);
	return good ? 0 : 1;
}
