/*
 * keys - the controller's own keys, beside the database: DIR/keys/{sign,ssh,ssh.pub}, 0600.
 *
 * sign is the Ed25519 key that signs bundles and orders (its public half is
 * installed on every node); ssh is the one key offered to nodes. While the signing
 * key is replaced, the new one lies beside the old as sign.new: a node is answered
 * with the key it obeys. While the SSH key is, ssh.new lies beside ssh until all nodes
 * let both in; then it takes its place, and ssh.old.pub says which line is still to go.
 */
#pragma once

#include "agent/base/arena.h"

#include <stdbool.h>

struct err;
struct link_key;
struct sign_key;

struct keys {
	struct sign_key *sign;
	struct sign_key *next; /* NULL unless the signing key is being replaced */
	struct link_key *ssh;
};

/* Makes what is missing. db is the path of the database. */
int keys_make(const char *db, struct err *err);
int keys_load(const char *db, struct keys *out, struct err *err);
void keys_done(struct keys *k);
/* The key that a node obeying id is to be answered with (id "" or unknown: sign). */
const struct sign_key *keys_signer(const struct keys *k, const char *id);
/* What a node is to obey from now on. */
const struct sign_key *keys_newest(const struct keys *k);
/* Makes sign.new unless a replacement is under way. */
int keys_next_make(const char *db, struct err *err);
/* sign.new becomes sign, and the old one is overwritten; may be killed and called again. */
int keys_next_settle(const char *db, struct err *err);

#define KEYS_SSH_TEXT 1024
/*
 * How far a replacement of the SSH key is: *next, the caller's, while nodes still have to let it
 * in, else NULL; old: the public key whose line is to go from nodes, "" none. With make one is
 * begun when none is under way.
 */
int keys_ssh_next(const char *db, bool make, struct link_key **next, char old[static KEYS_SSH_TEXT],
	struct err *err);
/* ssh.new becomes ssh, and the old one is overwritten; may be killed and called again. */
int keys_ssh_settle(const char *db, struct err *err);
int keys_ssh_forget(const char *db, struct err *err); /* the old line is gone everywhere */
/* DIR/NAME beside the database, arena-owned. */
const char *keys_path(struct arena *a, const char *db, const char *name);
