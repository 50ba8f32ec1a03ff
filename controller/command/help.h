/* help - usage, shell completion and the manual page, all from the table of commands. */
#pragma once

#include "controller/command/command.h"

struct buf;

/* Text in lines that end before column 80, from column 'indent' on, which the first has reached; an
 * empty line divides paragraphs. */
void help_add_filled(struct buf *out, const char *text, size_t indent);
void help_overview(struct buf *out);
void help_command(const struct command *c, struct buf *out);
void help_completion_bash(struct buf *out);
void help_completion_zsh(struct buf *out);
/* roff (man macros) of stoika(1). */
void help_manual(struct buf *out);
