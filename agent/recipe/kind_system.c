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
	{"uid", PARAM_INT, false, NULL, NULL,
		"numeric user id, such as 1000; preset: the system chooses"},
	{"group", PARAM_NAME, false, NULL, NULL, "primary group"},
	{"groups", PARAM_LIST, false, NULL, NULL, "further groups it must be in"},
	{"home", PARAM_PATH, false, NULL, NULL, "home directory"},
	{"create_home", PARAM_BOOL, false, NULL, "false", "make the home directory, 0700"},
	{"shell", PARAM_PATH, false, NULL, NULL, "login shell"},
	{"system", PARAM_BOOL, false, NULL, "false", "a system account"},
	{"about", PARAM_TEXT, false, NULL, NULL, "the GECOS field"},
	{0},
};

static const struct kind_param GROUP[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "group name"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"gid", PARAM_INT, false, NULL, NULL, "numeric group id, such as 1000"},
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
	{"address", PARAM_ADDRESS, false, NULL, NULL, "IPv4 or IPv6 address"},
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

static const char *const UNIT_STATES[] = {
	"present", "running", "stopped", "masked", "absent", NULL};
static const struct kind_param UNIT[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "the unit; '.service' may be left out"},
	{"dropin", PARAM_NAME, false, NULL, NULL,
		"name of a drop-in, without '.conf': the text adds to an installed unit"},
	{"source", PARAM_SOURCE, false, NULL, NULL, "a file in the recipe's files/"},
	{"content", PARAM_TEXT, false, NULL, NULL, "the text itself"},
	{"state", PARAM_CHOICE, false, UNIT_STATES, "present",
		"present keeps the file only; running, stopped; masked; absent"},
	{"enabled", PARAM_BOOL, false, NULL, NULL, "starts at boot; preset: as it is"},
	{"verify", PARAM_BOOL, false, NULL, "true", "let systemd judge the text first"},
	{0},
};
static const char *const CONTENT_NOT_BOTH[] = {"source", "content", NULL};

static const struct kind_param TIMER[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "of both units: letters, digits, _ and -"},
	{"run", PARAM_LIST, false, NULL, NULL, "program and arguments, no shell"},
	{"shell", PARAM_TEXT, false, NULL, NULL, "a line for /bin/sh -eu"},
	{"on_calendar", PARAM_TEXT, false, NULL, NULL, "when: daily, Mon *-*-* 03:00"},
	{"on_boot", PARAM_TEXT, false, NULL, NULL, "so long after the boot: 5min"},
	{"randomized_delay", PARAM_TEXT, false, NULL, NULL, "at most so much later: 30min"},
	{"persistent", PARAM_BOOL, false, NULL, "true", "made up for when the node was off"},
	{"user", PARAM_NAME, false, NULL, NULL, "as whom it runs; preset: root"},
	{"about", PARAM_TEXT, false, NULL, NULL, "one line for people"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};
static const char *const TIMER_NOT_BOTH[] = {"run", "shell", NULL};

static const char *const MOUNT_STATES[] = {"mounted", "unmounted", "present", "absent", NULL};
static const struct kind_param MOUNT[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the mount point, made when it is missing"},
	{"source", PARAM_TEXT, false, NULL, NULL, "device, UUID=..., LABEL=..., HOST:/PATH, tmpfs"},
	{"type", PARAM_TEXT, false, NULL, NULL,
		"file system: ext4, xfs, nfs, tmpfs; none for bind"},
	{"options", PARAM_TEXT, false, NULL, "defaults", "as in fstab, between commas"},
	{"dump", PARAM_INT, false, NULL, "0", "the fifth field of fstab"},
	{"pass", PARAM_INT, false, NULL, "0", "the sixth: order of fsck"},
	{"state", PARAM_CHOICE, false, MOUNT_STATES, "mounted",
		"mounted; unmounted and present keep the line of fstab; absent"},
	{"timeout", PARAM_INT, false, NULL, "60", "seconds that mount may take"},
	{0},
};

static const struct kind_param SWAP[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "a file, made with size; or a device"},
	{"size", PARAM_TEXT, false, NULL, NULL, "of the file: 512M, 8G"},
	{"priority", PARAM_INT, false, NULL, NULL, "0 to 32767; preset: the kernel chooses"},
	{"wipe", PARAM_BOOL, false, NULL, "false",
		"also a device or file that holds something else"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present (and on) or absent"},
	{0},
};

