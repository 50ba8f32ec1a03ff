/* airgap_priv - what making and verifying share: what is asked for, by origin. */
#pragma once

#include "agent/base/vec.h"
#include "controller/airgap/airgap.h"

#define AIRGAP_MIRROR "http://mirror.invalid" /* stands for vars.mirror while recipes are asked */

/* One repository of the bundle: where packages come from, and where nodes will look for them. */
struct origin_of {
	const char *uri; /* outside; NULL: the distribution itself, what no other gives */
	const char *dir; /* "apt/cuda" */
	const char *suite, *component;
	const char *stanza; /* of deb822, outside */
	bool used;          /* it gave packages */
};
struct origins vec(struct origin_of);

struct plan {
	struct arena *arena;
	json_t *os;
	json_t **asks; /* of each group, as seen by nodes inside */
	json_t *open;  /* [text]: what cannot be told or had */
	struct origins origins;
};

int plan_make(struct arena *a, const struct airgap *g, struct plan *out, struct err *err);
void plan_done(struct plan *p, unsigned n_groups);
void plan_open(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The last part: the name that a key's file has. */
const char *origin_name(const struct origin_of *o);
