/*
 * store - the SQLite file: the only place with SQL.
 *
 * WAL, synchronous FULL, foreign keys, STRICT tables, BEGIN IMMEDIATE for every
 * write, forward-only migrations (sql/NNNN_*.sql, embedded) with a backup beside
 * the file first. One connection, one thread. Functions that write need a
 * transaction of the caller (store_begin .. store_commit), so that group commit
 * is the caller's choice. Rows returned live in the arena given.
 *
 * Default place: --db FILE, else STOIKA_DB, else /var/lib/stoika/stoika.db as
 * root, else $XDG_STATE_HOME/stoika/stoika.db or ~/.local/state/stoika/stoika.db.
 */
#pragma once

#include "agent/base/vec.h"
#include "agent/wire/record.h"
#include "inventory/model/model.h"
#include "inventory/model/part.h"
#include "inventory/model/vars.h"

struct err;
struct store;

enum store_open {
	STORE_READ,
	STORE_WRITE,
	STORE_CREATE
};

/* The path to use; given may be NULL. Arena-owned. */
const char *store_default_path(struct arena *a, const char *given);
/*
 * STORE_CREATE makes directory and file, refuses an existing one (E_EXISTS).
 * E_NOTFOUND, E_SCHEMA when it is no Stoika database, E_UNSUPPORTED when a newer
 * program made it or a network file system holds it. STORE_WRITE migrates an older
 * one (a backup stays beside it); STORE_READ answers E_STATE then.
 */
int store_open(const char *path, enum store_open how, struct store **out, struct err *err);
void store_close(struct store *s); /* rolls back what is open; NULL is fine */
/* The name of a network file system by its statfs magic, NULL when it is none. */
const char *store_network_fs(uint64_t magic);
const char *store_path(const struct store *s);
int store_begin(struct store *s, struct err *err);
/* Rolls back when it fails, so that nothing stays open. */
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);

/* Settings of this database: controller id and the like. */
int store_setting_put(struct store *s, const char *key, const char *value, struct err *err);
int store_setting_get(
	struct store *s, struct arena *a, const char *key, const char **out, struct err *err);

/* --- inventory --- */
/*
 * Replaces the site's declared inventory by the model. Rows keep their ids where
 * names match; nodes keep their state, agent and pinned key unless the file
 * states another; a node with a lease cannot vanish (E_BUSY).
 */
int store_put_model(struct store *s, const struct model *m, struct err *err);
/* site NULL: the only one (E_CONFLICT names them when there are several). */
int store_load_model(struct store *s, const char *site, struct model **out, struct err *err);
int store_sites(struct store *s, struct arena *a, const char ***names, size_t *n, struct err *err);

/* What panels and UPSs carry at most (model/part.h), after store_put_model, which forgets it. */
int store_put_reach(
	struct store *s, const char *site, const struct reach *at, size_t n, struct err *err);
/*
 * The racks named with all that their audit depends on: their parts, and those that
 * what may trip joins to them. trips says whether a panel or UPS may; m has them then,
 * and the site's terms. 0 with *out NULL when the site must be loaded whole: when a
 * rack is not known, or most of the site would be needed.
 */
struct store_part_asked {
	const char *site; /* NULL: the only one */
	const char *const *racks;
	size_t n;
	enum power_basis basis;
	bool (*trips)(void *ctx, const struct model *m, const struct reach *r);
	void *ctx;
	size_t site_racks; /* filled: of the whole site */
};
int store_load_part(
	struct store *s, struct store_part_asked *asked, struct model **out, struct err *err);

/* --- versions: what a site was --- */
struct store_version {
	int64_t id, at;                 /* wall ns of the import */
	const char *site, *by, *source; /* source: the path that was given */
	const char *sha256;             /* of its text */
	size_t bytes;
	int schema;
};
struct store_versions vec(struct store_version);
/* Keeps the site file of an import, unless it is the last one's, byte for byte. */
int store_version_put(struct store *s, const char *site, const char *by, const char *source,
	struct str text, struct err *err);
