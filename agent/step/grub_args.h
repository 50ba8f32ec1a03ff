/*
 * grub_args - arguments in a variable of GRUB's defaults, which is a shell file.
 *
 * Only assignments in plain quotes at the beginning of a line are understood;
 * all else of the text, and all other arguments, stay byte for byte.
 */
#pragma once

#include "agent/base/buf.h"

/* Is the argument (value empty: the bare word) among those of a command line? */
bool grub_args_has(struct str cmdline, const char *key, const char *value);
/* True when some assignment to the variable holds the key, whatever its value. */
bool grub_args_holds(struct str text, const char *variable, const char *key);
/* Each argument of that key gets the value; NULL: goes. */
void grub_args_set(
	struct str text, const char *variable, const char *key, const char *value, struct buf *out);
/* Adds it to the last assignment; without any a line VARIABLE="$VARIABLE key=value" is added. */
void grub_args_add(
	struct str text, const char *variable, const char *key, const char *value, struct buf *out);
