/*
 * secret - values of secrets in this process: taken from one message, bound to names, wiped.
 *
 * They are nowhere but in memory. From the first value on all memory that held JSON
 * is wiped when it is freed, and the process cannot be dumped.
 */
#pragma once

#include "agent/wire/message.h"

/* No core dumps, no tracing by others: before anything comes over the link. */
void secret_guard(void);
/* Wipes JSON memory as it is freed, from now on. */
void secret_wipe_json(void);
/* The values of a "secrets" message into the order; each name that the order tells must have one.
 * E_SCHEMA. */
int secret_take(struct order *o, const json_t *message, struct err *err);
