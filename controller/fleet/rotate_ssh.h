/*
 * rotate_ssh - a new SSH key for the controller, without a moment in which a node is lost.
 *
 * The new key's line is added beside the old one on every node with an agent, and proven by a
 * login with it. When all let it in, it takes the old one's place, whose bytes are destroyed; then
 * the old line goes from the nodes by logins with the new key. Whatever moment it is killed at,
 * the next call goes on; nodes that were away are told then.
 */
#pragma once

#include "controller/fleet/rotate.h"

struct rotate_ssh_outcome {
	bool in_use;        /* the new key is, and the old one is destroyed */
	unsigned let_in;    /* nodes that let the new key in, of all with an agent */
	unsigned left;      /* that do not yet */
	unsigned old_lines; /* that may still have the old key's line; it lets nobody in any more */
	char key[KEYS_SSH_TEXT]; /* the new one, as it stands on nodes */
};
int rotate_ssh_run(struct store *s, const struct node_rows *all, const struct rotate_opts *o,
	struct rotate_ssh_outcome *out, struct err *err);
