/*
 * execute ROOT STATE RECIPES RUN NAME... - one apply without a session, for fault injection.
 *
 * A RUN that begins with "undo" takes back instead.
 * Prints the run's state and reason; the status is 0 for ok and changed, 1 for anything else,
 * 3 when the run could not begin.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/run/bundle.h"
#include "agent/run/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define NAMES_MAX 8

static int run(char **argv, int n_names, struct run_outcome *out, struct err *err)
{
	AUTO_FD root = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD state = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct order_recipe recipes[NAMES_MAX] = {{0}};
	struct arena *a = arena_new();
	struct bundle *bundle = NULL;
	struct order o = {.run = argv[4],
		.mode = str_starts(str_of(argv[4]), "undo") ? ORDER_UNDO : ORDER_APPLY,
		.node = "n1",
		.by = "fault",
		.bundle = "none",
		.recipes = recipes};
	int rc = bundle_open_dir(a, argv[3], &bundle, err);

	if (rc == 0 && (root < 0 || state < 0))
		rc = err_set(err, E_IO, "cannot open '%s' or '%s'", argv[1], argv[2]);
	for (int i = 0; i < n_names && i < NAMES_MAX; i++)
		recipes[o.n_recipes++].name = argv[5 + i];
	if (rc == 0) {
		const struct run_env env = {
			.root = root, .root_path = argv[1], .state = state, .bundle = bundle};

		rc = run_execute(&env, &o, out, err);
	}
	bundle_close(bundle);
	arena_free(a);
	return rc;
}

int main(int argc, char **argv)
{
	struct run_outcome out;
	struct err err;

	if (argc < 6)
		return 2;
	if (run(argv, argc - 5, &out, &err) < 0) {
		err_print(&err);
		return 3;
	}
	printf("%s %s\n", result_name(out.state), out.reason);
	return out.state == RESULT_OK || out.state == RESULT_CHANGED ? 0 : 1;
}
