/* dnf_plan - what dnf prints and what versionlock keeps, read. Pure functions over text. */
#pragma once

#include "agent/step/packager.h"

/*
 * The table of a transaction: sections ("Installing dependencies:", "Removing:" ...) and rows
 * " NAME ARCH VERSION REPO SIZE", which dnf wraps when they are long. Names become "NAME:ARCH";
 * for a removal, from is the version, else to. Sections of what is skipped are passed over.
 */
void dnf_plan_read(struct arena *a, struct str out, struct plan *plan);
/* Scriptlets that failed, though dnf calls that a success: their packages, joined by ", ". */
void dnf_plan_scriptlets(struct str out, struct buf *to);
/* Does versionlock's list hold the package? */
bool dnf_lock_has(struct str list, struct str name);
/* The list without the lines of that name, and with a line for its version if that is given. */
void dnf_lock_set(struct str list, struct str name, struct str version, struct buf *out);
