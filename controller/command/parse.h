/*
 * parse - a command line against the table of commands.
 *
 * The first one or two words choose the command; options may stand anywhere,
 * "--opt VALUE" or "--opt=VALUE"; "--" ends them. Everything wrong is E_SYNTAX
 * with a hint (the nearest command or option, the usage line).
 */
#pragma once

#include "controller/command/command.h"

/*
 * inv->arena must be set. On "--help" inv->help is not run: *help is true.
 * inv->command is NULL when there is no word at all.
 */
int parse_command_line(
	int argc, char *const *argv, struct invocation *inv, bool *help, struct err *err);
