/*
 * simulated - what benches of runs stand on: a database with nodes n1, n2, ... of which each is one
 * of the simulated agents (agents.h), keys, and a recipe that has nothing to do.
 */
#pragma once

#include "controller/fleet/keys.h"
#include "controller/fleet/pack.h"
#include "controller/fleet/range.h"
#include "inventory/store/store.h"
#include "tests/bench/agents.h"

struct err;

struct simulated {
	struct arena *arena;
	char dir[64]; /* below /tmp; simulated_drop removes it */
	struct store *store;
	struct keys keys;
	struct node_rows rows;
	struct node_refs refs;
	struct pack_recipe *recipes;
	unsigned n, n_recipes;
};

void simulated_make(struct simulated *b, unsigned n);
void simulated_drop(struct simulated *b);
/* Ends the program with the error's words when rc is negative. */
void simulated_must(int rc, const struct err *err);
/* ns of CPU that this process has used. */
int64_t simulated_cpu(void);
