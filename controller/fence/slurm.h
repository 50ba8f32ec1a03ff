/* slurm - for tests: Slurm's lists of nodes, such as "gpu[01-16,20],login". */
#pragma once

#include "controller/fence/fence_priv.h"

/* Whether the list names the node; nothing is expanded. */
bool slurm_list_has(struct str list, struct str name);
