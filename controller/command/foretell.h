/* foretell - a rollout played ahead: who goes when, and which limit holds the others, printed. */
#pragma once

#include "controller/command/command.h"
#include "controller/fleet/range.h"
#include "controller/rollout/policy.h"
#include "inventory/model/model.h"

struct store;

#define FORETELL_TAKES 20 /* minutes that a node is out, when nobody says */

struct foretell {
	const struct rollout_policy *policy;
	const struct node_refs *nodes;
	const char *site; /* NULL: the nodes' own */
	enum power_basis basis;
	int64_t takes; /* ns */
};

/* EXIT_SOME when nodes could never go; negative with err when it cannot be foretold. */
int foretell(
	const struct invocation *inv, struct store *s, const struct foretell *ask, struct err *err);
