/*
 * controller - a controller of its own for a test of rollouts: database, keys, a recipe 'w', nodes
 * n1, n2 ... (nodes.h) and a scheduler (standin.sh), all in one folder.
 */
#pragma once

#include "controller/rollout/world.h"
#include "inventory/store/rollout.h"

/* One controller: its database, recipe and nodes n1.. in a folder of their own. */
struct site {
	struct arena *arena;
	const char *dir;
	unsigned n;
	struct store *store;
	struct keys keys;
	struct node_rows rows;
	struct node_refs refs;
	struct frozen order;
	struct rollout_opts opts;
	struct rollout_outcome out;
	const char *wish; /* of a person; NULL: none, or it was said */
};

/* name: of the folder below top. flags: YAML over a policy that has no soak, no canary and one
 * wave; NULL. */
void site_make(struct site *s, const char *top, const char *name, unsigned n, const char *flags);
void site_drop(struct site *s);
/* Database and keys, around a fork. */
void site_open(struct site *s);
void site_close(struct site *s);
/* One rollout by s->opts, into s->out. */
int site_drive(struct site *s);
/* The node's states in order, as the history has them: "preflight staged ... done". */
const char *site_way(struct site *s, const char *node);
struct rollout_node_row site_row(struct site *s, const char *node);
const char *site_run_state(struct site *s);

#define WAY_THERE "preflight staged cordoned wait-jobs drained quiesced installed "
