/*
 * apt - what changes packages on Debian and its relatives: apt-get, apt-mark
 * and dpkg, run inside the root.
 *
 * An exit status of 0 is not believed here: the caller reads the package
 * database again.
 */
#pragma once

#include "agent/base/proc.h"
#include "agent/step/step.h"

#define APT_UPDATE_TIMEOUT (600 * INT64_C(1000000000))

extern const char *const APT_ENV[];
/* The lock files of dpkg, apt and unattended-upgrades. */
extern const char *const APT_LOCKS[];

/* What apt-get said, as an error: its own "E:" lines and a hint where the cause is known. */
int apt_explain(const char *what, const struct proc_result *res, struct err *err);
/*
 * Fetches the lists of all sources, or of one file of sources only. Anything that could not be
 * fetched or verified is an error, also where apt-get itself would only warn.
 */
int apt_update(const struct step_env *env, const char *only, struct err *err);
