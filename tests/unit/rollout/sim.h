/*
 * sim - nodes, their scheduler and a store, scripted by a seed, in virtual time: what
 * drive_sim_test lets a drive play against.
 *
 * A node's actions belong to the node: they go on while no controller lives, and what came of them
 * can be asked after (entered again). Each may fail, never end, tell twice, or tell after its time.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/vec.h"
#include "controller/rollout/drive.h"

#define SIM_SEC INT64_C(1000000000)

enum sim_fence {
	SIM_OPEN,
	SIM_OURS,
	SIM_FOREIGN
};

struct sim_row {
	enum node_state state;
	unsigned tries;
	int64_t since;
	const char *why, *signature; /* in the arena, NULL: none */
};

/* What the node does by an order: it has one at a time. */
struct sim_action {
	enum node_state state;
	unsigned tries;
	bool given, over, twice;
	int64_t ends; /* INT64_MAX: never */
	enum node_event on;
};

struct sim_node {
	struct sim_row kept, handed; /* committed; told */
	bool changed;                /* handed since the last commit */
	struct sim_action action;
	bool heard; /* a controller listens to what it says */
	enum sim_fence fence;
	bool freed; /* given back by a person */
	unsigned touched, settled, kept_touched, kept_settled;
	unsigned begun[STATE_N]; /* tries that were begun */
};

struct sim_event {
	int64_t at;
	size_t node;
	enum node_state state;
	unsigned tries;
};

struct sim {
	unsigned seed;
	uint64_t random;
	struct arena *arena;
	struct rollout_policy policy;
	struct rollout_node *site;
	struct sim_node *nodes;
	size_t n;
	struct rollout *r;
	struct drive *drive;
	int64_t now, forgiven, step; /* step: events are told in such steps */
	unsigned stage;
	enum drive_asked asked;
	bool dead, refused; /* killed; at a commit */
	bool thorough, people, kills, faults, unchanged;
	struct vec(struct sim_event) events; /* a heap, the soonest first */
	struct vec(size_t) changed;
	size_t crashes, turns, moves, commits, begins;
};

/* Ten nodes are on one circuit, which carries the worst steps of about half of them. */
#define SIM_CIRCUIT 12
size_t sim_circuit(size_t node);
unsigned sim_weight(size_t node);
struct rollout_power sim_power(void);

void sim_new(struct sim *w, unsigned seed, size_t n);
void sim_done(struct sim *w);
uint64_t sim_draw(struct sim *w, uint64_t below);
const char *sim_value(const struct sim *w, size_t node, const char *kind);

/* The store. */
void sim_hand_over(struct sim *w, const struct drive_move *m);
void sim_keep(struct sim *w);
void sim_forget(struct sim *w);

/* The nodes. */
void sim_enter(struct sim *w, size_t node, enum node_state state, unsigned tries, bool again);
void sim_leave(struct sim *w, size_t node, enum node_state state);
/* Now and then a person drains the node, or takes over one of ours; what people drained is given
 * back. */
void sim_drain(struct sim *w, struct sim_node *n);
int64_t sim_next(const struct sim *w);
/* What ends until now is told to the drive. */
void sim_happen(struct sim *w);
