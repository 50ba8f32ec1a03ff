/* package_version - which of two package versions is the newer, as dpkg and as rpm count. */
#pragma once

#include "agent/base/str.h"

/* Below 0, 0, above 0: a is older than, equal to, newer than b. "[epoch:]upstream[-revision]" */
int version_compare_deb(struct str a, struct str b);
/* "[epoch:]version[-release]"; a release is compared only when both have one. */
int version_compare_rpm(struct str a, struct str b);
