/*
 * serial - the highest serial of each set of recipes that this node has seen.
 *
 * STATE/bundles/serials.json: {NAME: serial}. A signed bundle stays good until it
 * expires; this is what keeps somebody who recorded an old one from sending it again.
 */
#pragma once

#include "agent/wire/manifest.h"

#define SERIAL_NAMES_MAX 10000

/* E_VERIFY when a newer one of the same name was seen. */
int serial_check(int bundles, const struct manifest *m, struct err *err);
/* From now on older ones are refused; durable. */
int serial_note(int bundles, const struct manifest *m, struct err *err);
