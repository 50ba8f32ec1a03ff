/* install_priv - what install.c (over a shell) and install_recipe.c (over the old agent) share. */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/hash.h"
#include "controller/fleet/fleet.h"

/* Of the folder's name on the node, agent-XXXXXXXXXXXX. */
#define SHORT_LEN 12

extern const char INSTALL_SCRIPT[]; /* install.sh, embedded */

/* The agent as it goes to nodes, one of its two archives. */
struct agent_archive {
	const char *path;
	struct str bytes;
	void *map; /* where they are mapped */
	char sha256[HASH_HEX];
};

struct install {
	struct store *store;
	const struct keys *keys;
	const struct install_opts *opts;
	struct arena *arena;
	struct agent_archive zstd, gzip;
};

/* "SHA256 UNPACK NAME SIGN-KEY KEY-TYPE KEY" for install.sh; words without quotes or blanks. */
const char *install_arguments(
	const struct install *in, const struct agent_archive *archive, const char *node);
/*
 * Nodes whose agent is bound to our key run no script over it: the old agent
 * applies a recipe made for the purpose, which runs the same script. Nodes that
 * have the new agent then are appended to *good; the others' results go to done.
 */
int install_by_recipe(const struct install *in, const struct node_refs *nodes,
	struct node_refs *good, struct result_counts *bad, struct err *err);
