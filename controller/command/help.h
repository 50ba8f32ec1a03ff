/* help - usage, shell completion and the manual page, all from the table of commands. */
#pragma once

#include "controller/command/command.h"

struct buf;

void help_overview(struct buf *out);
void help_command(const struct command *c, struct buf *out);
void help_completion_bash(struct buf *out);
void help_completion_zsh(struct buf *out);
/* roff (man macros) of stoika(1). */
void help_manual(struct buf *out);
