/*
 * papers - an order as it was given, kept beside the journal of its run until that has ended.
 *
 * RUN.order: {"body", "sig"}, and "again" {"nonce", "sig"} when the run is the last
 * order once more. Who goes on with the run checks the signatures again, so a file
 * that somebody changed runs nothing. Values of secrets are not in it.
 */
#pragma once

#include "agent/wire/message.h"

/* again NULL: the run is the order's own. A new reference. */
json_t *papers_new(struct str body, const char *sig, const char *nonce, const char *again_sig);
/* The order of run, checked against key; order_done it. E_VERIFY. */
int papers_read(const json_t *papers, const struct sign_key *key, const char *run, struct arena *a,
	struct order *out, struct err *err);
