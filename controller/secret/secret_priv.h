/* secret_priv - what the store (secret.c) and its file and keys (secret_file.c) share. */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/seal.h"
#include "controller/secret/secret.h"

struct secret {
	char *name;
	int64_t created, changed;
	char *value; /* wiped when it is let go */
	size_t length;
};

struct secrets {
	struct arena *arena;
	int dir;   /* of the database */
	int guard; /* locked while it may be written, else -1 */
	bool kept; /* there is a file */
	enum secret_lock lock;
	unsigned char key[SEAL_KEY_LEN], salt[SEAL_SALT_LEN];
	struct seal_cost cost;
	unsigned n, room;
	struct secret *all; /* by name */
};

#define SECRET_FILE     "secrets"
#define SECRET_KEY      "keys/secret"
#define SECRET_KEY_NEXT "keys/secret.new"

/* Adds one that is not there; steals nothing. */
void secret_add(
	struct secrets *s, const char *name, struct str value, int64_t created, int64_t changed);

/* --- secret_file.c --- */
/* Names and values of the file into s; 0 also when there is none. */
int secret_load(struct secrets *s, const struct secret_ask *ask, struct err *err);
int secret_store(struct secrets *s, struct err *err);
/* A key of its own into a file of keys/, 0600. */
int secret_key_make(int dir, const char *path, unsigned char *key, struct err *err);
/* The key file's next name becomes its name. */
int secret_key_settle(int dir, struct err *err);
