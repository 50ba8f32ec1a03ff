/* rollout_priv - a rollout in memory, shared by rollout.c (what goes on) and rollout_make.c. */
#pragma once

#include "agent/base/vec.h"
#include "controller/rollout/rollout.h"

#define NO_DOMAIN UINT32_MAX

struct domain {
	const char *kind, *value;
	unsigned all, gone, most; /* nodes in it; of them away; allowed */
	bool limited, pair;
};

struct member {
	const char *name;
	uint32_t *domains; /* numbers of those that limit something; each once */
	unsigned n_domains;
	uint32_t unit;
	enum rollout_place place;
	bool lost; /* somebody else took it after it was back */
};

/* Nodes that go together: in_units[first .. first + n). */
struct unit {
	size_t first, n;
	unsigned stage;
	bool gone;
	const char *class_; /* of its first node */
	uint64_t key;       /* to be ordered by */
	enum rollout_limit held;
	uint32_t held_domain;
	unsigned held_have, held_most;
	char power[200];
};

struct stage {
	size_t waiting, busy; /* busy: out or watched */
	bool settled;         /* somebody of it went: only then there is something to watch */
	int64_t rest;         /* when the last one of it settled */
};

struct signature {
	const char *text;
	unsigned n;
};

struct rollout {
	struct rollout_policy policy;
	struct rollout_power power;
	struct arena *arena;
	struct vec(struct member) members;
	struct vec(struct domain) domains;
	struct vec(struct unit) units; /* in the order of stages */
	struct vec(struct stage) stages;
	struct vec(struct signature) signatures;
	struct vec(size_t) out, admitted;
	size_t *in_units;
	size_t count[NODE_PLACES], gone, lost; /* gone: not there for anybody's work */
	size_t next_unit;
	unsigned stage;           /* the latest that is open */
	enum rollout_limit whole; /* what held everybody when it was asked last */
	bool soaking, full;       /* full: max_unavailable, whoever it would be */
	unsigned failures;
	char broken[200];
};

/* Counts a node in another place. */
void rollout_put(struct rollout *r, size_t node, enum rollout_place place);
