/*
 * known_hosts - looks up a host's key in OpenSSH's known_hosts format.
 *
 * For first contact only: the operator hands over a file (his own known_hosts or
 * what ssh-keyscan wrote and he checked), and the key found is pinned in the
 * store. Plain, patterned, [host]:port and hashed entries are read; lines with
 * @cert-authority or @revoked never give a key.
 */
#pragma once

#include "agent/base/buf.h"

#define KNOWN_HOSTS_MAX (64u << 20) /* bytes of a file */

struct err;

/*
 * Appends "type base64" for the node that is known by name or address. Of several
 * keys Ed25519 is taken before ECDSA before RSA, and the name before the address.
 * E_NOTFOUND with a hint when there is none.
 */
int known_hosts_find(const char *file, const char *address, unsigned port, const char *name,
	struct buf *out, struct err *err);
