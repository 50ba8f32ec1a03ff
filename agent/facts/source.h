/*
 * source - reads the kernel's one-value files below a root.
 *
 * A file that is absent, unreadable or empty gives false, and the caller leaves
 * the value out.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/json.h"

#define SOURCE_TEXT_MAX 512

/* The trimmed content of FOLDER/NAME (name may be ""), cut at the size of out. */
bool source_text(int root, const char *folder, const char *name, char out[static SOURCE_TEXT_MAX]);
bool source_number(int root, const char *folder, const char *name, int64_t *out);
/* A whole file of at most out's cap. */
bool source_file(int root, const char *path, struct buf *out);
/* Sets key to the file's text or number, or leaves it out. */
void source_put_text(json_t *obj, const char *key, int root, const char *folder, const char *name);
void source_put_number(
	json_t *obj, const char *key, int root, const char *folder, const char *name);
bool source_exists(int root, const char *path);
bool source_is_own_root(int root); /* of this process */
/*
 * The names in a folder but for those with a leading dot, sorted,
 * as a JSON array of text (a new reference); NULL when it cannot be read.
 */
json_t *source_list(int root, const char *folder);
