/*
 * content - a file with given bytes: what the kinds file and template share.
 *
 * Equal size and SHA-256 mean equal; the old text is read for a diff only when
 * it differs, is text, and is at most DIFF_TEXT_MAX bytes.
 */
#pragma once

#include "agent/step/attr.h"

struct manifest_file;

struct content {
	struct str text;                  /* the bytes, unless they come from the bundle */
	const struct manifest_file *from; /* NULL: text */
};

int content_check(struct step_env *env, const char *path, const struct content *want,
	const struct attr *attr, struct step_report *rep, struct err *err);
int content_apply(const struct step_env *env, const char *path, const struct content *want,
	const struct attr *attr, struct err *err);
/* "RECIPE/FOLDER/SOURCE" in the bundle; E_NOTFOUND with a hint. The path lives in out. */
int content_find(const struct step_env *env, const char *folder, const char *source,
	struct buf *out, const struct manifest_file **file, struct err *err);
