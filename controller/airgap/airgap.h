/*
 * airgap - a folder that holds all that recipes ask a network for, and the proof that it does.
 *
 *	manifest.json    every file with its SHA-256; groups of recipes and variables
 *	manifest.sig     over that, by the controller's key
 *	recipes.bundle   the recipes, as one signed file (controller/fleet/pack_file.h)
 *	apt/ORIGIN/      packages as a repository with our OpenPGP signature
 *	keys/ORIGIN.asc  the key of that signature
 *	.work/           what is fetched while it is made; nobody needs it
 *
 * A web server that has the folder as its root is what nodes are told of as vars.mirror.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/json.h"

struct err;
struct pack_recipe;
struct sign_key;

/* Recipes that run together with the same variables; one is solved for by itself. */
struct airgap_group {
	const char *name; /* a role, or the recipes */
	const struct pack_recipe *recipes;
	unsigned n;
	json_t *vars; /* the caller's to drop */
	const json_t *params;
};

struct airgap {
	const char *dir;     /* of the bundle, absolute */
	const char *system;  /* debian-12 */
	const char *sources; /* text of deb822 for the distribution itself; NULL: its usual ones */
	const char *status;  /* dpkg's status of a node as it is before; NULL: it has nothing */
	const char *gnupg;   /* home of the OpenPGP key */
	const char *bundle;  /* name of the set of recipes */
	const struct airgap_group *groups;
	unsigned n_groups;
};

/*
 * Fetches and writes all of it but recipes.bundle, which lies in dir already; the manifest last.
 * Killed, it goes on where it was when called again. *report: {packages, bytes, open: [...],
 * fingerprint}, a new reference.
 */
int airgap_make(
	const struct airgap *g, const struct sign_key *key, json_t **report, struct err *err);

/*
 * What keeps a bundle from being enough, a text each in *bad (a new reference): files that are
 * missing or changed, packages that its repositories alone cannot give, what recipes ask of
 * anywhere else. Uses no network. doc is of listing_read; status as above.
 */
int airgap_verify(const struct airgap *g, const json_t *doc, json_t **bad, struct err *err);
