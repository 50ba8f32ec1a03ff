/* store_rows - the rows of a site that have tables of fields, for store_put and store_model. */
#pragma once

#include "inventory/model/field.h"
#include "inventory/store/store_priv.h"

/* The site's terms, all rows in an order that references allow, and their notes. */
int put_rows(struct put *p, struct err *err);
/* Places in the site's file, rising. */
struct row_ords vec(size_t);
/* The rows of the parts (a JSON list); of nouns that have none, all. */
int load_noun_some(struct store *s, struct model *m, int64_t site, enum model_noun noun,
	const char *parts, struct row_ords *ords, struct err *err);
int load_notes(struct store *s, struct model *m, int64_t site, struct err *err);
int load_rows_all(struct store *s, struct model *m, int64_t site, struct err *err);
/* Whether every reference of such rows is to a row that was loaded. */
bool rows_hold_together(const struct model *m);
