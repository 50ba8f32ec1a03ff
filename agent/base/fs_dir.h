/*
 * fs_dir - a folder below a root, to be listed.
 *
 * Links on the way and at the end are followed inside the root, as by fs_open.
 */
#pragma once

#include <dirent.h>

struct err;

/* NULL when it cannot be opened: E_NOTFOUND, or what else err says. The caller closes it. */
DIR *fs_dir_open(int root, const char *path, struct err *err);