/* Whether that text is what was imported last, by this schema. */
bool store_version_is_last(struct store *s, const char *site, struct str text);
/* Newest first; site NULL: of all. */
int store_version_list(struct store *s, struct arena *a, const char *site,
	struct store_versions *out, struct err *err);
/* What held at that wall ns, with its text; E_NOTFOUND names the oldest. site NULL: the only one.
 */
int store_version_at(struct store *s, struct arena *a, const char *site, int64_t at,
	struct store_version *out, struct str *text, struct err *err);

/* --- nodes --- */
struct node_row {
	int64_t id;
	const char *name, *address, *user, *host_key; /* host_key NULL: not pinned */
	unsigned port;
	const char *site, *location, *rack, *role, *device_type; /* "" when none */
	const char *state;   /* expected, discovered, inspected, ready, deploying, deployed, failed,
				rescue, retired */
	const char *reason;  /* of failed, "" */
	const char *agent;   /* installed agent's version, "" */
	const char *boot_id; /* last seen, "" */
	const char *os;      /* "debian 12", "" */
	int64_t seen;        /* wall seconds of last contact, 0 never */
	int64_t missed; /* since when it cannot be reached, 0: it was when tried last. Filled by
			   store_mark_missed only */
	/* JSON object text: what all layers come to, see model/vars.h. Nodes for which they come to
	   the same share the pointer. */
	const char *vars;
	const struct vars_layer *layers; /* VARS_LAYERS of them, from the site to the node */
	const char *role_recipes;        /* with a blank between; "" none */
	const char *check_every, *check_window, *check_splay; /* of its role or site, "" */
	const char *drift; /* state of its newest report, "" none */
};
struct node_rows vec(struct node_row);
/* All nodes, by name in natural order (gpu2 before gpu10). */
int store_nodes(struct store *s, struct arena *a, struct node_rows *out, struct err *err);
int store_node_pin_key(struct store *s, int64_t node, const char *host_key, struct err *err);
/* After an install or contact. NULL leaves a field. */
int store_node_seen(struct store *s, int64_t node, const char *agent, const char *boot_id,
	const char *os, const char *state, const char *reason, struct err *err);
int store_put_facts(struct store *s, int64_t node, const char *group, const json_t *value,
	enum fact_origin origin, struct err *err);
/* All that the node tells, {group: value}: groups of that origin that are no longer told go. */
int store_replace_facts(
	struct store *s, int64_t node, json_t *facts, enum fact_origin origin, struct err *err);
/* Object {group: value}; new reference. */
int store_get_facts(struct store *s, int64_t node, json_t **out, struct err *err);

/* --- leases: one run per node --- */
struct lease {
	const char *run, *owner; /* "user@host pid 123" */
	int64_t taken, expires;  /* wall seconds */
};
/* E_BUSY with *holder filled when another run holds an unexpired lease. The same run renews. */
int store_lease_take(struct store *s, struct arena *a, int64_t node, const char *run,
	const char *owner, int64_t ttl, struct lease *holder, struct err *err);
int store_lease_drop(struct store *s, int64_t node, const char *run, struct err *err);
int store_lease_drop_run(struct store *s, const char *run, struct err *err);
/*
 * Leases of runs whose controller process is gone (its owner text names host boot
 * id, pid and start time of this machine) are dropped. Returns how many in *n.
 */
int store_lease_reap(struct store *s, unsigned *n, struct err *err);
/* "user@host pid N start T boot B" of this process, as leases keep it. */
const char *store_owner(struct arena *a);

/* --- runs --- */
struct run_row {
	const char *id, *mode, *recipes, *nodes, *by; /* nodes: the range as typed */
	const char *state; /* running, done, failed, cancelled, interrupted */
	const char *plan_hash, *bundle;
	int64_t started, ended; /* wall ns; ended 0 while running */
	unsigned n_nodes;
	struct result_counts counts; /* of nodes by their result */
};
struct run_rows vec(struct run_row);
int store_run_add(struct store *s, const struct run_row *r, struct err *err);
int store_run_end(
	struct store *s, const char *id, const char *state, const char *plan_hash, struct err *err);
/* Newest first; the parts of a rollout (NAME-MODE of rollout NAME) are left out. */
int store_runs(
	struct store *s, struct arena *a, unsigned limit, struct run_rows *out, struct err *err);
