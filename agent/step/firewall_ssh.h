/*
 * firewall_ssh - would these rules close a TCP port that must stay open?
 *
 * The rule of the house, judged from the text: in each chain at the input hook
 * (or prerouting, or ingress) the port must be accepted before it is dropped.
 *   accepts: a rule that ends in accept and whose only match on ports holds the
 *     port (number, set, range, or 'ssh' for 22), or a bare accept.
 *   drops: a bare drop or reject; one whose match on TCP ports holds the port;
 *     the end of a chain with the policy drop.
 * Other matches (addresses, interfaces) narrow a drop, which then does not
 * count, and an accept, which counts: who is let in is the writer's affair. An
 * established connection does not count: the next one must come in too.
 */
#pragma once

#include "agent/base/buf.h"

/* The rule (or "policy drop") that closes the port, into why; false when it stays open. */
bool firewall_cuts_port(struct str table, unsigned port, struct buf *why);
