/*
 * command - one static descriptor per subcommand; parsing, help, completion and manual come from
 * it.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/err.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_SOME = 1, /* some nodes failed, or findings at FAIL */
	EXIT_USAGE = 2,
	EXIT_REFUSED = 3, /* by a check */
	EXIT_UNREACHED = 4,
	EXIT_BUG = 70,
};

struct option {
	const char *name;  /* long; NULL ends the table */
	char letter;       /* 0: none */
	const char *value; /* "FILE", NULL: a switch */
	const char *about;
	bool many; /* may be given again */
};

#define OPTION_MAX 16
#define ARG_MAX_N  64

struct invocation {
	const struct command *command;
	struct arena *arena;
	const char *db; /* --db or NULL */
	bool json;
	unsigned n_args;
	const char *args[ARG_MAX_N];
	struct {
		unsigned n;
		const char *at[ARG_MAX_N]; /* "" for a switch */
	} given[OPTION_MAX];               /* beside command->options */
};

struct command {
	const char *name; /* "run list" for a second word */
	const char *args; /* "FILE", "RECIPE[,RECIPE...] NODES" */
	unsigned min_args, max_args;
	const char *summary;                /* one line */
	const char *about;                  /* paragraphs for help and manual */
	const struct option *options;       /* besides --db, --json, --help */
	int (*run)(struct invocation *inv); /* an exit code */
};

extern const struct command *const COMMANDS[]; /* NULL-terminated, in help's order */

/* The value of an option, or NULL when not given. */
const char *option_get(const struct invocation *inv, const char *name);
unsigned option_count(const struct invocation *inv, const char *name);
const char *option_at(const struct invocation *inv, const char *name, unsigned i);

/* Prints the error (JSON object on stderr with --json) and gives the exit code that fits its code.
 */
int command_fail(const struct invocation *inv, const struct err *err);
