/* about - the commands that tell of the program itself: help, version, completion, manual. */
#include "agent/version.h"
#include "controller/command/help.h"
#include "controller/command/session.h"
#include "controller/command/table.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (4u << 20)

static int print_text(const struct invocation *inv, void (*make)(struct buf *))
{
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	make(&text);
	session_print_document(inv, &text);
	return EXIT_OK;
}

static bool is_asked(const struct command *c, const struct invocation *inv)
{
	const char *name = inv->n_args == 2
				   ? arena_printf(inv->arena, "%s %s", inv->args[0], inv->args[1])
				   : inv->args[0];
	const size_t n = strlen(name);

	return strncmp(c->name, name, n) == 0 && (c->name[n] == '\0' || c->name[n] == ' ');
}

static int run_help(struct invocation *inv)
{
	AUTO_BUF text = {0};
	struct err err;
	unsigned found = 0;

	if (inv->n_args == 0)
		return print_text(inv, help_overview);
	buf_init(&text, TEXT_MAX);
	for (const struct command *const *c = COMMANDS; *c; c++) {
		if (!is_asked(*c, inv))
			continue;
		if (found++ > 0)
			buf_add_char(&text, '\n');
		help_command(*c, &text);
	}
	if (found == 0) {
		err_set(&err, E_NOTFOUND, "there is no command '%s'", inv->args[0]);
		err_hint(&err, "'stoika help' lists the commands");
		return command_fail(inv, &err);
	}
	session_print_document(inv, &text);
	return EXIT_OK;
}

static int run_version(struct invocation *inv)
{
	printf(inv->json ? "{\"version\": \"%s\"}\n" : "stoika %s\n", STOIKA_VERSION);
	return EXIT_OK;
}

static int run_completion(struct invocation *inv)
{
	struct err err;

	if (strcmp(inv->args[0], "bash") == 0)
		return print_text(inv, help_completion_bash);
	if (strcmp(inv->args[0], "zsh") == 0)
		return print_text(inv, help_completion_zsh);
	err_set(&err, E_NOTFOUND, "no completion for the shell '%s'", inv->args[0]);
	err_hint(&err, "bash or zsh");
	return command_fail(inv, &err);
}

static int run_manual(struct invocation *inv)
{
	(void)inv;
	return print_text(inv, help_manual);
}

const struct command COMMAND_HELP = {
	.name = "help",
	.args = "[COMMAND]",
	.max_args = 2,
	.summary = "this list, or one command in detail",
	.run = run_help,
};

const struct command COMMAND_VERSION = {
	.name = "version",
	.args = "",
	.summary = "the version of this program",
	.run = run_version,
};

const struct command COMMAND_COMPLETION = {
	.name = "completion",
	.args = "bash|zsh",
	.min_args = 1,
	.max_args = 1,
	.summary = "shell completion, to be sourced",
	.run = run_completion,
};

const struct command COMMAND_MANUAL = {
	.name = "manual",
	.args = "",
	.summary = "the manual page in roff: stoika manual | man -l -",
	.run = run_manual,
};
