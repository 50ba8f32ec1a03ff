/* hash - SHA-256 over libcrypto. */
#pragma once

#include "agent/base/str.h"

#define HASH_LEN 32
#define HASH_HEX 65 /* with the NUL */

struct err;
struct hash; /* one running digest */

struct hash *hash_new(void);
void hash_update(struct hash *h, const void *p, size_t n);
void hash_final(struct hash *h, char hex[static HASH_HEX]); /* and free */
void hash_free(struct hash *h);

void hash_hex(struct str bytes, char hex[static HASH_HEX]);
/* From the current offset to the end. */
int hash_fd(int fd, char hex[static HASH_HEX], struct err *err);
bool hash_is_hex(const char *s); /* 64 lower-case hex digits */
/* SHA-1, upper case: only for OpenPGP fingerprints, which are defined so. */
#define HASH_SHA1_HEX 41
void hash_sha1_hex(struct str bytes, char hex[static HASH_SHA1_HEX]);
/*
 * True when mac (base64 of 20 bytes) is the HMAC-SHA1 of text under key (base64 of
 * 20 bytes): the form of hashed host names in known_hosts. For nothing that must
 * withstand an attacker.
 */
bool hash_sha1_mac_is(struct str key, struct str text, struct str mac);
