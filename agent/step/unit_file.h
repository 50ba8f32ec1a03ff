/*
 * unit_file - text of units: judged by systemd-analyze before it is put in place.
 *
 * systemd passes over what it does not understand with a line in its log. Here
 * such a line is an error, as long as it is about the unit in question.
 */
#pragma once

#include "agent/step/step.h"

/*
 * The unit as it would be: text is its file or, with dropin, DROPIN.conf of the unit that is
 * installed. Nothing is judged where systemd-analyze is missing.
 */
int unit_file_verify(const struct step_env *env, const char *unit, const char *dropin,
	struct str text, struct err *err);
/* "systemd-analyze WHAT TEXT", WHAT being calendar or timespan. */
int unit_file_judge(const struct step_env *env, const char *what, const char *text, const char *key,
	struct err *err);
/* One argument of ExecStart=, in quotes, so that systemd takes it as it is. */
void unit_file_quote(struct str argument, struct buf *out);
