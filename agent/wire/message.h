/*
 * message - the JSON messages in 'J' frames. Each is an object with "t".
 *
 * agent -> controller
 *	hello    proto, version, boot_id, machine_id, hostname, nonce, bundles [digest],
 *	         key (id of the controller's key it obeys), name (its own, "" not yet told),
 *	         busy {run, controller, since} when a run holds the node,
 *	         interrupted {run, recipe, step} when the last run never ended; restart "awaited" |
 *	         "done" when its last word was "rebooting" (done: this is another boot, and the
 *	         node goes on with it by itself), asked: that is the controller's to do
 *	alive    every 10 s while a run acts and nothing else was sent
 *	need     bundle: the controller sends bundle + 'D' frames
 *	event    one record of the run's journal (record.h), without args, before and after
 *	facts    facts {group: value}
 *	evidence name, text: a file for whoever looks into a failure (ORDER_EVIDENCE), several of
 *	         them before the final; of a long one the end, marked. The last is index.txt: of
 *	         each source how much there is, or why there is none
 *	final    run, state, counts {ok changed skipped failed unknown}, plan_hash, took_us, cpu_us
 *	         (of the pass), process_us (CPU of the whole process so far), reason and hint when
 *	         not ok; always the last frame. Before a reboot there is none: the last event is
 *	         "rebooting" and the link ends. Of an attach to a run whose node has not been
 *	         restarted yet: interrupted, rebooting true. The answer to 'again' leaves out
 *process_us and took_us, and counts and plan_hash when they are those of the final before. refused
 *code, message, hint: instead of a run; then the agent ends
 *
 * controller -> agent
 *	order    body (JSON text of struct order), sig (Ed25519 over those very bytes)
 *	secrets  values {name: text}: right behind an order that names secrets; never stored
 *	bundle   manifest (text), sig, size: followed by size bytes in 'D' frames (tar.zst)
 *	again    run, sig (over order_again_text): the last order once more under a new run id,
 *	         on a link that stayed
 *	cancel
 *
 * An undo with undo_of leaves what other runs changed, and is refused (notfound) by a node that
 *does not know that run (any more).
 *
 * In params and vars {"$secret": "NAME"} stands for the secret's value.
 *
 * The order is signed over the agent's nonce and the node's name, so that a
 * stolen SSH key, a recorded session or another node's order runs nothing.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/hash.h"
#include "agent/base/json.h"

#define ORDER_PREVIEW "plan" /* as expect of an undo: only say what it would take back */

struct buf;
struct err;
struct sign_key;

enum order_mode {
	ORDER_PLAN,
	ORDER_APPLY,
	ORDER_CHECK,
	ORDER_FACTS,
	ORDER_ATTACH,
	ORDER_RESUME,   /* run: go on with an interrupted run of this node, from its journal */
	ORDER_UNDO,     /* take back what the recipes changed, last first */
	ORDER_REKEY,    /* from now on obey rekey, the new key; signed by the old one */
	ORDER_STAGE,    /* fetch what an apply would need (step_ops.stage); install nothing */
	ORDER_EVIDENCE, /* kernel log, package logs, units that failed ...; no recipes */
};

struct order_recipe {
	const char *name;
	json_t *params; /* borrowed from body */
};

struct order {
	const char *run; /* run id, [a-z0-9-]{1,64} */
	enum order_mode mode;
	const char *node;        /* the node's name */
	const char *nonce;       /* of the hello it answers */
	const char *bundle;      /* digest of the manifest; NULL for facts and attach */
	const char *by;          /* who, for the lock and the journal */
	int64_t issued, expires; /* wall, seconds */
	int64_t after;           /* attach: events after this sequence number */
	const char *expect; /* apply, undo: hash of the plan that was shown, another one is refused;
			       undo: or ORDER_PREVIEW */
	const char *rekey;  /* rekey: public key text */
	const char *undo_of; /* undo: only what this run, and its tries ID-2, ID-3 ..., changed */
	bool stay;           /* wait for another order after final */
	bool reboot_asked;   /* a restart is announced ("rebooting"), and somebody else does it */
	unsigned n_secrets;  /* names whose values follow in a message of their own */
	const char **secrets;
	json_t *secret_values; /* {name: text} once they came; owned; never formatted */
	unsigned n_recipes;
	struct order_recipe *recipes;
	json_t *node_facts; /* what recipes see as node.*: name, address, site, rack, role */
	json_t *vars;       /* vars.* */
	json_t *body;       /* the parsed body, owned; order_done drops it */
};

/* The order as canonical JSON text into out. */
void order_format(const struct order *o, struct buf *out);
int order_parse(struct arena *a, struct str body, struct order *out, struct err *err);
void order_done(struct order *o);
bool order_is_run_id(const char *z);
/* What the signature of "again" covers: "again" LF nonce LF run LF SHA-256 of the last order's
 * body. */
void order_again_text(
	struct buf *out, const char *nonce, const char *run, const char body_hash[static HASH_HEX]);
const char *order_mode_name(enum order_mode m);

/* A message object {"t": t}; new reference. */
json_t *message_new(const char *t);
/* Writes one 'J' frame. */
void message_write(const json_t *m, struct buf *out);
/* Parses a 'J' payload; *t points into the object. New reference. */
int message_parse(struct str payload, json_t **out, const char **t, struct err *err);
