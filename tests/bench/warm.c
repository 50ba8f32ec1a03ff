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
#include "tests/bench/simulated.h"

#include <stdio.h>
#include <stdlib.h>

static double turn(struct simulated *b, struct warm *w, const char *what)
{
	struct fleet_outcome out;
	struct err err = {0};
	const int64_t used = simulated_cpu();
	double us;

	simulated_must(warm_turn(w, &out, &err), &err);
	us = (double)(simulated_cpu() - used) / 1000 / b->n;
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
	struct simulated b;
	struct warm *w = NULL;
	struct agents *agents = agents_start(n, NULL);
	struct err err = {0};
	double best = 1e9;

	simulated_make(&b, n);

	const struct fleet_opts o = {
		.mode = ORDER_CHECK,
		.recipes = b.recipes,
		.n_recipes = b.n_recipes,
		.nodes_text = "all",
		.by = "bench",
		.transport = agents_transport(agents),
	};

	simulated_must(warm_open(b.store, &b.keys, &b.refs, &o, &w, &err), &err);
	(void)turn(&b, w, "fresh");
	for (unsigned i = 0; i < turns; i++) {
		const double us = turn(&b, w, "warm");

		best = us < best ? us : best;
	}
	warm_close(w);
	agents_stop(agents);
	simulated_drop(&b);
	if (limit > 0 && best > limit) {
		fprintf(stderr, "a warm node costs %.1f us of CPU, more than %.1f\n", best, limit);
		return 1;
	}
	return 0;
}
