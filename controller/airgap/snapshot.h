/*
 * snapshot - a folder of packages to a repository that apt takes: index, Release, our signature.
 *
 * The OpenPGP key is made at first use, beside the database (DIR/gnupg); gpg and apt-ftparchive
 * have to be there.
 */
#pragma once

#include "agent/base/arena.h"

struct err;

#define SNAPSHOT_FINGERPRINT 41

/* Makes the key when there is none; its fingerprint, and its armored text in a. */
int snapshot_key(struct arena *a, const char *home, char fingerprint[static SNAPSHOT_FINGERPRINT],
	struct str *armored, struct err *err);
/*
 * DIR/pool becomes DIR/dists/SUITE/COMPONENT, or for a flat suite ("/" or "./") DIR itself has the
 * index. Files are replaced one by one, the signed one last.
 */
int snapshot_write(struct arena *a, const char *home, const char *dir, const char *suite,
	const char *component, struct err *err);
