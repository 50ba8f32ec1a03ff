/*
 * edit - a text file that others own too, as it is and as it shall be.
 *
 * For files that are tables of lines (fstab, hosts, limits.d) and for whole
 * files that a kind writes itself. Bytes that are not ours stay as they are. A
 * missing file counts as empty, missing folders above it are made by edit_save;
 * a link in the file's place is a conflict, for it belongs to somebody else.
 */
#pragma once

#include "agent/step/step.h"

#include <sys/stat.h>

#define EDIT_MAX (1u << 20)

struct edit {
	const char *path;
	struct buf old, now;
	bool exists; /* it is there */
	bool gone;   /* it shall not be there */
	bool hidden; /* what is there is only for its owner to read: no diff */
	mode_t mode; /* of a new file; what is there keeps its own */
};

/* Says which lines are the step's own; line comes without its newline. */
typedef bool edit_ours(const void *ctx, struct str line);

int edit_open(const struct step_env *env, const char *path, struct edit *e, struct err *err);
void edit_done(struct edit *e);
#define AUTO_EDIT __attribute__((cleanup(edit_done))) struct edit

/* The first line of ours becomes line, others of ours go; without any it is added at the end.
   line.p NULL: ours go. */
int edit_line(struct edit *e, edit_ours *ours, const void *ctx, struct str line, struct err *err);
void edit_set(struct edit *e, struct str text); /* the whole text */
void edit_remove(struct edit *e);
bool edit_differs(const struct edit *e);
/* Nothing if it is as it shall be; else "differs" and the diff. */
void edit_show(const struct edit *e, struct step_report *rep);
/* Writes what differs, durably; nothing otherwise. */
int edit_save(const struct step_env *env, const struct edit *e, struct err *err);

/* The n-th field between blanks, from 0; empty when there is none or the line is a comment. */
struct str edit_field(struct str line, unsigned n);

/*
 * For undo of a whole file: what is at path (keep.h) and which folders above it are missing, which
 * go again when they are empty.
 */
struct edit_past {
	const json_t *before, *after;
};
int edit_keep(const struct step_env *env, const char *path, json_t *into, struct err *err);
int edit_restore(const struct step_env *env, const char *path, struct edit_past past,
	struct step_report *rep, struct err *err);
/* The same for the lines of ours in a table: a new object in *out, and undo of just those. */
struct own_lines;
int edit_keep_lines(
	const struct step_env *env, const struct own_lines *ours, json_t **out, struct err *err);
int edit_restore_lines(const struct step_env *env, const struct own_lines *ours,
	struct edit_past past, struct step_report *rep, struct err *err);
/* The folders that path needs and that are missing, the nearest first; and their removal, as far as
 * they are empty. */
void edit_keep_folders(const struct step_env *env, const char *path, json_t *made);
int edit_drop_folders(const struct step_env *env, const json_t *made, struct err *err);
