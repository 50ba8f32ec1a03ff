/*
 * pgp - OpenPGP key files: their fingerprints, and a keyring without one key.
 *
 * Only the framing of packets is read; nothing is verified. Versions 4 and 6 are
 * known, secret keys are refused.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/vec.h"

#define PGP_MAX (1u << 20)

struct err;

struct pgp_key {
	char fingerprint[65]; /* upper-case hex, 40 digits (version 4) or 64 (version 6) */
	size_t start, end;    /* the key with all that belongs to it, in the bytes */
};

struct pgp_keys vec(struct pgp_key);

bool pgp_is_armored(struct str text);
/* The bytes of "-----BEGIN PGP PUBLIC KEY BLOCK-----" ...; several blocks follow each other. */
int pgp_dearmor(struct str text, struct buf *out, struct err *err);
/* The primary keys in binary or armored text; E_SYNTAX when it is no key file. */
int pgp_read(struct str text, struct pgp_keys *out, struct err *err);
/* id: a fingerprint or its last 16 digits, upper case. False when it is not there. */
bool pgp_drop(struct str bytes, const char *id, struct buf *out);
/* Every key is one of wanted (fingerprints between commas, blanks ignored), and all those are
 * there. */
int pgp_check(struct str text, const char *wanted, struct err *err);
