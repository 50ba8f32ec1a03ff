/*
 * tree - the throw-away root of a case: laid, looked at, compared.
 *
 * A snapshot is a JSON object path -> {kind, mode, owner, data}; data is a
 * file's SHA-256 or a link's target. What an expected entry lacks is not compared.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/json.h"

/* Runs a program of this machine; its output goes into the error. */
int tree_tool(const char *const *argv, struct err *err);
/* A minimal root: accounts, /bin/sh, a few tools with their libraries, /dev/null. */
int tree_skeleton(const char *root, struct err *err);
/* A program for the root that writes its calls to /case/calls; script is its file. */
int tree_program(const char *root, const char *name, const char *script, struct err *err);
int tree_write(const char *root, const char *path, struct str text, unsigned mode, struct err *err);
/* The whole folder, but for the paths that are never compared. */
int tree_snapshot(const char *root, json_t **out, struct err *err);
/* Adds a line for each path that is not as wanted; ignore: list of paths. How many. */
unsigned tree_compare(json_t *want, json_t *have, const json_t *ignore, struct buf *out);
