/*
 * keys - the controller's own keys, beside the database: DIR/keys/{sign,ssh,ssh.pub}, 0600.
 *
 * sign is the Ed25519 key that signs bundles and orders (its public half is
 * installed on every node); ssh is the one key offered to nodes.
 */
#pragma once

#include "agent/base/arena.h"

struct err;
struct link_key;
struct sign_key;

struct keys {
	struct sign_key *sign;
	struct link_key *ssh;
};

/* Makes what is missing. db is the path of the database. */
int keys_make(const char *db, struct err *err);
int keys_load(const char *db, struct keys *out, struct err *err);
void keys_done(struct keys *k);
/* DIR/NAME beside the database, arena-owned. */
const char *keys_path(struct arena *a, const char *db, const char *name);
