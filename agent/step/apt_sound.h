/* apt_sound - a dpkg that was left half-way: which packages, why, and finishing it. */
#pragma once

#include "agent/step/packager.h"

/* "name (half-configured)" each; an interrupted dpkg without such a package is "dpkg (...)". */
int apt_broken(const struct step_env *env, struct arena *a, struct names *out, struct err *err);
/* The last lines of the newest make.log below /var/lib/dkms, and its kernel. */
void apt_tell_broken(
	const struct step_env *env, const struct names *broken, struct step_report *rep);
/* dpkg --configure: of all, or of those names that are half-way. E_STATE when something stays so.
 */
int apt_repair(const struct step_env *env, const struct names *names, bool all, struct err *err);
