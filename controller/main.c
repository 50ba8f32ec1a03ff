/* stoika - the program people use: one command line, one command, one exit code. */
#include "agent/base/buf.h"
#include "controller/command/help.h"
#include "controller/command/parse.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static int print_help(const struct invocation *inv)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1u << 20);
	if (inv->command)
		help_command(inv->command, &text);
	else
		help_overview(&text);
	fwrite(buf_text(&text), 1, text.n, stdout);
	return EXIT_OK;
}

/* JSON errors are wanted even when the command line itself is wrong. */
static bool asks_json(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct invocation inv = {.arena = arena_new()};
	struct err err;
	bool help;
	int code;

	signal(SIGPIPE, SIG_IGN);
	if (parse_command_line(argc, argv, &inv, &help, &err) < 0) {
		inv.json = asks_json(argc, argv);
		code = command_fail(&inv, &err);
	} else if (help) {
		code = print_help(&inv);
	} else {
		code = inv.command->run(&inv);
	}
	arena_free(inv.arena);
	return code;
}
