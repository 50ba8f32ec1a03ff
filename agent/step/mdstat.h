/* mdstat - /proc/mdstat, and lines of mdadm.conf. */
#pragma once

#include "agent/base/str.h"

#define MDSTAT_MEMBERS_MAX 64

struct mdstat {
	char name[32], level[16], metadata[16]; /* "md127", "raid1", "1.2" ("0.90" when not said) */
	bool active;
	unsigned n_members;
	char members[MDSTAT_MEMBERS_MAX][64]; /* the kernel's names, spares and failed ones too */
};

/* Cuts the next array off *text; false: none. Lines of another form are passed over. */
bool mdstat_next(struct str *text, struct mdstat *out);
