/*
 * link - many SSH sessions, each running one command, on one thread.
 *
 * A link is one session with one exec channel: connect (our own non-blocking
 * socket, TCP_NODELAY), key exchange (AES-GCM first), host key compared with
 * the pinned one, one key offered, exec, then bytes both ways until both ends
 * closed. All links of a set are driven by one epoll loop; libssh is used in
 * non-blocking mode only. No ~/.ssh/config, no known_hosts, no agent, no SFTP.
 *
 * Success of a command is the caller's to judge: link_end tells exit status,
 * signal and "no status" apart.
 */
#pragma once

#include "agent/base/str.h"

#include <stdint.h>

struct err;
struct link_set;
struct link;

struct link_key; /* our private key, loaded once, shared by all links of a set */
int link_key_load(const char *path, struct link_key **out, struct err *err);
/* Makes an ECDSA P-256 or Ed25519 pair at path (0600) and path.pub if absent; "ed25519", "ecdsa".
 */
int link_key_make(const char *path, const char *type, struct err *err);
/* "ssh-ed25519 AAAA..." of the public half. */
const char *link_key_public(const struct link_key *k);
void link_key_free(struct link_key *k);

struct link_target {
	const char *name;    /* for messages */
	const char *address; /* IPv4 or IPv6 literal, or a name resolved before the loop */
	unsigned port;
	const char *user;
	const char *host_key; /* "type base64"; must be there */
	const char *command;
};

enum link_exit {
	LINK_NO_STATUS,
	LINK_EXITED,
	LINK_SIGNALED
};

struct link_end {
	enum link_exit how;
	int status; /* exit status */
	char signal[16];
};

/* Called from link_set_run. ctx is the one given to link_start. */
struct link_ops {
	void (*opened)(void *ctx, struct link *l); /* the command runs */
	void (*data)(void *ctx, struct link *l, bool is_stderr, struct str bytes);
	/* Everything written is on its way; write more here. */
	void (*drained)(void *ctx, struct link *l);
	/* Last call for this link: err is set (code != 0) when it failed before or during the
	 * command. */
	void (*closed)(
		void *ctx, struct link *l, const struct link_end *end, const struct err *err);
};

/*
 * Another way to a command than SSH: connect gives a connected stream, whose other end is the
 * command; its end stands for exit status 0. For tests and benches of what stands on links, and
 * for a command of this machine.
 */
struct link_transport {
	int (*connect)(void *ctx, const struct link_target *t, struct err *err);
	void *ctx;
};

struct link_set_opts {
	const struct link_key *key;
	const struct link_transport *transport; /* NULL: SSH */
	const char *kex;                        /* NULL: "curve25519-sha256,ecdh-sha2-nistp256" */
	/*
	 * ns; 0: 10 s and 60 s. connect: without any progress before the command runs; idle: before
	 * the command's first byte. Afterwards TCP finds a dead peer within 45 s.
	 */
	int64_t connect_timeout, idle_timeout;
	unsigned max_open; /* sessions at once, 0: 1024; fewer of them are opening, see width.h */
};

int link_set_new(const struct link_set_opts *o, struct link_set **out, struct err *err);
void link_set_free(struct link_set *s);
/* Queues a link; it starts when the set has room. Never fails at once: failures come to closed, and
 * until then it may be aborted. */
struct link *link_start(
	struct link_set *s, const struct link_target *t, const struct link_ops *ops, void *ctx);
/*
 * Runs until all links are closed. tick (may be NULL) is called every 100 ms; when it returns
 * false the links left are closed with E_CANCELLED.
 */
int link_set_run(struct link_set *s, bool (*tick)(void *ctx), void *ctx, struct err *err);

/* Links that wait or are open. */
unsigned link_set_count(const struct link_set *s);
/* From within a callback: link_set_run returns 0 soon, and the links left stay open for the next
 * call. */
void link_set_pause(struct link_set *s);

/* Queues a copy of bytes for the channel; more than LINK_QUEUE_MAX waiting is a bug. */
#define LINK_QUEUE_MAX (2u << 20)
void link_write(struct link *l, struct str bytes);
/* The bytes stay valid until the link is closed: nothing is copied (bundles shared by all links).
 */
void link_write_shared(struct link *l, struct str bytes);
void link_write_eof(struct link *l);
/* Ends it now; closed is called with err. */
void link_abort(struct link *l, const struct err *err);
const char *link_name(const struct link *l);
