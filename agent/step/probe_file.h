/*
 * probe_file - configuration files as values, for expressions: json_file, toml_file, ini_file, and
 * unit_setting, what systemd takes from a unit's file and its drop-ins.
 *
 * A file that is not there is an empty map; one that cannot be parsed is an error with its place.
 */
#pragma once

#include "agent/step/step.h"

/* name: json_file ...; args: [path]. */
int probe_file(const struct step_env *env, const char *name, const json_t *args, struct value *out,
	struct err *err);
/* args: [unit, "Section.Key"]; a list of texts, in order; an empty assignment forgets the earlier
 * ones. A unit that is not installed has none. */
int probe_unit_setting(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err);
