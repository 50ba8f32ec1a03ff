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

static const char *const REPO_STATES[] = {"present", "absent", NULL};
static const char *const REPO_FORMATS[] = {"deb822", "list", NULL};
static const char *const REPO_NOT_BOTH[] = {"key", "key_text", "signed_by", NULL};

static const struct kind_param REPO[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "its name, which its files are called by"},
	{"uris", PARAM_LIST, false, NULL, NULL, "addresses (dnf: baseurl)"},
	{"suites", PARAM_LIST, false, NULL, NULL, "apt: suites; a flat repository has '/'"},
	{"components", PARAM_LIST, false, NULL, NULL, "apt: components, such as main"},
	{"types", PARAM_LIST, false, NULL, NULL, "apt: deb (preset), deb-src"},
	{"architectures", PARAM_LIST, false, NULL, NULL, "apt: only these architectures"},
	{"format", PARAM_CHOICE, false, REPO_FORMATS, NULL,
		"apt: deb822, or list where apt is older than 1.1"},
	{"key", PARAM_SOURCE, false, NULL, NULL,
		"file in the recipe's files/ with the signing key, armored or binary"},
	{"key_text", PARAM_TEXT, false, NULL, NULL, "the signing key itself, armored"},
	{"fingerprint", PARAM_TEXT, false, NULL, NULL,
		"fingerprints that the key file must have, all of them, between commas"},
	{"signed_by", PARAM_PATH, false, NULL, NULL, "a keyring that is on the node"},
	{"priority", PARAM_INT, false, NULL, NULL,
		"apt: pin of all its packages, 500 is the usual; dnf: 99 is the usual, 1 the first"},
	{"modules", PARAM_LIST, false, NULL, NULL, "dnf: module streams to enable, 'name:stream'"},
	{"enabled", PARAM_BOOL, false, NULL, "true", "false: kept, but not used"},
	{"refresh", PARAM_BOOL, false, NULL, "true",
		"fetch its lists after a change, as the proof"},
	{"state", PARAM_CHOICE, false, REPO_STATES, "present", "present or absent"},
	{0},
};

const struct kind KIND_PACKAGE[] = {
	{
		.name = "repo",
		.about = "a source of packages with its key, for apt or dnf",
		.check =
			"Reads files only. apt: '/etc/apt/sources.list.d/NAME.sources' (or .list), the key "
			"in '/etc/apt/keyrings/NAME.asc' (.gpg for a binary one), the pin in "
			"'/etc/apt/preferences.d/NAME.pref'. dnf: '/etc/yum.repos.d/NAME.repo', "
			"'/etc/pki/rpm-gpg/RPM-GPG-KEY-NAME', '/etc/dnf/modules.d/MODULE.module'. The key "
			"must have the fingerprints that are given and no other key may be in its file. "
			"Signatures are always verified: there is no way to trust a source blindly.\n\n"
			"apt: every other file of sources is read as well. The same address and suite "
			"(slashes at the end and capital letters in the host do not count) in another "
			"file would make apt refuse all operations when the keys differ. An entry that "
			"a package owns, or that says all that is wanted, stays and no file of ours is "
			"needed; any other is switched off. Keys that are known to be dead (the CUDA "
			"repository's of before April 2022) are taken out of apt's trusted keys.",
		.apply =
			"Writes all files, each at once. Entries that are switched off stay in their "
			"file as comments, and the file as it was is kept beside as '.save'. Then the "
			"lists of just this source are fetched; if that fails (address, key, signature, "
			"expired lists) all files are as before and the error says why.",
		.undo = "All files are as before. Lists that were fetched stay in apt's or dnf's cache "
			"until it cleans up.",
		.example =
			"repo:\n"
			"  name: cuda\n"
			"  uris: [https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64]\n"
			"  suites: [/]\n"
			"  key: 3bf863cc.pub\n"
			"  fingerprint: EB693B3035CD5710E231E123A4B469963BF863CC\n"
			"  priority: 600",
		.params = REPO,
		.not_both = REPO_NOT_BOTH,
		.unless_absent = "uris",
	},
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
			"'repair: true' ('dpkg --configure -a', 'dnf remove --duplicates').\n\n"
			"In a rollout the packages are fetched ahead, before the node is taken out of "
			"service: the same transaction is simulated and judged, and what it needs is "
			"brought into apt's or dnf's own cache, digests verified. The apply then needs "
			"no network. What cleans that cache in between undoes it; packages of a 'file:' "
			"source are not copied there.",
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
