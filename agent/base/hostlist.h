/* hostlist - Slurm's lists of nodes, such as "gpu[01-16,20]-ib,login"; nothing is expanded. */
#pragma once

#include "agent/base/str.h"

/* Whether the list names it. 07 and 7 are two names; a broken list names nobody behind the break.
 */
bool hostlist_has(struct str list, struct str name);
