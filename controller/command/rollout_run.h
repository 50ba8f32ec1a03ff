/* rollout_run - rollouts that are driven by this process: begun by apply, gone on with by resume.
 */
#pragma once

#include "controller/command/command.h"
#include "controller/fleet/fleet.h"

/* What apply has read: all of it is borrowed. */
struct rollout_begin {
	struct store *store;
	const struct keys *keys;
	const struct node_refs *nodes;
	struct pack_recipe *recipes;
	unsigned n_recipes;
	json_t *params;
	const char *recipes_text, *nodes_text;
};

/* What asks for another kind of run beside --rollout is E_CONFLICT. */
int rollout_judge_options(const struct invocation *inv, struct err *err);
/* --rollout, and the options that go with it; an exit code, or negative with err. */
int rollout_begin(const struct invocation *inv, const struct rollout_begin *b, struct err *err);
/* The same of a rollout that is in the store; run: its id. One that another process drives is asked
 * to go on there. */
int rollout_resume(const struct invocation *inv, struct store *s, const struct keys *k,
	const char *run, struct err *err);
