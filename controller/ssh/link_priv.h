/*
 * link_priv - what link.c (the set and its loop), link_socket.c (TCP), link_session.c
 * (libssh) and link_fail.c (what to tell people) share. For this folder only.
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/ssh/link.h"
#include "controller/ssh/width.h"

#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <netinet/in.h>

/* In the order they are passed. */
enum link_state {
	LINK_QUEUED,
	LINK_CONNECTING, /* TCP */
	LINK_KEX,
	LINK_AUTH,
	LINK_CHANNEL,
	LINK_EXEC,
	LINK_RUNNING,
	LINK_OVER
};

/* Bytes waiting for the channel; owned ones lie behind the struct. */
struct link_chunk {
	struct link_chunk *next;
	struct str rest;
	bool owned;
};

union link_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct link {
	struct link_set *set;
	struct link *prev, *next; /* in the list its state says: waiting, open or over */
	struct link *next_touched;
	const struct link_ops *ops;
	void *ctx;
	struct link_target target; /* its texts lie behind the struct */
	union link_address address;
	socklen_t address_len;

	enum link_state state;
	int fd;         /* ours while connecting, libssh's (it closes it) once there is a session */
	uint32_t armed; /* what epoll watches */
	uint32_t serial;  /* of what it watches */
	unsigned tries;   /* attempts that failed and were not the last */
	int64_t began;    /* of this attempt */
	int64_t moved;    /* last sign of life of this attempt */
	int64_t earliest; /* of the next attempt */

	ssh_session session;
	ssh_channel channel;
	struct ssh_channel_callbacks_struct calls; /* libssh keeps a pointer to it */

	struct link_chunk *first, *last;
	size_t queued; /* bytes in owned chunks */
	size_t got;    /* bytes received in this step */
	bool touched;  /* in the set's list of links to look at after the callbacks */
	bool told_open, heard, write_due, eof_wanted, eof_sent, remote_closed;
	struct link_end end;
	struct err *err; /* NULL while all is well */
};

struct link_list {
	struct link *first, *last;
	unsigned n;
};

struct link_set {
	struct link_set_opts opts;
	int epoll;
	struct link_list waiting, open, over;
	struct link *touched;
	struct link **watched; /* by descriptor */
	size_t watched_n;
	uint32_t serial;
	unsigned limit;     /* sessions at once, now */
	unsigned successes; /* since the limit was changed last */
	struct width width; /* of those that are opening and do not hang */
	unsigned hanging;   /* of those that are opening, when it was looked last */
	unsigned opening;   /* sessions whose command does not run yet */
	int64_t due;        /* of the next look at time limits, whoever pauses in between */
	bool paused;
};

enum link_step {
	STEP_FAILED = -1,
	STEP_WAIT,
	STEP_ON, /* the next state can be tried at once */
	STEP_END /* the channel was closed in order */
};

/* The error of the link, made on first use; later ones are kept out by link_fail_*. */
struct err *link_err(struct link *l);

ssh_key link_key_private(const struct link_key *k); /* link_key.c */

/* --- link_socket.c --- */
int link_resolve(struct link *l);
/* A connecting socket in l->fd, or a negative errno. */
int link_connect(struct link *l);

/* --- link_session.c --- */
/* Makes the session on the connected socket, which it owns from then on. */
enum link_step link_session_open(struct link *l);
enum link_step link_session_step(struct link *l);
/* Bytes are waiting that the socket, not the other side's window, holds up. */
bool link_session_wants_write(const struct link *l);
void link_session_close(struct link *l);
void link_session_tell_open(struct link *l);
/* Bytes of the command, unless the link was aborted meanwhile. */
void link_session_tell_data(struct link *l, bool is_stderr, struct str bytes);
/* What write_queue does once all is written: EOF, and drained. */
void link_session_settle(struct link *l, bool blocked, void (*send_eof)(struct link *l));
void link_session_drop_chunk(struct link *l);
void link_drop_chunks(struct link *l);

/* --- link_raw.c: the same over a plain stream --- */
enum link_step link_raw_open(struct link *l);
enum link_step link_raw_step(struct link *l);

/* --- link_fail.c; each fills link_err unless it is set --- */
void link_fail_connect(struct link *l, int sys);
void link_fail_timeout(struct link *l);
void link_fail_session(struct link *l); /* from libssh's words and the state */
void link_fail_auth(struct link *l, int rc);
void link_fail_host_key(struct link *l, ssh_key got);
