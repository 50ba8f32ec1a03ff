/*
 * rpm - what is installed on a node with rpm, and names as recipes give them.
 *
 * The list comes from "rpm -qa" (0.05-0.3 s) and is kept, in memory and in
 * RPM_LIST, for as long as the database's files have the same stat, so that a
 * run that changes nothing starts no program.
 */
#pragma once

#include "agent/step/dpkg.h"
#include "agent/step/step.h"

#define RPM_LIST "/var/cache/stoika-agent/rpm-packages"

struct rpm_record {
	struct str name, arch, version; /* version: "EPOCH:VERSION-RELEASE", epoch 0 too */
};

/* "name", "name:arch", "name=version"; capitals and '_' are allowed. */
bool rpm_spec_parse(struct str text, struct dpkg_spec *out);
/* The database's files are there. */
bool rpm_is_here(const struct step_env *env);
/* "name<TAB>arch<TAB>version" a line, sorted; owned by the cache. */
int rpm_list(const struct step_env *env, struct str *out, struct err *err);
/* The next line; lines that are none are passed over. */
bool rpm_next(struct str *list, struct rpm_record *out);
/* The last (newest installed) of that name; arch empty: any. */
bool rpm_find(struct str list, struct str name, struct str arch, struct rpm_record *out);
/* "1:2.0-3.el9" is "2.0", "2.0-3.el9", "1:2.0" and "1:2.0-3.el9"; epoch 0 need not be said. */
bool rpm_fits(struct str installed, struct str wanted);
/* Programs that work on the root: its own, or this machine's with --root/--installroot. */
bool rpm_is_outside(const struct step_env *env, const char *program);
