/* show_vars - what recipes are told about a node, and where each value is from. */
#pragma once

#include "controller/command/session.h"

/* Prints; returns an exit code. */
int show_vars(const struct invocation *inv, const struct node_row *node);
