/* probe_text - what expressions read of a node as text: files, names of files, a program's output.
 */
#pragma once

#include "agent/recipe/value.h"
#include "agent/step/step.h"

/* text_file(path): the whole of it, "" when it is not there; 1 MiB at most, UTF-8. */
int probe_text_file(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err);
/* lines(path, regex): those that match, without their ends; none when it is not there. */
int probe_lines(const struct step_env *env, const json_t *args, struct value *out, struct err *err);
/* glob(pattern): paths that are there, sorted; * ? [...] within one part of a path. */
int probe_glob(const struct step_env *env, const json_t *args, struct value *out, struct err *err);
/*
 * program([name, argument ...]): {code, out}. A child of its own, ended after ten seconds (code
 * 124); 127: it is not there. It must only read, for it also runs in a plan.
 */
int probe_program(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err);
