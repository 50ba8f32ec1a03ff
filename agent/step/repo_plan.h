/*
 * repo_plan - what a 'repo' step wants of files, worked out before anything is written.
 *
 * All of it is a list of edits: check shows them, apply saves them and refreshes
 * just that source, and a refresh that fails brings every old text back.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/vec.h"
#include "agent/step/edit.h"

struct edits vec(struct edit);

struct repo_plan {
	const struct step_env *env;
	const json_t *args;
	const char *name; /* of the repo */
	bool absent, enabled;
	struct arena *arena;
	struct edits edits;
	struct buf notes;    /* why, a line each, for the report */
	const char *refresh; /* apt: the file that configures it; dnf: the repo's id; NULL: none */
};

int repo_plan_init(
	struct repo_plan *p, const struct step_env *env, const json_t *args, struct err *err);
void repo_plan_done(struct repo_plan *p);

/* Opens a file for editing; the path is copied. The pointer is good until the next one. */
int repo_plan_edit(struct repo_plan *p, const char *path, struct edit **out, struct err *err);
/* A file that shall have this text, or be gone when text.p is NULL. */
int repo_plan_file(struct repo_plan *p, const char *path, struct str text, struct err *err);
/* The key's text from the recipe, checked against 'fingerprint'; empty when none is given. */
int repo_plan_key(const struct repo_plan *p, struct buf *out, struct err *err);

/* Fill the plan. */
int repo_plan_apt(struct repo_plan *p, struct err *err);
int repo_plan_dnf(struct repo_plan *p, struct err *err);
/* Fetches the lists of just that source. */
int repo_refresh_dnf(const struct step_env *env, const char *id, struct err *err);
