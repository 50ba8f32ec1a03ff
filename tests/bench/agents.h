/*
 * agents - thousands of simulated agents in child processes, behind socket pairs.
 *
 * They speak the wire protocol as a node's agent does and have nothing to do: each
 * order is answered by a final frame at once, each "again" by a short one. What
 * they cost is the children's, so the controller can be measured alone. A signature
 * is verified when a key is given.
 */
#pragma once

#include "controller/ssh/link.h"

struct agents;

/* n streams; children serve them until agents_stop. key: the controller's public key text,
 * or NULL: signatures are not looked at. */
struct agents *agents_start(unsigned n, const char *key);
/* For link_set_opts: link i of "nI" (its name's number from 1) gets stream i. A stream can be used
 * once; a node that connects again gets none (E_NET). */
const struct link_transport *agents_transport(struct agents *a);
/* The agents of these nodes (from 1) leave at their next order, without an answer. */
void agents_leave(struct agents *a, unsigned from, unsigned to);
void agents_stop(struct agents *a);
