/*
 * attr - mode, owner and group of a path, as arguments give them.
 *
 * What is not given stays as it is. Names are looked up in the passwd and group
 * files of the root that is changed.
 */
#pragma once

#include "agent/step/step.h"

#include <sys/stat.h>

struct attr {
	mode_t mode; /* FS_KEEP_MODE, FS_KEEP_ID: not given */
	uid_t uid;
	gid_t gid;
};

/*
 * Reads mode, owner and group. A user that does not exist makes the report
 * unknown in a plan (an earlier step may add it) and is E_NOTFOUND otherwise.
 */
int attr_parse(struct step_env *env, const json_t *args, struct attr *out, struct step_report *rep,
	struct err *err);
/* Adds a line and "differs" for each that is not as wanted. */
void attr_compare(struct step_env *env, const struct attr *want, const struct stat *st,
	struct step_report *rep);
/* Makes them so on an existing file or directory; a final symbolic link is refused. */
int attr_apply(
	const struct step_env *env, const char *path, const struct attr *want, struct err *err);
