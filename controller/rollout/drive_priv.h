/* drive_priv - a drive in memory, shared by drive.c (turns), drive_node.c (one node's moves),
 * drive_unit.c (those that go together) and drive_words.c (what is said of them). */
#pragma once

#include "agent/base/vec.h"
#include "controller/rollout/drive.h"

enum node_phase {
	PHASE_REST,  /* eligible, or at its end */
	PHASE_STAND, /* its action begins at `due` */
	PHASE_ACT,   /* its action is under way; over at `due` */
	PHASE_TOLD   /* what came of it is known, and not yet drawn */
};

struct told {
	char *why, *hint, *signature; /* owned, NULL: none */
};

struct node {
	enum node_state state;
	enum node_phase phase;
	unsigned tries;
	bool again;  /* was placed: its action may be under way already */
	bool moving; /* is among d->moved */
	bool act_ends, placed;
	enum node_state left; /* act_ends: whose action is given up */
	enum node_event on;   /* PHASE_TOLD */
	int64_t since, due;   /* due INT64_MAX: never */
	struct told told;     /* PHASE_TOLD: what was said with it */
	struct told word;     /* of the latest move; of a failure as long as it matters */
	char *note;           /* what it waits for; of one who waits: who has it */
};

struct drive {
	const struct rollout_policy *policy;
	struct rollout *r;
	struct drive_world world;
	struct node *nodes;
	size_t n;
	struct vec(size_t) active, moved;
	enum drive_asked asked;
	char *asked_why;
	int64_t now, wall, forgiven;
	int64_t changed;  /* when something last moved, or somebody came or went */
	bool fresh;       /* told or asked since the last turn */
	bool begun;       /* there was a turn */
	bool shut;        /* the window was closed in the last turn */
	bool turned_back; /* the abort was done for those who wait */
	bool failed;      /* something could not be kept */
	bool over, told_rest;
	size_t kept; /* moves handed over since the last commit */
};

/* How long the state's action may take, 0: no limit. */
int64_t drive_limit(const struct drive *d, enum node_state state);
/* The move that `on` means, and those that follow from it at once. */
int drive_go(struct drive *d, size_t i, enum node_event on, const struct drive_word *word,
	struct err *err);
/* Only those that the policy has decided already. */
int drive_go_on(struct drive *d, size_t i, struct err *err);
/* One try more of the same state. */
int drive_try_again(struct drive *d, size_t i, struct err *err);
/* A row without a transition: why it is where it is. */
int drive_remark(struct drive *d, size_t i, enum node_event on, struct err *err);
/* After the commit: what is under way is given up, the new state's action begun. */
void drive_begin(struct drive *d, size_t i);
/* Begins an action whose time has come. */
void drive_enter(struct drive *d, size_t i);
/* Whether somebody else has the node, of one that is not out. */
void drive_look_at(struct drive *d, size_t i);
/* What the node's state means for the planner when it is placed. */
void drive_restore(struct drive *d, size_t i);
/* Whether it must wait for others of its unit; one of them that fell back turns its end into a
 * failure. */
bool drive_unit_waits(struct drive *d, size_t i);
void drive_told_set(struct told *t, const struct drive_word *word);
void drive_told_done(struct told *t);
/* It was told an end that may not be drawn while the rollout is paused or the window closed. */
bool drive_is_gated(const struct drive *d, const struct node *n);
