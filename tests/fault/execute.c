/*
 * execute [undo|resume|stage] ROOT STATE RECIPES RUN NAME... - one run without a session, for
 * fault injection. "execute fetch" is the process that downloads, as the agent has it.
 *
 * Prints the run's state and reason ("rebooting" when the node is to restart); the status is 0 for
 * ok, changed and rebooting, 1 for anything else, 3 when the run could not begin.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/fetch/fetch.h"
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

/* The node's own, "" when it has none. */
static void read_boot_id(int root, char out[static 64])
{
	AUTO_BUF text;

	buf_init(&text, 256);
	out[0] = '\0';
	if (root >= 0 && fs_read(root, "proc/sys/kernel/random/boot_id", &text, NULL) == 0)
		snprintf(out, 64, STR_FMT, STR_ARG(str_trim(buf_str(&text))));
}

static int run(const struct ask *ask, struct run_outcome *out, struct err *err)
{
	AUTO_FD root = open(ask->words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD state = open(ask->words[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct order_recipe recipes[NAMES_MAX] = {{0}};
	struct arena *a = arena_new();
	struct bundle *bundle = NULL;
	char boot_id[64];
	struct order o = {.run = ask->words[3],
		.mode = ask->mode,
		.node = "n1",
		.by = "fault",
		.bundle = "none",
		.recipes = recipes};
	int rc = bundle_open_dir(a, ask->words[2], &bundle, err);

	read_boot_id(root, boot_id);
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
			.boot_id = boot_id,
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

	if (argc == 2 && strcmp(argv[1], FETCH_COMMAND) == 0)
		return fetch_main();
	if (argc > 1 && strcmp(argv[1], "undo") == 0)
		ask.mode = ORDER_UNDO;
	else if (argc > 1 && strcmp(argv[1], "resume") == 0)
		ask.resume = true;
	else if (argc > 1 && strcmp(argv[1], "stage") == 0)
		ask.mode = ORDER_STAGE;
	at += ask.resume || ask.mode != ORDER_APPLY;
	if (argc < at + 5)
		return 2;
	ask.words = &argv[at];
	ask.n_names = argc - at - 4;
	if (run(&ask, &out, &err) < 0) {
		err_print(&err);
		return 3;
	}
	if (out.rebooting) {
		printf("rebooting\n");
		return 0;
	}
	printf("%s %s\n", result_name(out.state), out.reason);
	return out.state == RESULT_OK || out.state == RESULT_CHANGED ? 0 : 1;
}
