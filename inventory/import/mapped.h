/* mapped - any CSV tables, with a mapping file that says which column is which field. FOREIGN.md.
 */
#pragma once

#include "inventory/import/source.h"

/* map: the mapping file. s holds the tables. NULL when the mapping itself is wrong. */
struct yaml_node *mapped_read(struct sources *s, const struct yaml_node *map);
