/* kind_package - kinds of step that keep packages and where they come from. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const char *const PACKAGE_STATES[] = {"present", "latest", "absent", NULL};
static const char *const PACKAGE_ONE_OF[] = {"names", "repair", NULL};

static const struct kind_param PACKAGE[] = {
	{"names", PARAM_LIST, false, NULL, NULL, "package names, each may carry '=version'"},
	{"state", PARAM_CHOICE, false, PACKAGE_STATES, "present", "present, latest or absent"},
	{"downgrade", PARAM_BOOL, false, NULL, "false", "may an older version be installed?"},
	{"hold", PARAM_BOOL, false, NULL, NULL,
		"true: held at what is installed; false: our hold is released; left out: as it is"},
	{"override_holds", PARAM_BOOL, false, NULL, "false",
		"may packages change that the administrator holds?"},
	{"allow_remove", PARAM_LIST, false, NULL, NULL,
		"names of packages that may be removed along the way; '*' and '?' stand for any"},
	{"purge", PARAM_BOOL, false, NULL, "false", "absent: their configuration goes too"},
	{"repair", PARAM_BOOL, false, NULL, "false",
		"finish what an interrupted or failed change left half-way"},
	{"wait", PARAM_INT, false, NULL, "120", "seconds to wait for another package manager"},
	{0},
};

const struct kind KIND_PACKAGE[] = {
	{
		.name = "package",
		.about = "packages of the distribution, by apt or dnf",
		.check =
			"Reads the package database itself (dpkg's status file; on rpm systems the "
			"list of 'rpm -qa', kept until the database's files change). A package "
			"differs when it is not installed, has another version than the one asked "
			"for, is not held although 'hold' says so, or was left half-way. latest "
			"asks the package manager by a simulation. absent: removed with its "
			"configuration kept counts as absent, unless 'purge'.\n\n"
			"A package that somebody holds by 'apt-mark hold' or 'dnf versionlock' is the "
			"administrator's: it is refused with \"held by administrator\". Holds that "
			"Stoika placed itself stand in /var/lib/stoika-agent/holds.\n\n"
			"When something is to be changed and packages were left unpacked or "
			"half-configured by somebody else, the step is refused with \"package "
			"database broken\", the packages, and the last lines of the newest DKMS "
			"make.log with its kernel.",
		.apply =
			"All package steps of a recipe are one transaction. Another package manager "
			"(unattended-upgrades too) is waited for, and named when it does not end. "
			"The change is simulated first: it is refused, with nothing changed, when "
			"it would remove a package that was not asked for and is not in "
			"'allow_remove', take one back to an older version without 'downgrade', "
			"touch the administrator's holds without 'override_holds', or need more "
			"space than there is (/var, /usr, and /boot for kernels). Lists are fetched "
			"when there are none or a package is not found. Our own holds are lifted, "
			"and put back afterwards, also when the change failed. Recommended packages "
			"are not installed, nothing is ever removed as no longer needed, "
			"configuration files that were changed are kept.\n\n"
			"A change of ours that a crash, a full disk or a time limit interrupted is "
			"finished by the next run. What others left half-way is finished only by "
			"'repair: true' ('dpkg --configure -a', 'dnf remove --duplicates').",
		.undo = "Packages that the change brought are removed with their configuration, "
			"those it removed or changed come back in their earlier versions while the "
			"sources still have them, and holds are as they were. A package that "
			"somebody changed again since is a conflict and stays. A repair is not "
			"taken back.",
		.example = "package:\n"
			   "  names: [nvidia-headless-580-server-open=580.95.05-0ubuntu1, chrony]\n"
			   "  hold: true",
		.params = PACKAGE,
		.one_of = PACKAGE_ONE_OF,
		.batched = true,
	},
	{0},
};
