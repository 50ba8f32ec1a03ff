/*
 * frozen - what a rollout was told to do, as it was when it began: policy, recipes, parameters.
 *
 * Texts go into the store, copies of the recipes beside it (DIR/rollouts/RUN/NAME), so that a
 * rollout that is gone on with after days does what it began to do, whatever became of files since.
 */
#pragma once

#include "agent/base/json.h"
#include "controller/fleet/pack.h"
#include "controller/rollout/policy.h"

#define FROZEN_POLICY_MAX (64u << 10) /* bytes of a policy's file */

struct store;

struct frozen {
	struct rollout_policy policy;
	const char *text, *name; /* of the policy's file; NULL: the preset */
	const char *flags;       /* YAML over it, NULL */
	const char *site;        /* NULL: the only one */
	json_t *params;          /* as in fleet_opts; owned */
	struct pack_recipe *recipes;
	unsigned n_recipes;
};

/* The policy of file ("default", NULL: the preset) with flags over it; texts live in a. */
int frozen_read_policy(
	struct arena *a, const char *file, const char *flags, struct frozen *out, struct err *err);
/* Copies the recipes; order: the JSON text for the store's row. */
int frozen_keep(struct store *s, struct arena *a, const char *run, const struct frozen *f,
	struct buf *order, struct err *err);
/* E_VERIFY when what was kept is not what it was. */
int frozen_load(struct store *s, struct arena *a, const char *run, const char *order,
	struct frozen *out, struct err *err);
/* Removes the copies, of a rollout that was never begun. */
void frozen_forget(struct store *s, struct arena *a, const char *run);
void frozen_done(struct frozen *f);
