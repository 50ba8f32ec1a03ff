/* apt_plan - what apt-get and apt-cache print, read. Pure functions over their output. */
#pragma once

#include "agent/step/packager.h"

/*
 * The lines "Inst NAME [OLD] (NEW ORIGINS [ARCH]) ..." and "Remv NAME [OLD]" of apt-get -s. Other
 * lines are passed over; a package of another architecture is "name:arch" as apt prints it.
 */
void apt_plan_read(struct arena *a, struct str out, struct plan *plan);
/* Sums "Size:" (bytes) and "Installed-Size:" (KiB) of apt-cache show. */
void apt_plan_sizes(struct str out, uint64_t *fetched, uint64_t *installed);
/*
 * The lines on what cannot be satisfied, from "The following packages have unmet dependencies:",
 * joined by "; ".
 */
void apt_plan_unmet(struct str out, struct buf *to);
/*
 * Of apt-cache policy: "NAME VERSION from URI" for the candidate of each package, joined by ", ".
 * An installed version without a source is "from nowhere".
 */
void apt_plan_origins(struct str out, struct buf *to);
