/*
 * session_priv - one session, as its parts share it: channel.c moves frames,
 * greeting.c says hello, order_check.c judges the order, reception.c takes a
 * bundle, relay.c lets the executor leave, attach.c follows a run, resume.c goes
 * on with one, rekey.c takes another key.
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/sign.h"
#include "agent/run/bundle.h"
#include "agent/run/run.h"
#include "agent/run/session.h"
#include "agent/wire/frame.h"
#include "agent/wire/redact.h"

#include <sys/types.h>

#define SESSION_NONCE_BYTES 16
#define SESSION_ORDER_WAIT  (30 * CLOCK_SEC)
#define SESSION_BYTES_WAIT  (60 * CLOCK_SEC) /* between two frames of a bundle */
#define SESSION_ID_MAX      64
#define SESSION_ALIVE       (10 * CLOCK_SEC) /* of silence while a run acts */
#define SESSION_NAME_FILE   "name"           /* below STATE */

/* Both directions of a link. A dead one takes everything and sends nothing. */
struct channel {
	int in, out;      /* not owned; in -1: nothing comes */
	bool dead, ended; /* cannot be written to; nothing more comes */
	int64_t sent;     /* when something was written last (monotonic) */
	struct frame_reader reader;
};

struct session {
	const struct session_opts *opts;
	int root, state, bundles, lock;
	struct sign_key *key;
	struct arena *arena;
	struct channel channel;
	char nonce[2 * SESSION_NONCE_BYTES + 1];
	char boot_id[SESSION_ID_MAX], machine_id[SESSION_ID_MAX];
	struct order order;
	json_t *papers;               /* of it, as they are kept (papers.h) */
	char order_hash[HASH_HEX];    /* of its body */
	char run[SESSION_ID_MAX + 1]; /* the id that "again" gave */
	bool again;                   /* this is not the order's first run on this link */
	const char *resumed_by;       /* the run is gone on with */
	json_t *last;                 /* the final frame before */
	struct redact *redact;        /* of the order's secrets; NULL without */
	struct run_memory *memory;    /* while it stays */
	struct bundle_store store;
	struct bundle *bundle;
	bool cancelled;
	int orders; /* in the executor that left: where a cancel comes from, else -1 */
};

/* --- channel.c --- */
void channel_init(struct channel *c, int in, int out);
void channel_done(struct channel *c);
/* Never fails: a link that cannot be written to is dead from then on. */
void channel_send(struct channel *c, const json_t *message);
void channel_send_bytes(struct channel *c, struct str bytes);
/* Says "alive" when nothing was said for SESSION_ALIVE. */
void channel_keep_alive(struct channel *c);
/* A record as an event; what is for this node only stays here. */
void channel_send_event(struct channel *c, const json_t *record);
/* 1 a frame, 0 the other side has ended, negative: E_TIMEOUT at the deadline (monotonic), E_SYNTAX,
 * E_LIMIT, E_IO. */
int channel_next(struct channel *c, int64_t deadline, struct frame *f, struct err *err);
/* The same without waiting: 0 also when nothing is there. */
int channel_peek(struct channel *c, struct frame *f, struct err *err);
/* True when a frame is the message of this type. */
bool channel_is_message(const struct frame *f, const char *type);

/* --- greeting.c --- */
void greeting_read_ids(struct session *s);
int greeting_send(struct session *s, struct err *err);

/* --- order_check.c --- */
/* Waits for an order and judges it. 1: it may be obeyed; 0: the other side ended; negative: refuse,
 * unless the link itself is broken (*broken). */
int order_receive(struct session *s, bool *broken, struct err *err);
/* The same on a link that stayed: another order, or the last one again. */
int order_await_next(struct session *s, bool *broken, struct err *err);
/* The name that the node was told: E_VERIFY when the order is for another one. The first order
 * gives it (take). */
int order_check_node(struct session *s, const struct order *o, bool take, struct err *err);
/* "" when it was told none. */
void order_read_name(const struct session *s, struct buf *name);
/* Drops the order and all that was made of it. */
void order_forget(struct session *s);

/* --- reception.c --- */
/* The order's bundle, asked for and received when it is not here. */
int reception_open_bundle(struct session *s, struct err *err);

/* --- relay.c --- */
/* For run_env.before_change: 0 in the executor that has left, 1 in the process that has relayed. */
int relay_leave(void *ctx, struct err *err);

/* --- attach.c --- */
int attach_run(struct session *s, struct err *err);
/* The records of a run after the order's 'after'; what follows is sent as it happens. */
int attach_send_past(struct session *s, const char *run, struct err *err);
/* What the last record of a run says of a restart of the node. */
struct restart {
	bool asked; /* it is somebody else's to do */
	bool done;  /* this is another boot */
	int64_t at; /* wall, ns */
};
/* False: the run does not wait for one. */
bool attach_read_restart(const struct session *s, const char *run, struct restart *out);
/* E_STATE when the run waits for a restart that is somebody else's to do and has not been. */
int attach_refuse_early(const struct session *s, const char *run, struct err *err);
/* Sends the final frame that the journal of a run tells; "interrupted" when it tells of no end. */
void attach_send_final(struct session *s, const char *run);

/* --- resume.c --- */
/* The run that the order names: followed when it is at work, told when it has ended, else gone on
 * with. */
int resume_obey(struct session *s, struct err *err);

/* --- rekey.c --- */
/* *changed: another key is obeyed from now on. */
int rekey_obey(struct session *s, bool *changed, struct err *err);

/* --- serve.c --- */
int session_open(struct session *s, struct err *err);
void session_close(struct session *s);
/* Executes the order under the node's lock; the final frame is sent. out may be NULL. */
int session_run(struct session *s, struct run_outcome *out, struct err *err);
void session_send_final(struct session *s, const struct run_outcome *out);
/* Reads the controller's key anew. */
int session_read_key(const char *path, struct sign_key **key, struct err *err);
/* Who holds the node now: for the lock. New reference. */
json_t *session_holder(const struct session *s);