/* The same with the parts of rollouts, without counts: not all results are read. */
int store_runs_bare(
	struct store *s, struct arena *a, unsigned limit, struct run_rows *out, struct err *err);
/* "last" is the newest; a unique prefix will do. The part of a rollout must be named in full.
 * E_NOTFOUND, E_CONFLICT. */
int store_run_find(
	struct store *s, struct arena *a, const char *id, struct run_row *out, struct err *err);

/* One row per node and run; unchanged steps are counted here and are no rows of their own. */
struct node_result {
	int64_t node;
	const char *node_name;
	enum step_result state;
	struct result_counts counts;
	const char *plan_hash, *reason, *hint; /* "" */
	int64_t took;                          /* ns, controller's view */
	int64_t agent_pass, agent_process;     /* ns of CPU on the node; 0 unknown */
};
struct node_results vec(struct node_result);
int store_result_put(
	struct store *s, const char *run, const struct node_result *r, struct err *err);
int store_results(struct store *s, struct arena *a, const char *run, struct node_results *out,
	struct err *err);

/* Journal records as they came, in the order of seq, which is the agent's. Repeats are ignored. */
int store_event_add(
	struct store *s, const char *run, int64_t node, const json_t *record, struct err *err);
/* In arrival order, id > after, at most STORE_EVENTS_MAX; call again with the last id for more. */
#define STORE_EVENTS_MAX 50000
struct event_row {
	int64_t id, node;
	const char *node_name;
	json_t *record; /* new reference, the caller's */
};
struct event_rows vec(struct event_row);
int store_events(struct store *s, struct arena *a, const char *run, int64_t after,
	struct event_rows *out, struct err *err);

/* --- drift: how far a node is from what its recipes describe --- */
enum drift_state {
	DRIFT_OK,
	DRIFT_DRIFT,
	DRIFT_UNKNOWN,
	DRIFT_FAILED,
	DRIFT_UNREACHABLE,
	DRIFT_N
};
const char *drift_state_name(enum drift_state state);

struct drift_finding {
	const char *recipe, *name, *state, *why, *diff; /* state: the record's; diff: its head */
	unsigned step;                                  /* 0: a check of the recipe */
	int64_t since; /* wall seconds of the first look that found it; filled when it is put */
};
#define DRIFT_FINDINGS_MAX 64 /* kept of one look; all are counted */
#define DRIFT_REPORTS_MAX  32 /* kept of one node */

struct drift_report {
	int64_t node, at, since; /* since: when it became so; filled when it is put */
	const char *node_name, *run, *recipes, *reason, *hint;
	enum drift_state state;
	unsigned n_found; /* all; n of them are here */
	unsigned n;
	struct drift_finding *findings;
};
struct drift_reports vec(struct drift_report);
/* Adds a look at a node; fills in since from the look before, drops the oldest. */
int store_drift_put(struct store *s, struct drift_report *r, struct err *err);
/*
 * After an apply of these recipes that went well: when the newest report says otherwise and is of
 * no other recipe, a new one says ok.
 */
int store_drift_healed(struct store *s, int64_t node, const char *run, int64_t at,
	const char *const *recipes, unsigned n, struct err *err);
/* The newest report of each node that has one, or with node all of that node, newest first. */
int store_drift(
	struct store *s, struct arena *a, int64_t node, struct drift_reports *out, struct err *err);

/* When each node is to be looked at again is worked out from when it was looked at last. */
struct check_row {
	int64_t node, last; /* wall seconds */
	unsigned failed;    /* looks in a row that could not be done */
};
struct check_rows vec(struct check_row);
int store_checks(struct store *s, struct check_rows *out, struct err *err);
int store_check_put(struct store *s, const struct check_row *r, struct err *err);

/* --- audit log, a hash chain --- */
int store_audit_add(struct store *s, const char *who, const char *what, const char *object,
	const char *detail, struct err *err);
/* Walks the chain; E_VERIFY names the first row that does not fit. */
int store_audit_verify(struct store *s, int64_t *rows, struct err *err);
