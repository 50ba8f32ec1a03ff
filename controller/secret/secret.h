/*
 * secret - named secrets, encrypted at rest in one file beside the database.
 *
 * DIR/secrets (0600): a line of magic, a line of JSON in clear (how the key is
 * come by, which one it is), then the sealed names and values; the clear part is
 * authenticated with them. The key is in DIR/keys/secret (0600, made by init) or
 * comes from a passphrase by scrypt. Every save replaces the file as a whole.
 * Values are wiped from memory when they are let go, and never printed.
 */
#pragma once

#include "agent/base/json.h"

#define SECRET_VALUE_MAX (64u << 10)
#define SECRET_COUNT_MAX 10000

struct err;
struct secrets;

enum secret_lock {
	SECRET_KEY_FILE,
	SECRET_PASSPHRASE
};

/*
 * Where a passphrase comes from when the file wants one. fresh: a new one, to be
 * asked for twice. The buffer is wiped by the caller.
 */
struct secret_ask {
	int (*passphrase)(void *ctx, bool fresh, struct buf *out, struct err *err);
	void *ctx;
};

struct secret_info {
	const char *name;
	int64_t created, changed; /* wall seconds */
	size_t length;
};

/* The key file, if it is not there and no passphrase is in use. db is the path of the database. */
int secrets_make_key(const char *db, struct err *err);
/*
 * Reads all of them; a store without a file is empty. write: until secrets_close nobody else
 * writes. E_DENIED for wrong modes and owners, E_VERIFY for a wrong key or damage.
 */
int secrets_open(const char *db, bool write, const struct secret_ask *ask, struct secrets **out,
	struct err *err);
void secrets_close(struct secrets *s); /* NULL is fine */
enum secret_lock secrets_lock(const struct secrets *s);

unsigned secrets_count(const struct secrets *s);
/* In the order of their names. */
struct secret_info secrets_at(const struct secrets *s, unsigned i);
/* A value that is the store's until it is closed or changed; E_NOTFOUND with the nearest name. */
int secrets_find(const struct secrets *s, const char *name, struct str *value, struct err *err);

/* Each is kept once secrets_save has returned 0. */
int secrets_set(struct secrets *s, const char *name, struct str value, struct err *err);
int secrets_remove(struct secrets *s, const char *name, struct err *err);
int secrets_save(struct secrets *s, struct err *err);
/* A new key of this kind for all of them, saved; whatever moment it is killed at, either the old or
 * the new key opens the file. */
int secrets_rotate(
	struct secrets *s, enum secret_lock to, const struct secret_ask *ask, struct err *err);

/* "up to 16", "17 to 64" ... bytes: all that is shown of a value. */
const char *secret_length_class(size_t n);

/*
 * A passphrase from the descriptor in STOIKA_PASSPHRASE_FD, else from the terminal without echo;
 * for secret_ask. E_STATE with a hint when there is neither.
 */
int secret_passphrase(void *ctx, bool fresh, struct buf *out, struct err *err);
/* One value typed without echo, for 'secret set' on a terminal. */
int secret_prompt(const char *what, struct buf *out, struct err *err);
