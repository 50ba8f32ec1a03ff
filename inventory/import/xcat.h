/*
 * xcat - tables of xCAT as 'tabdump' writes them (nodelist, hosts, mac, nodepos ...) to the tree.
 *
 * Rows of a group hold for its nodes; values that are rules ("|...|...|") are refused,
 * since only xCAT can evaluate them. Passwords are never carried.
 */
#pragma once

#include "inventory/import/source.h"

struct yaml_node *xcat_read(struct sources *s, const struct yaml_node *opts, const char *site);
