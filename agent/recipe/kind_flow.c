/* kind_flow - kinds of step that run, wait, judge or tell. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const char *const ENTRY_STATES[] = {"present", "absent", NULL};

static const struct kind_param COMMAND[] = {
	{"run", PARAM_LIST, false, NULL, NULL, "program and arguments, no shell"},
	{"shell", PARAM_TEXT, false, NULL, NULL, "a line for /bin/sh -eu"},
	{"creates", PARAM_PATH, false, NULL, NULL, "not run when this path exists"},
	{"unless", PARAM_EXPR, false, NULL, NULL, "not run when this expression is true"},
	{"cwd", PARAM_PATH, false, NULL, "/", "where it runs"},
	{"timeout", PARAM_INT, false, NULL, "300", "seconds"},
	{"stdin", PARAM_TEXT, false, NULL, NULL, "what it reads; may hold a secret"},
	{"env", PARAM_MAP, false, NULL, NULL,
		"variables beside PATH, HOME and LC_ALL; no place for secrets"},
	{"background", PARAM_BOOL, false, NULL, "false",
		"let live what it leaves running behind it"},
	{0},
};
static const char *const COMMAND_SECRET[] = {"stdin", NULL};
static const char *const COMMAND_ONE_OF[] = {"run", "shell", NULL};

static const struct kind_param WAIT[] = {
	{"port", PARAM_INT, false, NULL, NULL, "a TCP port that must be open"},
	{"http", PARAM_TEXT, false, NULL, NULL, "http://ADDRESS:PORT/PATH that must answer"},
	{"file", PARAM_PATH, false, NULL, NULL, "a path that must be there"},
	{"unit", PARAM_NAME, false, NULL, NULL, "a unit that must be active"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present",
		"absent waits for the contrary: closed, silent, gone, stopped"},
	{"host", PARAM_TEXT, false, NULL, "127.0.0.1", "numeric address of the port"},
	{"status", PARAM_INT, false, NULL, "200", "HTTP status that counts"},
	{"contains", PARAM_TEXT, false, NULL, NULL, "text that the answer or the file must hold"},
	{"for", PARAM_INT, false, NULL, "0", "seconds on end that it must hold"},
	{"timeout", PARAM_INT, false, NULL, "60", "seconds to wait at most"},
	{"poll", PARAM_INT, false, NULL, "1", "seconds between two looks"},
	{0},
};
static const char *const WAIT_ONE_OF[] = {"port", "http", "file", "unit", NULL};

static const struct kind_param ASSERT[] = {
	{"that", PARAM_EXPR, true, NULL, NULL, "an expression that must be true"},
	{"message", PARAM_TEXT, false, NULL, NULL, "what is wrong when it is not"},
	{"hint", PARAM_TEXT, false, NULL, NULL, "what to do about it"},
	{0},
};

static const struct kind_param NOTE[] = {
	{"message", PARAM_TEXT, true, NULL, NULL, "a line for the run's record"},
	{0},
};

static const struct kind_param REBOOT[] = {
	{"only_if", PARAM_EXPR, false, NULL, NULL, "restart when this expression is true"},
	{"markers", PARAM_LIST, false, NULL, NULL,
		"restart when one of these paths exists, such as /run/reboot-required"},
	{"kernel", PARAM_BOOL, false, NULL, NULL,
		"restart when /boot has a newer kernel than the running one"},
	{"timeout", PARAM_INT, false, NULL, "900", "seconds until the node must be back"},
	{0},
};

const struct kind KIND_FLOW[] = {
	{
		.name = "command",
		.about = "a program, run only when its guard says so",
		.check =
			"Judges the guards (creates, unless) without running a program. Without a guard "
			"it differs each time and says so.",
		.apply =
			"Runs it with a clean environment and a deadline, its output capped at 4 MiB. A "
			"status other than 0 fails with the last lines of the output. When it ends, all "
			"processes it left behind are ended with it, unless background is true; what it "
			"starts through systemctl is systemd's own and stays.",
		.undo = "Cannot be undone: give the recipe an undo of its own.",
		.example = "command:\n"
			   "  run: [nvidia-ctk, cdi, generate, \"--output=/etc/cdi/nvidia.yaml\"]\n"
			   "  creates: /etc/cdi/nvidia.yaml",
		.params = COMMAND,
		.one_of = COMMAND_ONE_OF,
		.not_both = COMMAND_ONE_OF,
		.secret = COMMAND_SECRET,
	},
	{
		.name = "wait",
		.about = "until a port, an address, a file or a unit is as it must be",
		.check =
			"Looks once: connects to the port (1 s), asks the address (3 s), looks for the "
			"file, or at the unit as the kind service does. With for, and not in a plan, it "
			"looks on for so many seconds, and one miss differs.",
		.apply =
			"Looks every poll seconds until it has held for so long on end. After timeout "
			"it fails and tells what was seen last.",
		.undo = "Nothing to bring back.",
		.example = "wait:\n"
			   "  http: http://127.0.0.1:9400/metrics\n"
			   "  contains: DCGM_FI_DEV_GPU_TEMP\n"
			   "  for: 5\n"
			   "  timeout: 120",
		.params = WAIT,
		.one_of = WAIT_ONE_OF,
		.not_both = WAIT_ONE_OF,
	},
	{
		.name = "assert",
		.about = "what must hold, or the run stops here",
		.check =
			"Evaluates the expression. False is a failure with message and hint, in a plan "
			"too. What a plan cannot know yet stays unknown.",
		.apply = "Evaluates it again.",
		.undo = "Nothing to bring back.",
		.example = "assert:\n"
			   "  that: facts.memory.total_bytes >= 16000000000\n"
			   "  message: the node has less than 16 GB of memory\n"
			   "  hint: see 'stoika show NODE'",
		.params = ASSERT,
	},
	{
		.name = "note",
		.about = "a line in the run's record",
		.check = "Nothing is read; the line is told, in a plan too.",
		.apply = "Nothing is changed.",
		.undo = "Nothing to bring back.",
		.example = "note:\n"
			   "  message: \"the license server is asked at {{ params.license }}\"",
		.params = NOTE,
	},
	{
		.name = "reboot",
		.about = "a restart of the node, when there is a reason",
		.check =
			"Evaluates only_if, looks for the markers, and compares /boot/vmlinuz-* of the "
			"running kernel's flavour with /proc/sys/kernel/osrelease. One reason is enough. "
			"Without any of the three it restarts at each run.",
		.apply =
			"Writes down that it restarts, restarts, and goes on after the boot with a check "
			"of this step: another boot id proves that the node has restarted. A reason that "
			"still holds then is a failure; it never restarts twice. In a rollout the "
			"restart may be the controller's to do (by the scheduler): then the run waits "
			"for it.",
		.undo = "The node restarts once more, so that the earlier kernel and modules are loaded: at "
			"the very end, when all else of the order is taken back, and once for however "
			"many steps. Not when something could not be taken back.",
		.example = "reboot:\n"
			   "  markers: [/run/reboot-required]\n"
			   "  kernel: true",
		.params = REBOOT,
	},
	{0},
};
