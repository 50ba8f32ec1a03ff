/* bundle - recipes from a bundle that was carried here, for plan and apply. */
#pragma once

#include "controller/command/command.h"

struct store;

/*
 * The bundle of --bundle (signed by --key, or by us): verified whole, its serial noted, unpacked
 * beside the database; *dir is the folder that holds its recipes. NULL without --bundle.
 */
int bundle_take_in(
	const struct invocation *inv, struct store *s, const char **dir, struct err *err);
