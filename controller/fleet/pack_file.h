/*
 * pack_file - a bundle as one file, to be carried over an air gap.
 *
 * A plain tar of just three members in this order: manifest, manifest.sig,
 * payload.tar.zst. The payload is what nodes are sent, with all recipes that are
 * needed. Nothing in a file is believed before its signature fits.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/wire/manifest.h"

struct err;
struct pack;
struct sign_key;

struct pack_file {
	struct str manifest, sig, payload;
	struct manifest m; /* of the text, whoever wrote it */
	void *held;
};

/* All or nothing; an older file of this name is replaced. */
int pack_file_write(const struct pack *p, const char *path, struct err *err);
/* E_VERIFY when it is no such file, or is cut short. */
int pack_file_read(struct arena *a, const char *path, struct pack_file *out, struct err *err);
void pack_file_done(struct pack_file *b);

enum bundle_check {
	BUNDLE_SIGNATURE,
	BUNDLE_EXPIRY,
	BUNDLE_SERIAL,
	BUNDLE_FILES,
	BUNDLE_CHECKS
};
struct bundle_verdict {
	bool ok;
	struct {
		bool ok;
		char why[200];
	} check[BUNDLE_CHECKS];
	unsigned n_good, n_bad; /* of files */
};
/* Every check, whatever another one says. seen: the highest serial known of this name and signer.
 */
void pack_file_verify(const struct pack_file *b, const struct sign_key *key, int64_t now,
	int64_t seen, struct bundle_verdict *out);
const char *bundle_check_name(enum bundle_check c);
/* The payload's files below dir, which must be empty; each is checked against the manifest. */
int pack_file_unpack(const struct pack_file *b, int dir, struct err *err);
