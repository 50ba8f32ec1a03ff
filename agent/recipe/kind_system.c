/* kind_system - kinds of step that keep accounts, services, the kernel and the host itself. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const char *const ENTRY_STATES[] = {"present", "absent", NULL};
static const char *const SERVICE_STATES[] = {
	"running", "stopped", "restarted", "reloaded", "unchanged", NULL};

static const struct kind_param SERVICE[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "the unit, '.service' may be left out"},
	{"state", PARAM_CHOICE, false, SERVICE_STATES, "running",
		"running, stopped, unchanged; restarted and reloaded for handlers"},
	{"enabled", PARAM_BOOL, false, NULL, NULL, "starts at boot; preset: as it is"},
	{0},
};

static const struct kind_param USER[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "login name"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"uid", PARAM_INT, false, NULL, NULL, "number; preset: the system chooses"},
	{"group", PARAM_NAME, false, NULL, NULL, "primary group"},
	{"groups", PARAM_LIST, false, NULL, NULL, "further groups it must be in"},
	{"home", PARAM_PATH, false, NULL, NULL, "home directory"},
	{"create_home", PARAM_BOOL, false, NULL, "false", "make the home directory"},
	{"shell", PARAM_PATH, false, NULL, NULL, "login shell"},
	{"system", PARAM_BOOL, false, NULL, "false", "a system account"},
	{"about", PARAM_TEXT, false, NULL, NULL, "the GECOS field"},
	{0},
};

static const struct kind_param GROUP[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "group name"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"gid", PARAM_INT, false, NULL, NULL, "number"},
	{"system", PARAM_BOOL, false, NULL, "false", "a system group"},
	{0},
};

static const struct kind_param SYSCTL[] = {
	{"values", PARAM_MAP, true, NULL, NULL, "name: value"},
	{"path", PARAM_PATH, false, NULL, "/etc/sysctl.d/90-stoika.conf",
		"drop-in that keeps them; its other lines stay"},
	{"live", PARAM_BOOL, false, NULL, "true", "also set them in the running kernel"},
	{0},
};

static const struct kind_param HOSTNAME[] = {
	{"name", PARAM_TEXT, true, NULL, NULL, "the host's name, with or without its domain"},
	{"live", PARAM_BOOL, false, NULL, "true", "also of the running kernel"},
	{0},
};

static const struct kind_param HOSTS[] = {
	{"address", PARAM_TEXT, false, NULL, NULL, "IPv4 or IPv6 address"},
	{"names", PARAM_LIST, false, NULL, NULL, "its names, the canonical one first"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};
static const char *const HOSTS_ONE_OF[] = {"address", "names", NULL};

static const char *const LIMIT_TYPES[] = {"soft", "hard", "-", NULL};
static const struct kind_param LIMITS[] = {
	{"domain", PARAM_TEXT, true, NULL, NULL, "a user, '@group', '*' or root"},
	{"type", PARAM_CHOICE, false, LIMIT_TYPES, "-", "soft, hard, or '-' for both"},
	{"item", PARAM_TEXT, true, NULL, NULL, "memlock, nofile, nproc, stack ..."},
	{"value", PARAM_TEXT, false, NULL, NULL, "a whole number or unlimited"},
	{"path", PARAM_PATH, false, NULL, "/etc/security/limits.d/90-stoika.conf",
		"drop-in that keeps it; its other lines stay"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};

static const struct kind_param CRON[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "the file in /etc/cron.d: letters, digits, _ and -"},
	{"schedule", PARAM_TEXT, false, NULL, NULL, "minute hour day month weekday, or @daily"},
	{"run", PARAM_TEXT, false, NULL, NULL, "one line for the shell"},
	{"user", PARAM_NAME, false, NULL, "root", "as whom it runs"},
	{"env", PARAM_MAP, false, NULL, NULL, "variables of the job, such as MAILTO"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};

const struct kind KIND_SYSTEM[] = {
	{
		.name = "service",
		.about = "a service's state and whether it starts at boot",
		.check =
			"systemd: reads the unit's control group, its invocation and the links that "
			"enable it; asks systemctl only when these do not decide. Else /etc/init.d and "
			"its pid files. restarted and reloaded differ each time: they are for handlers.",
		.apply =
			"Reloads the manager when the unit file is newer than what is loaded, then "
			"enables or disables, then starts, stops, restarts or reloads. The state must "
			"be reached within 10 s and hold; otherwise the unit's last log lines are in "
			"the error. A masked unit is an error.",
		.undo = "Running or stopped, enabled or not, as it was.",
		.example = "service:\n"
			   "  name: chrony\n"
			   "  state: running\n"
			   "  enabled: true",
		.params = SERVICE,
	},
	{
		.name = "user",
		.about = "a user account",
		.check = "Reads /etc/passwd and /etc/group of the root, without NSS.",
		.apply =
			"useradd, usermod, userdel. Groups are only added to. A home that create_home "
			"makes for an existing user is empty and 0700; changing uid or home moves no "
			"files; absent keeps the home. Passwords are never touched.",
		.undo = "A user that was made is removed (its home stays); what was changed is set "
			"back. A user that was removed does not come back, and undo says so.",
		.example = "user:\n"
			   "  name: slurm\n"
			   "  system: true\n"
			   "  groups: [video]",
		.params = USER,
	},
	{
		.name = "group",
		.about = "a group",
		.check = "Reads /etc/group of the root, without NSS.",
		.apply = "groupadd, groupmod, groupdel.",
		.undo = "A group that was made is removed; its number is set back.",
		.example = "group:\n"
			   "  name: hpc\n"
			   "  gid: 4000",
		.params = GROUP,
	},
	{
		.name = "sysctl",
		.about = "kernel parameters, kept and live",
		.check = "Compares the drop-in's lines and the live values under /proc/sys, blanks "
			 "folded; a.b, a/b and -a.b are one name.",
		.apply =
			"Sets the live values first, so that one the kernel refuses does not wait in "
			"the file for the next boot; then the lines of the drop-in, whose other lines "
			"stay. Where /proc/sys cannot be written (containers), say live: false.",
		.undo = "The drop-in's lines and the live values, as they were.",
		.example = "sysctl:\n"
			   "  values: {vm.swappiness: 10}",
		.params = SYSCTL,
	},
	{
		.name = "hostname",
		.about = "the node's own name",
		.check = "Reads /etc/hostname, and /proc/sys/kernel/hostname unless live is false.",
		.apply =
			"Writes the file; sets the running name through hostnamectl when systemd runs, "
			"else in the kernel. Names in /etc/hosts are the kind hosts' affair.",
		.undo = "The file and the running name, as they were.",
		.example = "hostname:\n"
			   "  name: \"{{ node.name }}\"",
		.params = HOSTNAME,
	},
	{
		.name = "hosts",
		.about = "names of an address in /etc/hosts",
		.check =
			"Reads /etc/hosts. Lines of its own end in '# stoika'. Names that lines of others "
			"give the address already are enough; a name that they give another address is "
			"a conflict, because the first line counts.",
		.apply =
			"Its own line of that address, or of one of the names in the same family, "
			"becomes the wanted one; without any it is added at the end. All other bytes "
			"stay.",
		.undo = "Its own lines come back as they were; others stay as they are now.",
		.example = "hosts:\n"
			   "  address: 10.0.0.5\n"
			   "  names: [license01.example, license01]",
		.params = HOSTS,
		.one_of = HOSTS_ONE_OF,
	},
	{
		.name = "limits",
		.about = "a limit of a user's sessions (pam_limits)",
		.check =
			"Reads the drop-in and looks for the line with this domain, type and item.",
		.apply =
			"That line becomes the wanted one, others stay. With the type '-' the lines soft "
			"and hard of the same item go. Sessions that are open keep their limits; units "
			"have their own (LimitNOFILE= in a drop-in of the kind unit).",
		.undo = "Its own lines come back as they were.",
		.example = "limits:\n"
			   "  domain: \"@hpc\"\n"
			   "  item: memlock\n"
			   "  value: unlimited",
		.params = LIMITS,
		.unless_absent = "value",
	},
	{
		.name = "cron",
		.about = "a job in /etc/cron.d",
		.check =
			"Judges the schedule and compares the job's file. Without /etc/cron.d cron is "
			"not installed: unknown in a plan, an error in a run.",
		.apply =
			"Writes the file, which cron reads within a minute. A '%' in run is written so "
			"that cron takes it for itself.",
		.undo = "The old file comes back, or it goes when there was none.",
		.example = "cron:\n"
			   "  name: scrub\n"
			   "  schedule: \"30 3 * * sun\"\n"
			   "  run: /usr/local/sbin/scrub --quiet",
		.params = CRON,
		.unless_absent = "schedule",
	},
	{0},
};
