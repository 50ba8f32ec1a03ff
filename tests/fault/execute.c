/*
 * execute [undo|resume] ROOT STATE RECIPES RUN NAME... - one run without a session, for fault
 * injection.
 *
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
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 8

struct ask {
	enum order_mode mode;
	bool resume;
	char **words; /* ROOT STATE RECIPES RUN NAME... */
	int n_names;
};

static int run(const struct ask *ask, struct run_outcome *out, struct err *err)
{
	AUTO_FD root = open(ask->words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD state = open(ask->words[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct order_recipe recipes[NAMES_MAX] = {{0}};
	struct arena *a = arena_new();
	struct bundle *bundle = NULL;
	struct order o = {.run = ask->words[3],
		.mode = ask->mode,
		.node = "n1",
		.by = "fault",
		.bundle = "none",
		.recipes = recipes};
	int rc = bundle_open_dir(a, ask->words[2], &bundle, err);

	if (rc == 0 && (root < 0 || state < 0))
		rc = err_set(err, E_IO, "cannot open '%s' or '%s'", ask->words[0], ask->words[1]);
	for (int i = 0; i < ask->n_names && i < NAMES_MAX; i++)
		recipes[o.n_recipes++].name = ask->words[4 + i];
	if (rc == 0) {
		AUTO_JSON papers = json_object();
		const struct run_env env = {.root = root,
			.root_path = ask->words[0],
			.state = state,
			.bundle = bundle,
			.papers = papers,
			.resumed_by = ask->resume ? "fault" : NULL};

		rc = run_execute(&env, &o, out, err);
	}
	bundle_close(bundle);
	arena_free(a);
	return rc;
}

int main(int argc, char **argv)
{
	struct ask ask = {.mode = ORDER_APPLY};
	struct run_outcome out;
	struct err err;
	int at = 1;

	if (argc > 1 && strcmp(argv[1], "undo") == 0)
		ask.mode = ORDER_UNDO;
	else if (argc > 1 && strcmp(argv[1], "resume") == 0)
		ask.resume = true;
	at += ask.resume || ask.mode == ORDER_UNDO;
	if (argc < at + 5)
		return 2;
	ask.words = &argv[at];
	ask.n_names = argc - at - 4;
	if (run(&ask, &out, &err) < 0) {
		err_print(&err);
		return 3;
	}
	printf("%s %s\n", result_name(out.state), out.reason);
	return out.state == RESULT_OK || out.state == RESULT_CHANGED ? 0 : 1;
}
