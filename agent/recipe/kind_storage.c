/* kind_storage - kinds of step that keep archives, images, disks and file systems. */
#include "agent/recipe/kind.h"

#include <stddef.h>

const struct kind KIND_STORAGE[] = {
	{0},
};
