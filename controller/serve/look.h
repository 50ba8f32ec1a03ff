/*
 * look - what nodes are to be, by their roles, and how far they are from it.
 *
 * Nodes whose roles list the same recipes are one group and one run in check mode;
 * each node gets a report on drift in the store, whose findings are the steps that
 * would change something and the checks that do not hold. Nothing is changed on nodes.
 */
#pragma once

#include "agent/wire/message.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/range.h"

struct role_group {
	const char *text; /* "base node-exporter" */
	unsigned n;
	const char **names;
	struct node_refs nodes;
};
struct role_groups vec(struct role_group);
#define GROUP_RECIPES_MAX 64

/*
 * By the recipes of their roles, in the order met, or all in one group by 'recipes'
 * (with blanks or commas between) when that is not NULL. Nodes without any recipe
 * come to *bare. E_NOTFOUND with a hint when that leaves nothing.
 */
int role_groups_make(struct arena *a, const struct node_refs *nodes, const char *recipes,
	struct role_groups *out, struct node_refs *bare, struct err *err);
void role_groups_done(struct role_groups *g);

struct look_opts {
	const char *recipes;    /* instead of the roles' own; NULL */
	const char *const *set; /* "NAME=VALUE" over what variables say; with recipes only */
	unsigned n_set;
	const char *by;
	unsigned parallel;
	const char *kex;
	bool keep; /* links stay open from one turn to the next */
	void *ctx; /* both may be NULL */
	/* What was found on a node, once it is stored. */
	void (*done)(void *ctx, const struct drift_report *r);
};

/*
 * Nodes to be looked at, once or again and again. A group whose recipes do not load fails as a
 * whole: each of its nodes gets a report that says so. Nodes, opts and arena must outlive it.
 */
struct looking;
int look_open(struct store *s, const struct keys *k, struct arena *a, const struct node_refs *nodes,
	const struct look_opts *o, struct looking **out, struct err *err);
/*
 * Looks at them and stores what was found: one report a node, in the order of the answers,
 * in a. Negative when nothing could be done or stored; E_CANCELLED when a signal came.
 */
int look_turn(struct looking *l, struct arena *a, struct drift_reports *reports, struct err *err);
/* Nodes whose roles list no recipe. */
const struct node_refs *look_bare(const struct looking *l);
void look_close(struct looking *l); /* NULL is fine */

/* What the records and the result of one node come to. */
struct look {
	struct arena *arena;
	struct drift_report report;
	bool step_failed;
	unsigned unknown;
};
void look_begin(struct look *l, struct arena *a, const struct node_row *node);
void look_record(struct look *l, const json_t *record);
void look_end(struct look *l, const struct node_result *r, bool reached);
