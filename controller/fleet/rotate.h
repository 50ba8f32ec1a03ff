/*
 * rotate - a new signing key for the controller, node by node.
 *
 * The new key lies beside the old until every node with an agent obeys it; each
 * node is told by an order under the key it obeyed so far. Whatever moment it is
 * killed at, the next call goes on. The old key is destroyed at the end only.
 */
#pragma once

#include "agent/base/sign.h"
#include "controller/fleet/fleet.h"

struct rotate_opts {
	const char *by;
	const struct node_refs *forget; /* not waited for: they will need an install; NULL */
	const struct link_transport *transport;
	void *ctx;
	void (*done)(void *ctx, const struct node_row *node, const struct node_result *result);
};
struct rotate_outcome {
	struct fleet_outcome run; /* of the nodes that were told now */
	unsigned moved, left;     /* of all with an agent; left 0: the old key is gone */
	char key[SIGN_ID_LEN];    /* the new one's id */
};
/* all: every node of the store. */
int rotate_run(struct store *s, const struct node_rows *all, const struct rotate_opts *o,
	struct rotate_outcome *out, struct err *err);
