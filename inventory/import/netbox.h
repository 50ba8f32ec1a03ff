/*
 * netbox - REST dumps and CSV tables of NetBox (3 and 4) to the tree of a site file.
 *
 * s holds the files. opts: the mapping file's settings or NULL (see FOREIGN.md). Faults
 * go to s; NULL only when there is nothing to import.
 */
#pragma once

#include "inventory/import/source.h"

struct yaml_node *netbox_read(struct sources *s, const struct yaml_node *opts, const char *site);
