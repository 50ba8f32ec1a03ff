/* bundle_airgap - bundles that are folders: recipes with all that they ask a network for. */
#pragma once

#include "controller/command/command.h"

struct sign_key;

/* 'bundle make --for SYSTEM': an exit code. */
int bundle_airgap_make(struct invocation *inv);
/* 'bundle verify FOLDER', signed by key: an exit code. */
int bundle_airgap_verify(struct invocation *inv, const struct sign_key *key);
