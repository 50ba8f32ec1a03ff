/* about - the commands that tell of the program itself: help, version, completion, manual. */
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/recipe/kind.h"
#include "agent/version.h"
#include "controller/command/help.h"
#include "controller/command/manual.h"
#include "controller/command/session.h"
#include "controller/command/table.h"

#include <errno.h>
#include <fcntl.h>
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

static int no_such_kind(const struct invocation *inv, const char *word)
{
	const char *names[128];
	const struct kind *k;
	const char *near;
	struct err err;
	unsigned n = 0;

	while (n < 127 && (k = kind_at(n)) != NULL)
		names[n++] = k->name;
	names[n] = NULL;
	near = err_nearest(word, names);
	err_set(&err, E_NOTFOUND, "there is no kind of step '%s'", word);
	err_hint(&err, near ? "did you mean '%s'?" : "'stoika help step' lists them", near);
	return command_fail(inv, &err);
}

/* 'help step' and 'help step KIND'. */
static int help_step(const struct invocation *inv)
{
	const struct kind *k = inv->n_args == 2 ? kind_find(inv->args[1]) : NULL;
	AUTO_BUF text = {0};

	if (inv->n_args == 2 && !k)
		return no_such_kind(inv, inv->args[1]);
	buf_init(&text, TEXT_MAX);
	if (k)
		manual_kind(k, &text);
	else
		manual_kinds(&text);
	session_print_document(inv, &text);
	return EXIT_OK;
}

static int run_help(struct invocation *inv)
{
	AUTO_BUF text = {0};
	struct err err;
	unsigned found = 0;

	if (inv->n_args == 0)
		return print_text(inv, help_overview);
	if (strcmp(inv->args[0], "step") == 0)
		return help_step(inv);
	buf_init(&text, TEXT_MAX);
	for (const struct command *const *c = COMMANDS; *c; c++) {
		if (!is_asked(*c, inv))
			continue;
		if (found++ > 0)
			buf_add_char(&text, '\n');
		help_command(*c, &text);
	}
	if (found == 0) {
		err_set(&err, E_NOTFOUND, "there is no command '%s%s%s'", inv->args[0],
			inv->n_args > 1 ? " " : "", inv->n_args > 1 ? inv->args[1] : "");
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

/* DIR/stoika-step-file.7, all of them. */
static int write_pages(const struct invocation *inv, const char *dir, struct err *err)
{
	AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char made[64];
	const char *name;
	int section, rc = 0;

	if (fd < 0)
		return err_sys(err, errno, "cannot open the folder '%s'", dir);
	for (unsigned i = 0; rc == 0 && (name = manual_name(i, &section, made)) != NULL; i++) {
		const char *file = arena_printf(inv->arena, "%s.%d", name, section);
		AUTO_BUF text = {0};

		buf_init(&text, TEXT_MAX);
		manual_write(name, &text);
		rc = fs_replace(fd, file, buf_str(&text), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	}
	return rc;
}

static int run_manual(struct invocation *inv)
{
	const char *dir = option_get(inv, "to"), *name = inv->n_args ? inv->args[0] : "stoika";
	AUTO_BUF text = {0};
	struct err err;

	buf_init(&text, TEXT_MAX);
	if (dir)
		return write_pages(inv, dir, &err) < 0 ? command_fail(inv, &err) : EXIT_OK;
	if (manual_write(name, &text)) {
		session_print_document(inv, &text);
		return EXIT_OK;
	}
	err_set(&err, E_NOTFOUND, "there is no manual page '%s'", name);
	err_hint(&err,
		"stoika, stoika-recipe, stoika-step-KIND; 'stoika help step' lists the kinds");
	return command_fail(inv, &err);
}

static const struct option MANUAL_OPTIONS[] = {
	{"to", 0, "DIR", "write all pages into this folder", false},
	{0},
};

const struct command COMMAND_HELP = {
	.name = "help",
	.args = "[COMMAND|step [KIND]]",
	.max_args = 2,
	.summary = "this list, one command in detail, or a kind of step of recipes",
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
	.args = "[PAGE]",
	.max_args = 1,
	.summary = "a manual page in roff: stoika manual | man -l -",
	.about = "PAGE is stoika (if not given), stoika-recipe (the language of recipes) or\n"
		 "stoika-step-KIND ('stoika help step' lists the kinds).\n",
	.options = MANUAL_OPTIONS,
	.run = run_manual,
};
