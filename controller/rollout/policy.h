/*
 * policy - how a change goes over a live cluster: who first, how many at once, when to stop.
 *
 *	rollout: driver-595
 *	canary: {by: [type, os], count: 1}   # of each hardware class, before any wave
 *	waves: [1, 5%, 25%, 100%]            # how many have gone when each wave ends
 *	soak: {canary: 1h, wave: 10m, node: 0s}   # node: how long one is watched once it is back
 *	max_unavailable: 10%                 # with all that are down or drained by anyone
 *	budgets: {rack: 1, feed: 25%, leaf: 1, partition: 25%}   # of each such domain at once
 *	unit: nvlink_domain                  # nodes with one value go together
 *	pair: mirror                         # of nodes with one value never two at once
 *	failures: {most: 5%, same: 2}        # more than that, or the same one so often, pauses
 *	window: {days: [sat, sun], from: "22:00", to: "06:00", utc: "+03:00"}
 *	order: name                          # name, rack (spread over racks), or random
 *	retry: 1                             # of what changes nothing: preflight, staging
 *	on_failure: rollback                 # rollback, quarantine or stop
 *	fence: {by: slurm, jobs: wait, deadline: 8h, grace: 2m}
 *	reboot: {by: agent, within: 15m, power_cycle: [/etc/stoika/power-cycle]}
 *	timeouts: {preflight: 5m, stage: 30m, fence: 5m, apply: 1h, services: 10m, verify: 15m,
 *	           rollback: 1h}
 *
 * fence: by none, slurm, kubernetes or command (command: [/etc/stoika/fence], its words).
 * jobs: what is done at the deadline: wait (the node is given back as it was), requeue or
 * cancel; grace: what they have to end then. prefix: [ssh, head] is put before the
 * scheduler's programs; kubeconfig: FILE. reboot: by agent or fence (Slurm's own, or the
 * command's); power_cycle: a program with its words, the node's name behind them, once, when
 * the node is not back within that time.
 *
 * Whatever is left out has the preset of rollout_policy_preset, the name the file's. An amount is a
 * number or a share of all nodes of the rollout (of a budget: of the domain's).
 */
#pragma once

#include "agent/base/arena.h"
#include "controller/fence/fence.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

#define ROLLOUT_WAVES_MAX   16
#define ROLLOUT_BUDGETS_MAX 16
#define ROLLOUT_CLASS_MAX   4
#define ROLLOUT_ARGV_MAX    32

struct amount {
	unsigned n; /* nodes, or hundredths */
	bool percent;
};

enum rollout_order {
	ROLLOUT_BY_NAME,
	ROLLOUT_BY_RACK,
	ROLLOUT_RANDOM,
	ROLLOUT_ORDER_N
};

enum rollout_failure {
	ON_FAILURE_ROLLBACK,
	ON_FAILURE_QUARANTINE,
	ON_FAILURE_STOP,
	ON_FAILURE_N
};

enum rollout_timeout {
	TIMEOUT_PREFLIGHT,
	TIMEOUT_STAGE,
	TIMEOUT_FENCE,
	TIMEOUT_APPLY,
	TIMEOUT_SERVICES,
	TIMEOUT_VERIFY,
	TIMEOUT_ROLLBACK,
	ROLLOUT_TIMEOUTS
};

struct rollout_policy {
	const char *name;
	const char *class_by[ROLLOUT_CLASS_MAX]; /* domains that make a hardware class */
	unsigned n_class_by, canaries;           /* of each class; 0: none */
	struct amount waves[ROLLOUT_WAVES_MAX];
	unsigned n_waves;
	int64_t soak_canary, soak_wave, soak_node; /* ns */
	struct amount max_unavailable;
	struct rollout_budget {
		const char *domain;
		struct amount most;
	} budgets[ROLLOUT_BUDGETS_MAX];
	unsigned n_budgets;
	const char *unit, *pair;         /* domains, NULL: none */
	struct amount failures;          /* more failed nodes than that pause the rollout */
	unsigned same_failure;           /* as many with one signature do so too; 0: not asked */
	unsigned window_days;            /* bit 0 Monday .. bit 6 Sunday; 0: any time */
	unsigned window_from, window_to; /* minutes of the day; to before from: past midnight */
	int utc_minutes;                 /* the window's clock against UTC */
	enum rollout_order order;
	uint64_t seed; /* of random */
	unsigned retry;
	enum rollout_failure on_failure;
	struct rollout_fence {
		enum fence_kind by;
		enum fence_jobs jobs;
		int64_t deadline, grace; /* ns */
		/* NULL-terminated argv each, or NULL */
		const char *const *command, *const *prefix;
		const char *kubeconfig;
	} fence;
	bool reboot_by_fence;
	int64_t reboot_within;              /* ns */
	const char *const *power_cycle;     /* argv, the node's name behind it; NULL: never */
	int64_t timeouts[ROLLOUT_TIMEOUTS]; /* ns */
};

/* One canary of each type and system, waves of 1, 5 %, 25 % and all, 10 % away at once, one of a
 * rack, a pause at 5 % failures or two alike, rollback, no window. */
void rollout_policy_preset(struct rollout_policy *p);
/* name is for messages; texts live in a. E_SYNTAX, E_SCHEMA with place and hint. */
int rollout_policy_parse(struct arena *a, const char *name, struct str text,
	struct rollout_policy *out, struct err *err);
/* As parse, but what text leaves out stays as it is in *p. */
int rollout_policy_change(struct arena *a, const char *name, struct str text,
	struct rollout_policy *p, struct err *err);
int rollout_policy_load(
	struct arena *a, const char *path, struct rollout_policy *out, struct err *err);

/* The nodes that an amount allows of all: a share rounded down, but one at least unless it is 0. */
unsigned amount_of(struct amount m, unsigned all);
/* The same rounded up, for waves. */
unsigned amount_up(struct amount m, unsigned all);
/* Wall seconds at which the window is open next, now itself when it is; 0 without a window: now. */
int64_t rollout_window_opens(const struct rollout_policy *p, int64_t now);
extern const char *const ROLLOUT_ORDERS[], *const ROLLOUT_FAILURES[], *const ROLLOUT_DAYS[];
