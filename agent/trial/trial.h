/*
 * trial - recipes run for real over the tree of a case, and what came of it compared.
 *
 * A case is a folder: case.yaml, before/, after/ and more; tests/cases/recipe/README.md has the
 * format. Each is laid under a throw-away root in /tmp; a second run must be silent.
 */
#pragma once

#include <stdbool.h>

struct buf;
struct err;

struct trial_opts {
	const char *const *recipes; /* folders in which recipes are looked for by name */
	unsigned n_recipes;
	const char *const *order; /* what is run unless the case says so itself, in this order */
	unsigned n_order;
	const char *programs; /* folder of programs that cases may name; NULL: none */
	const char *skeleton; /* a minimal root, by trial_skeleton */
	bool keep;            /* leave the trees as they are after the runs, and tell where */
};

/* Whether all is as written; a line to *told for each thing that is not. */
bool trial_case(const struct trial_opts *o, const char *dir, struct buf *told);

/* Who is not root becomes it in a user namespace: enough for chroot and for files of one owner. */
int trial_become_root(struct err *err);
/* A minimal root in /tmp, one for all cases: accounts, /bin/sh, a few tools. */
int trial_skeleton(char path[static 64], struct err *err);
void trial_drop_skeleton(const char *path);
