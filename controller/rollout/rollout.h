/*
 * rollout - who of many nodes may go now, and which limit holds back the others.
 *
 * Pure: no clock, no store, no network. The caller tells what becomes of nodes
 * and asks rollout_admit again; the same code plans an --explain, drives a
 * simulator and a real run. Units (nodes that go together) are put into stages
 * once: stage 0 the canaries of each hardware class, then the waves. A stage
 * opens when all of the one before it are at rest and its soak is over. Nodes
 * that somebody else has taken away count as unavailable, are never touched,
 * and do not hold up a stage: they go whenever they come back.
 *
 * Times are ns of any clock that does not run backwards; the window needs wall
 * seconds beside.
 */
#pragma once

#include "agent/base/buf.h"
#include "controller/rollout/policy.h"

#include <stddef.h>

enum rollout_place {
	NODE_WAITING,
	NODE_OUT,     /* going: it counts as unavailable */
	NODE_WATCHED, /* given back and looked at: available, but its stage is not at rest */
	NODE_DONE,    /* came back, proven */
	NODE_FAILED,  /* at rest, and not available */
	NODE_UNDONE,  /* a failure that left it as before: at rest, available */
	NODE_PASSED,  /* at rest, untouched, nobody's failure */
	NODE_AWAY,    /* down or drained by somebody else */
	NODE_PLACES
};

enum rollout_limit {
	LIMIT_NONE,
	LIMIT_BREAKER,     /* the failure budget is spent: a person must look */
	LIMIT_WINDOW,      /* not now */
	LIMIT_STAGE,       /* an earlier stage is not at rest */
	LIMIT_SOAK,        /* it is, and is watched */
	LIMIT_CONCURRENCY, /* as many as the controller takes at once */
	LIMIT_UNAVAILABLE, /* max_unavailable */
	LIMIT_BUDGET,      /* of a domain */
	LIMIT_PAIR,        /* its twin is not available */
	LIMIT_POWER,       /* a circuit could not carry its worst step */
	LIMIT_AWAY,        /* one of the unit is with somebody else */
	LIMIT_N
};
extern const char *const ROLLOUT_LIMITS[], *const ROLLOUT_PLACES[];

/* A domain that a node is in: {"rack", "R1"}. A node may be in several of one kind (feeds). */
struct rollout_domain {
	const char *kind, *value;
};

struct rollout_node {
	const char *name; /* texts are borrowed for the rollout's life */
	const struct rollout_domain *domains;
	unsigned n_domains;
	bool away; /* at the start */
};

/* Whether the unit's nodes may take their worst step beside those that are out; why_not for people.
 */
struct rollout_power {
	void *ctx;
	bool (*fits)(void *ctx, const size_t *out, size_t n_out, const size_t *unit, size_t n_unit,
		char why_not[static 200]);
};

struct rollout;

/*
 * E_CONFLICT when a limit can never be kept: a unit that is larger than a budget or than
 * max_unavailable, two of a pair in one unit. The message names it.
 */
int rollout_new(const struct rollout_policy *p, const struct rollout_node *nodes, size_t n,
	const struct rollout_power *power, struct rollout **out, struct err *err);
void rollout_free(struct rollout *r);

/*
 * Lets go whatever may go now, at most so many nodes that `most` are out (0: no such limit): they
 * are NODE_OUT from then on. Their indexes stand in *admitted until the next call.
 */
size_t rollout_admit(
	struct rollout *r, int64_t now, int64_t wall, size_t most, const size_t **admitted);
/* A node is at rest from now on, whatever it was before; of one that is already nothing changes.
 * signature: of the failure, NULL. */
void rollout_settle(struct rollout *r, size_t node, enum rollout_place place, const char *signature,
	int64_t now);
/* A node that was out is available again, and watched. */
void rollout_return(struct rollout *r, size_t node);
/* A node that is watched must go out once more: it does if every limit but those of time and stages
 * allows it; else false, and words say which one does not. */
bool rollout_recall(struct rollout *r, size_t node, struct buf *words);
/* Before it is asked for the first time, of a rollout that is gone on with: where the node stands
 * and since when. counts: as a failure that nobody has forgiven. */
void rollout_restore(struct rollout *r, size_t node, enum rollout_place place,
	const char *signature, bool counts, int64_t since);
/* The stage that was open already, of a rollout that is gone on with. */
void rollout_restore_stage(struct rollout *r, unsigned stage);
/* Somebody else took a node, or gave it back: one that waits does not go meanwhile, one that was
 * back counts as unavailable. Of those that are out or failed it changes nothing. */
void rollout_take(struct rollout *r, size_t node, bool away);
/* Opens the breaker for a reason of the caller's. */
void rollout_trip(struct rollout *r, const char *why);
/* A person has looked: failures so far are forgiven. */
void rollout_reset_breaker(struct rollout *r);

enum rollout_place rollout_place_of(const struct rollout *r, size_t node);
unsigned rollout_stage_of(const struct rollout *r, size_t node); /* 0: canary */
unsigned rollout_stages(const struct rollout *r);
unsigned rollout_stage(const struct rollout *r); /* the latest that is open */
const struct rollout_policy *rollout_policy_of(const struct rollout *r);
/* Those that go together with the node, itself among them. */
size_t rollout_unit(const struct rollout *r, size_t node, const size_t **who);
const char *rollout_name(const struct rollout *r, size_t node);
size_t rollout_count(const struct rollout *r, enum rollout_place place);
size_t rollout_taken(const struct rollout *r);     /* others have so many now */
bool rollout_is_finished(const struct rollout *r); /* nobody waits, is out or is watched */
/* When admit was asked last, those who wait were held by what neither time nor those who are out
 * will change: nodes that failed or are away. */
bool rollout_is_stuck(const struct rollout *r);
/* Why the breaker is open, NULL while it is not. */
const char *rollout_broken(const struct rollout *r);
/* What held the node back when admit was asked last, with the figures in words (NULL: not asked).
 */
enum rollout_limit rollout_held(const struct rollout *r, size_t node, struct buf *words);
/* The next time at which admit may say more though nothing is told: a soak's end; INT64_MAX: none.
 */
int64_t rollout_next(const struct rollout *r);
/* Wall seconds at which the window is open next; wall itself when it is. */
int64_t rollout_window(const struct rollout *r, int64_t wall);
