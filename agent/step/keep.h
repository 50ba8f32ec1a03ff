/*
 * keep - the earlier state of paths, for undo.
 *
 * keep_path describes what is at a path as JSON: absent, a link and its target,
 * a directory's attributes, a file's attributes and SHA-256. The bytes of a
 * file are put into env->keep under their hash (and synced) unless they are
 * there; with env->keep -1 only the hash is noted, which is enough to compare.
 */
#pragma once

#include "agent/step/step.h"

#define KEEP_FILE_MAX (64u << 20)

/*
 * into[path] = {kind: absent|file|link|directory|other, mode, uid, gid, size, sha256, target}. Of a
 * file beyond KEEP_FILE_MAX the bytes are not kept (mtime stands for sha256), and its undo says so.
 * Extended attributes and times are not kept.
 */
int keep_path(const struct step_env *env, const char *path, json_t *into, struct err *err);
/* For a kind that touches one path, named by the argument 'path': its before. */
int keep_before(struct step_env *env, const json_t *args, json_t **out, struct err *err);
/*
 * Brings path back to before[path]. What is there now must be before (then nothing is done) or
 * after[path]; else E_CONFLICT with a hint, nothing touched. after NULL: no such question.
 */
int keep_restore(const struct step_env *env, const char *path, const json_t *before,
	const json_t *after, struct err *err);
/* The undo that goes with keep_before. */
int keep_undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err);
/* True when two descriptions of one path mean the same. */
bool keep_is_same(const json_t *a, const json_t *b);
