/* stoika-agent - the program that runs on a node; the controller starts it over SSH as "serve". */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/base/log.h"
#include "agent/base/mem.h"
#include "agent/facts/facts.h"
#include "agent/fetch/fetch.h"
#include "agent/run/session.h"
#include "agent/trial/command.h"
#include "agent/version.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE     2
#define FACTS_TEXT_MAX (4u << 20)

static const char HELP[] =
	"usage: stoika-agent COMMAND\n"
	"\n"
	"  serve [--root DIR] [--state DIR] [--key FILE]\n"
	"                  take signed orders on standard input, answer on standard output\n"
	"  resume [--root DIR] [--state DIR] [--key FILE]\n"
	"                  go on with the run that never ended, if there is one; what the unit\n"
	"                  stoika-agent-resume.service does after a boot\n"
	"  facts [GROUP]   print what this node says of itself, as JSON\n"
	"  gpu-probe       print the GPUs as JSON; started by facts in a process of its own\n"
	"  fetch           download for a step; started by it in a process of its own\n" TRIAL_USAGE
	"  version         print the version\n"
	"  help            print this\n"
	"\n"
	"presets: --root / --state /var/lib/stoika-agent --key /etc/stoika-agent/controller.pub\n";

static int fail(const struct err *err)
{
	err_print(err);
	return EXIT_FAILURE;
}

static int say(int status, const char *text)
{
	const int fd = status == 0 ? STDOUT_FILENO : STDERR_FILENO;

	return fs_write_all(fd, str_of(text), NULL) < 0 ? EXIT_FAILURE : status;
}

/* The program itself, for children; a relative argv[0] would hang on where we are. */
static const char *self_path(char path[static PATH_MAX])
{
	const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return path;
}

/* The options that both ways to run an order have; false: they are wrong. */
static bool read_options(int argc, char **argv, struct session_opts *o)
{
	static const struct option options[] = {{"root", required_argument, NULL, 'r'},
		{"state", required_argument, NULL, 's'}, {"key", required_argument, NULL, 'k'},
		{NULL, 0, NULL, 0}};
	int c;

	*o = (struct session_opts){.root = "/",
		.state = "/var/lib/stoika-agent",
		.key = "/etc/stoika-agent/controller.pub",
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO};
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'r')
			o->root = optarg;
		else if (c == 's')
			o->state = optarg;
		else if (c == 'k')
			o->key = optarg;
		else
			return false;
	}
	return optind >= argc;
}

static int cmd_serve(int argc, char **argv)
{
	char self[PATH_MAX];
	struct session_opts o;
	struct err err;

	if (!read_options(argc, argv, &o))
		return say(EXIT_USAGE, HELP);
	o.self = self_path(self);
	return session_serve(&o, &err) < 0 ? fail(&err) : EXIT_SUCCESS;
}

static bool is_well(const struct run_outcome *out)
{
	return out->state == RESULT_OK || out->state == RESULT_CHANGED || out->rebooting ||
	       out->waits;
}

/* Without a run to go on with there is nothing to do and nothing to say. */
static int cmd_resume(int argc, char **argv)
{
	char self[PATH_MAX];
	struct session_opts o;
	struct run_outcome out;
	struct err err;
	int rc;

	if (!read_options(argc, argv, &o))
		return say(EXIT_USAGE, HELP);
	o.self = self_path(self);
	rc = session_resume(&o, &out, &err);
	if (rc < 0)
		return fail(&err);
	if (rc > 0)
		return EXIT_SUCCESS;
	log_set_level(LOG_INFO);
	if (is_well(&out))
		log_info("run resumed", "state",
			out.rebooting ? "rebooting" : result_name(out.state), "reason", out.reason);
	else
		log_err("run resumed", "state", result_name(out.state), "reason", out.reason,
			"hint", out.hint);
	return is_well(&out) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cmd_facts(int argc, char **argv)
{
	AUTO_FD root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_JSON facts = NULL;
	AUTO_BUF text;
	char self[PATH_MAX];
	const struct facts_env env = {.root = root, .self = self_path(self)};
	struct err err;

	buf_init(&text, FACTS_TEXT_MAX);
	if (argc > 2)
		return say(EXIT_USAGE, HELP);
	if (root < 0) {
		err_sys(&err, errno, "cannot open '/'");
		return fail(&err);
	}
	if (argc < 2)
		facts = facts_all(&env);
	else if (facts_group(&env, argv[1], &facts, &err) < 0)
		return fail(&err);
	json_write_pretty(facts, &text);
	buf_add_char(&text, '\n');
	return say(EXIT_SUCCESS, buf_text(&text));
}

static int cmd_gpu_probe(int argc, char **argv)
{
	(void)argv;
	return argc > 1 ? say(EXIT_USAGE, HELP) : facts_gpu_probe();
}

static int cmd_fetch(int argc, char **argv)
{
	(void)argv;
	return argc > 1 ? say(EXIT_USAGE, HELP) : fetch_main();
}

static int cmd_version(int argc, char **argv)
{
	(void)argv;
	return argc > 1 ? say(EXIT_USAGE, HELP) : say(EXIT_SUCCESS, STOIKA_VERSION "\n");
}

static int cmd_help(int argc, char **argv)
{
	(void)argc, (void)argv;
	return say(EXIT_SUCCESS, HELP);
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} COMMANDS[] = {
	{"serve", cmd_serve},
	{"resume", cmd_resume},
	{"facts", cmd_facts},
	{"gpu-probe", cmd_gpu_probe},
	{FETCH_COMMAND, cmd_fetch},
	{TRIAL_COMMAND, trial_main},
	{"version", cmd_version},
	{"help", cmd_help},
	{"--version", cmd_version},
	{"--help", cmd_help},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof COMMANDS / sizeof *COMMANDS; i++)
		if (strcmp(COMMANDS[i].name, argv[1]) == 0)
			return COMMANDS[i].run(argc - 1, argv + 1);
	return say(EXIT_USAGE, HELP);
}
