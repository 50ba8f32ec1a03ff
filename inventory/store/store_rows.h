/* store_rows - the rows of a site that have tables of fields, for store_put and store_model. */
#pragma once

#include "inventory/model/field.h"
#include "inventory/store/store_priv.h"

/* The site's terms, all rows in an order that references allow, and their notes. */
int put_rows(struct put *p, struct err *err);
int load_rows_all(struct store *s, struct model *m, int64_t site, struct err *err);
/* Whether every reference of such rows is to a row that was loaded. */
bool rows_hold_together(const struct model *m);
