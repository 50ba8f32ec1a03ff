/*
 * fleet - one run over many nodes: leases, links, orders, events, results.
 *
 * fleet_run takes a lease per node, starts a link each, answers the agent's
 * hello with a signed order (and the bundle, if the node lacks it), stores
 * events and results in group commits, and tells the caller as it happens.
 * A node's result is decided by the final frame *and* exit status 0; anything
 * else is unknown, and is resolved by asking again (attach) up to twice.
 * Nodes that cannot be reached, refuse the key, show another host key or are
 * busy get their own result with cause and hint; the others go on. A node that
 * restarts within a run is waited for; another boot id proves that it did.
 */
#pragma once

#include "agent/wire/message.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/pack.h"
#include "controller/fleet/range.h"

struct secrets;
struct link_transport;

struct fleet_opts {
	const char
		*id; /* NULL: made; the run's id. Attach and resume: the run that is gone on with */
	enum order_mode mode;
	const struct pack_recipe *recipes;
	unsigned n_recipes;
	json_t *params; /* {recipe: {name: value}} or NULL; over what the variables of a node say */
	const struct secrets
		*secrets;       /* values for parameters of type secret; NULL: there are none */
	const char *nodes_text; /* as typed, for the record */
	const char *by;
	unsigned parallel;       /* 0: adaptive up to 512 */
	int64_t connect_timeout; /* ns, 0: 10 s */
	int64_t patience;        /* ns, 0: a minute; for an agent's greeting, and its end */
	int64_t silence;         /* ns, 0: a minute; of an agent at work, then the link is lost */
	int64_t reboot_wait;     /* ns, 0: 15 minutes; for a node that restarts */
	const char *kex;         /* NULL: default */
	const char *plan_hash;   /* apply only what a stored plan showed, node by node; NULL */
	const char *rekey;       /* public key text that nodes are to obey */
	bool preview;            /* undo: only tell what would be taken back */
	const char *undo_of;     /* undo: only what this run changed; NULL: all runs */
	const struct link_transport *transport; /* NULL: SSH */
	void *ctx;                              /* all may be NULL */
	void (*event)(void *ctx, const struct node_row *node, const json_t *record);
	void (*done)(void *ctx, const struct node_row *node, const struct node_result *result);
};

struct fleet_outcome {
	char id[64];
	struct result_counts nodes; /* of nodes by result */
	unsigned unreachable;       /* of them: could not be reached */
	char plan_hash[65];         /* over all nodes */
	int64_t took;
};

/*
 * Negative only when nothing could be started or recorded; else the outcome tells all. Takes
 * SIGINT, SIGTERM, SIGHUP while it runs: it then ends in order, and the nodes at work go on. With
 * plan_hash each node is told the hash it showed; a node that would change otherwise now does
 * nothing and is denied. E_STATE when no such plan is kept.
 */
int fleet_run(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct fleet_outcome *out, struct err *err);
/*
 * What a recipe is given on a node: its variables' parameters of that recipe, its own secrets, and
 * over them those of the run (NULL: none). A new reference.
 */
struct recipe;
json_t *fleet_params_given(const struct recipe *r, const json_t *vars, json_t *given);
/* Ends what a killed controller left: leases and runs still "running" whose owner is gone. */
int fleet_recover(struct store *s, unsigned *n, struct err *err);

/*
 * First contact: copies the agent's folder (AGENT.tar.zst or .tar.gz, whichever
 * the node can unpack), our signing key and the forced-command line for our SSH
 * key onto each node, logging in with identity; then asks the new agent for its
 * facts. Nodes without a pinned key are refused with a hint.
 */
struct install_opts {
	const char *identity;  /* private key that may log in now; NULL: our own (reinstall) */
	const char *agent_dir; /* where the tars are */
	const char *by;
	void *ctx;
	void (*done)(void *ctx, const struct node_row *node, const struct node_result *result);
};
int fleet_install(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct install_opts *o, struct fleet_outcome *out, struct err *err);
