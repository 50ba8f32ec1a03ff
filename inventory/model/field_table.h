/* field_table - the table of a noun, for field.c. */
#pragma once

#include "inventory/model/field.h"

struct model_fields field_table(enum model_noun noun);
