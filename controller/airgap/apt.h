/*
 * apt - Debian's own solver in a folder of its own: sources, lists and an empty node.
 *
 * Nothing of this machine's apt is read but its methods. Signatures are always verified, by the
 * keys that the sources name.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/json.h"
#include "agent/base/vec.h"

struct err;

struct apt {
	const char *dir;     /* etc/, lists/, archives/ are made in it */
	const char *sources; /* text of deb822, one stanza a source */
	const char *status; /* dpkg's status file of a node as it is before; NULL: it has nothing */
};

struct apt_deb {
	const char *uri, *file; /* file: as apt calls it in archives/ */
};
struct apt_debs vec(struct apt_deb);

/* Lays the folders and fetches the lists. What lies in archives/ from an earlier call stays. */
int apt_begin(struct arena *a, const struct apt *apt, struct err *err);
/*
 * What an installation of these names would fetch, in a. E_NOTFOUND with apt's own words when they
 * cannot be had from the sources.
 */
int apt_solve(struct arena *a, const struct apt *apt, const json_t *names, struct apt_debs *out,
	struct err *err);
/* Fetches it to archives/, resuming; those of file: sources stay where they are. */
int apt_fetch(struct arena *a, const struct apt *apt, const json_t *names, struct err *err);
