/* lang - how a command's answer looks: JSON or text, in which language, how wide. */
#pragma once

#include "controller/command/command.h"
#include "inventory/report/table.h"

#define LANG_OPTION                                                           \
	{                                                                     \
		"lang", 0, "L", "en or ru; by the locale if not given", false \
	}

/* By --lang, else by the locale; E_SYNTAX for a language that is none. */
int lang_opts(const struct invocation *inv, struct report_opts *out, struct err *err);
/* Words of text, lines broken before the 80th column, each begun with indent blanks. */
void lang_add_wrapped(struct buf *out, unsigned indent, const char *text);
/* The text, and blanks behind it up to that column; one at least. */
void lang_add_label(struct buf *out, const char *text, unsigned width);
