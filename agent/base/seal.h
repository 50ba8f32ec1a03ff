/*
 * seal - bytes nobody reads or changes without the key: AES-256-GCM, keys from scrypt, over
 * libcrypto.
 *
 * A sealed text is nonce, cipher text and tag in one piece. What stands in clear
 * beside it (aad) is authenticated with it. Each sealing draws a nonce of its own.
 */
#pragma once

#include "agent/base/buf.h"

#define SEAL_KEY_LEN  32
#define SEAL_SALT_LEN 16
#define SEAL_OVERHEAD 28 /* nonce and tag */

struct err;

/* Cost of a passphrase: 128 * n * r bytes of memory. */
struct seal_cost {
	uint64_t n, r, p;
};
#define SEAL_COST_PRESET ((struct seal_cost){32768, 8, 1})

int seal_make(const unsigned char key[static SEAL_KEY_LEN], struct str aad, struct str plain,
	struct buf *out, struct err *err);
/* E_VERIFY when key, aad or the sealed bytes are not those of seal_make. */
int seal_open(const unsigned char key[static SEAL_KEY_LEN], struct str aad, struct str sealed,
	struct buf *out, struct err *err);
/* E_LIMIT when the cost is out of reason (a foreign header must not eat all memory). */
int seal_passphrase_key(struct str passphrase, const unsigned char salt[static SEAL_SALT_LEN],
	struct seal_cost cost, unsigned char key[static SEAL_KEY_LEN], struct err *err);
/* The first 16 hex digits of a digest of the key, which tell one key from another. */
void seal_key_id(const unsigned char key[static SEAL_KEY_LEN], char id[static 17]);
int seal_random(void *p, size_t n, struct err *err);
/* Overwrites what a buffer holds, then empties it. */
void seal_wipe(struct buf *b);
