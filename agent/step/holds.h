/*
 * holds - which held packages are held by us, across runs.
 *
 * HOLDS_PATH in the root has a name a line; people may read it, and take a line
 * out to make the hold theirs. A package that is held and not named there is
 * the administrator's. "lifted" behind a name: the hold was taken off for a
 * transaction and has to be put back.
 */
#pragma once

#include "agent/base/vec.h"
#include "agent/step/step.h"

#define HOLDS_PATH "/var/lib/stoika-agent/holds"

struct hold {
	char *name;
	bool lifted;
};

struct holds vec(struct hold);

int holds_load(const struct step_env *env, struct holds *out, struct err *err);
/* Nothing is written when nothing changed; a list without names is no file. */
int holds_save(const struct step_env *env, const struct holds *h, struct err *err);
void holds_done(struct holds *h);
bool holds_has(const struct holds *h, struct str name);
/* Adds it, or sets its flag. */
void holds_set(struct holds *h, struct str name, bool lifted);
void holds_drop(struct holds *h, struct str name);
