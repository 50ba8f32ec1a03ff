/* kind_package - kinds of step that keep packages and where they come from. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const char *const PACKAGE_STATES[] = {"present", "latest", "absent", NULL};

static const struct kind_param PACKAGE[] = {
	{"names", PARAM_LIST, true, NULL, NULL, "package names, each may carry '=version'"},
	{"state", PARAM_CHOICE, false, PACKAGE_STATES, "present", "present, latest or absent"},
	{0},
};

const struct kind KIND_PACKAGE[] = {
	{
		.name = "package",
		.about = "packages of the distribution",
		.check =
			"Reads the package database itself. A package differs when it is not installed, "
			"has another version than the one asked for, or was left half-way. latest asks "
			"the package manager by a simulation. absent: removed with its configuration "
			"kept counts as absent.",
		.apply =
			"All package steps of a recipe are one transaction. At least 64 MiB must be "
			"free below /var and /usr; lists are fetched when there are none or a package "
			"is not found; configuration files that were changed are kept; the lock is "
			"waited for up to 120 s. Holds of the administrator are respected.",
		.undo = "Packages that were not there are removed, and the versions that were there "
			"come back while the sources still have them.",
		.example = "package:\n"
			   "  names: [chrony, nvme-cli]",
		.params = PACKAGE,
		.batched = true,
	},
	{0},
};
