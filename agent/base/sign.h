/*
 * sign - Ed25519 signatures over libcrypto.
 *
 * Keys and signatures travel as text: base64 of the raw 32 and 64 bytes. A key's
 * id is the first 16 hex digits of the SHA-256 of its public half. Private
 * halves are wiped when freed and never printed.
 */
#pragma once

#include "agent/base/str.h"

#define SIGN_TEXT_MAX 96 /* base64 of a signature with its NUL */
#define SIGN_ID_LEN   17

struct err;
struct sign_key;

int sign_key_make(struct sign_key **out, struct err *err);
int sign_key_parse_private(struct str text, struct sign_key **out, struct err *err);
int sign_key_parse_public(struct str text, struct sign_key **out, struct err *err);
void sign_key_free(struct sign_key *k);
void sign_key_public_text(const struct sign_key *k, char out[static SIGN_TEXT_MAX]);
void sign_key_private_text(const struct sign_key *k, char out[static SIGN_TEXT_MAX]);
const char *sign_key_id(const struct sign_key *k);

int sign_make(const struct sign_key *k, struct str bytes, char sig[static SIGN_TEXT_MAX],
	struct err *err);
/* 0, or E_VERIFY. */
int sign_check(const struct sign_key *k, struct str bytes, struct str sig, struct err *err);
/* n random bytes as 2n hex digits and a NUL. */
int sign_random_hex(size_t n, char *out, struct err *err);