static const char *const MODULE_STATES[] = {"loaded", "absent", "blacklisted", NULL};
static const struct kind_param KERNEL_MODULE[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "the module, '-' and '_' are one"},
	{"state", PARAM_CHOICE, false, MODULE_STATES, "loaded",
		"loaded, now and at boot; absent; blacklisted, never loaded again"},
	{"options", PARAM_TEXT, false, NULL, NULL, "its parameters: NVreg_X=1 NVreg_Y=0"},
	{"boot", PARAM_BOOL, false, NULL, "true", "loaded: also at each boot"},
	{"initramfs", PARAM_BOOL, false, NULL, "false", "make the initramfs anew on a change"},
	{0},
};

static const char *const GRUB_VARIABLES[] = {
	"GRUB_CMDLINE_LINUX_DEFAULT", "GRUB_CMDLINE_LINUX", NULL};
static const struct kind_param KERNEL_ARG[] = {
	{"args", PARAM_MAP, true, NULL, NULL, "key: value; an empty value for a bare word"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"variable", PARAM_CHOICE, false, GRUB_VARIABLES, "GRUB_CMDLINE_LINUX_DEFAULT",
		"where they stand; GRUB_CMDLINE_LINUX is for the recovery entries too"},
	{"initramfs", PARAM_BOOL, false, NULL, "false", "make the initramfs anew on a change"},
	{0},
};

static const char *const FIREWALL_POLICIES[] = {"accept", "drop", NULL};
static const struct kind_param FIREWALL[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "of the table inet stoika_NAME"},
	{"rules", PARAM_LIST, false, NULL, NULL, "rules of the input chain, in nft's words"},
	{"policy", PARAM_CHOICE, false, FIREWALL_POLICIES, "accept",
		"what rules do not decide; drop lets answers and the loopback through"},
	{"table", PARAM_TEXT, false, NULL, NULL, "the whole inside of the table instead"},
	{"cut_ssh", PARAM_BOOL, false, NULL, "false", "also when it would close the SSH port"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};
