/*
 * own_lines - the lines of a step in a file that others own too, and how they were before it.
 *
 * What is ours is for the caller to say, line by line. Undo puts back our
 * lines only: what others added or changed in the meantime stays.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/json.h"

struct err;
struct step_env;

struct own_lines {
	const char *path;
	size_t max; /* bytes of the file */
	bool (*is_ours)(const void *ctx, struct str line);
	const void *ctx;
};

/* into[path] = {exists, open_end (no newline at its end), lines: [{at, text}]}. */
int own_lines_before(
	const struct step_env *env, const struct own_lines *o, json_t *into, struct err *err);
/*
 * Ours come back as before[path] says, at their old places; a file that was not there goes when
 * nothing else is in it. *changed tells whether anything was done. Our lines must be those of
 * before or after (NULL: not asked), else E_CONFLICT.
 */
int own_lines_undo(const struct step_env *env, const struct own_lines *o, const json_t *before,
	const json_t *after, bool *changed, struct err *err);
