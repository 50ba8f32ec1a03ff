/*
 * apt - what changes packages: apt-get and dpkg, run inside the root.
 *
 * An exit status of 0 is not believed here: the caller reads the package
 * database again.
 */
#pragma once

#include "agent/base/vec.h"
#include "agent/step/step.h"

/* apt-get's words: "name", "name:arch", "name=version", "name-" (to remove); owned elsewhere. */
struct apt_words vec(const char *);

/* E_UNSUPPORTED on a node without apt, E_NOSPACE when too little is free. */
int apt_ready(const struct step_env *env, struct err *err);
/* Ends what an interrupted dpkg left; E_STATE naming the package when it cannot. */
int apt_repair(const struct step_env *env, struct err *err);
/*
 * One transaction. Fetches the package lists first when there are none, and
 * once more when apt does not find a package.
 */
int apt_change(const struct step_env *env, const struct apt_words *words, bool downgrades,
	struct err *err);
/* Which of words apt would install or upgrade: its "Inst name ..." lines, appended to out. */
int apt_simulate(const struct step_env *env, const struct apt_words *words, struct buf *out,
	struct err *err);
/* No package lists: apt knows no candidates. */
bool apt_has_lists(const struct step_env *env);