static const char *const FIREWALL_NOT_BOTH[] = {"rules", "table", NULL};

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
			"becomes the wanted one; without any it is added at the end, but ahead of a "
			"line that gives the node's own name to 127.0.1.1, as Debian's installer "
			"does. All other bytes stay.",
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
	{
		.name = "unit",
		.about = "a systemd unit's file or drop-in, and its state",
		.check =
			"Compares the file in /etc/systemd/system (for a drop-in below NAME.d); with "
			"running, stopped or enabled it looks at the unit as the kind service does. "
			"masked: whether the unit is a link to /dev/null.",
		.apply =
			"Lets systemd-analyze verify the unit with the new text; a line of it about this "
			"unit is an error, and the old file stays. Then writes the file, reloads the "
			"manager, and brings the unit into its state. A unit that runs goes on with the "
			"old text until it is restarted: notify a handler. masked and absent stop and "
			"disable it first; absent leaves a unit of the distribution alone.",
		.undo = "The old file comes back or the new one goes; running and enabled as it was.",
		.example = "unit:\n"
			   "  name: docker\n"
			   "  dropin: 10-limits\n"
			   "  content: |\n"
			   "    [Service]\n"
			   "    LimitMEMLOCK=infinity",
		.params = UNIT,
		.not_both = CONTENT_NOT_BOTH,
	},
	{
		.name = "timer",
		.about = "a job that systemd starts by the clock",
		.check =
			"Compares NAME.timer and NAME.service in /etc/systemd/system with what they "
			"shall be, and whether the timer is enabled and active.",
		.apply =
			"Lets systemd-analyze judge the calendar and the service, writes both units, "
			"reloads the manager, enables and starts the timer; a changed one is started "
			"anew. absent stops the timer and takes both units away.",
		.undo = "Both units, and whether the timer was enabled and active, as it was.",
		.example = "timer:\n"
			   "  name: scrub\n"
			   "  run: [/usr/local/sbin/scrub, --quiet]\n"
			   "  on_calendar: \"Sun *-*-* 03:00\"\n"
			   "  randomized_delay: 1h",
		.params = TIMER,
		.not_both = TIMER_NOT_BOTH,
	},
	{
		.name = "mount",
		.about = "a file system at its place, now and in fstab",
		.check =
			"Reads /etc/fstab and /proc/self/mountinfo, never the mount point itself where "
			"something is mounted, so that a dead NFS server cannot hang it. Of the options "
			"it compares the flags and size, mode, uid and gid. A mount point that holds "
			"files is told.",
		.apply =
			"Makes the mount point, mounts (or mounts anew with other options), and only "
			"then writes the line of fstab, so that what cannot be mounted does not wait "
			"for the next boot. All other lines stay byte for byte. mount is stopped at "
			"timeout.",
		.undo = "What was mounted there before is mounted again, or nothing is; the lines of "
			"fstab are as they were, and directories that were made go.",
		.example = "mount:\n"
			   "  path: /srv/models\n"
			   "  source: nas01:/models\n"
			   "  type: nfs\n"
			   "  options: ro,nfsvers=4.2,_netdev",
		.params = MOUNT,
		.unless_absent = "source",
	},
	{
		.name = "swap",
		.about = "a swap file or device",
		.check =
			"Reads /proc/swaps, /etc/fstab, and of the file or device its size and the "
			"signature of swap space.",
		.apply =
			"Makes the file (its blocks are allocated, 64 MiB must stay free), makes swap "
			"space of it, switches it on and writes the line of fstab. A device or file that "
			"holds anything else is refused without wipe.",
		.undo = "Switched off, its line of fstab and its file gone, or as it was; what a wiped "
			"device held does not come back.",
		.example = "swap:\n"
			   "  path: /swapfile\n"
			   "  size: 8G",
		.params = SWAP,
	},
	{
		.name = "kernel_module",
		.about = "a kernel module: loaded, absent or blacklisted",
		.check =
			"Reads /proc/modules, the list of built-in modules of the running kernel, and "
			"the step's own files in /etc/modprobe.d and /etc/modules-load.d. Options that "
			"a loaded module does not have yet are told.",
		.apply =
			"Writes the files, then loads or unloads the module. One that is in use is never "
			"unloaded: absent fails and names who uses it; blacklisted waits for a reboot "
			"and says so.",
		.undo = "The files, and whether the module is loaded, as it was.",
		.example = "kernel_module:\n"
			   "  name: nouveau\n"
			   "  state: blacklisted\n"
			   "  initramfs: true",
		.params = KERNEL_MODULE,
	},
	{
		.name = "kernel_arg",
		.about = "arguments of the kernel's command line, in GRUB",
		.check =
			"Reads the variable in /etc/default/grub and grub.d/*.cfg, and whether the boot "
			"entries that were made of it have the arguments. Whether the running kernel "
			"has them (/proc/cmdline) is told: if not, a reboot is needed.",
		.apply =
			"A key that stands somewhere gets its value there; else it goes into "
			"grub.d/90-stoika.cfg, or into /etc/default/grub where there are no drop-ins. "
			"Other arguments stay. Then grubby, update-grub or grub2-mkconfig; when it fails "
			"the old files come back. With initramfs: update-initramfs -u or dracut -f, "
			"after a look at the space in /boot.",
		.undo = "The files as they were, and the boot entries made anew.",
		.example = "kernel_arg:\n"
			   "  args: {iommu: pt, intel_iommu: \"on\"}",
		.params = KERNEL_ARG,
	},
	{
		.name = "firewall",
		.about = "a table of nftables rules of its own",
		.check =
			"Compares /etc/nftables.d/stoika-NAME.nft, the line that includes it, and the "
			"loaded table with what it was right after it was loaded (nft list). Refuses "
			"rules that close the SSH port: one chain at the input hook must accept it "
			"before it drops it by rule or policy.",
		.apply =
			"Lets nft -c judge the file, writes it, and loads it in one transaction. Only the "
			"table inet stoika_NAME is replaced; a packet must pass the tables of others "
			"too. For the next boot add a service step for nftables.",
		.undo = "The file, the include and the loaded table, as they were.",
		.example = "firewall:\n"
			   "  name: exporter\n"
			   "  rules:\n"
			   "    - ip saddr 10.0.0.0/8 tcp dport 9100 accept\n"
			   "    - tcp dport 9100 drop",
		.params = FIREWALL,
		.not_both = FIREWALL_NOT_BOTH,
	},
	{0},
};
