/* catalog_show - entries as a person reads them, and as JSON. */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/json.h"
#include "inventory/catalog/catalog_check.h"

/* One line for each entry of the kind (CATALOG_KINDS: all); "~" stands before what is assumed. */
void catalog_show_list(const struct catalog *c, enum catalog_kind kind, struct buf *out);
/* Every field with value, mark, confidence and sources; then the sources. */
void catalog_show_entry(const struct catalog_entry *e, struct buf *out);
/* "file:line:col: error: ...", one line each. */
void catalog_show_findings(const struct catalog_findings *f, struct buf *out);

/* New references. */
json_t *catalog_list_json(const struct catalog *c, enum catalog_kind kind);
json_t *catalog_entry_json(const struct catalog_entry *e);
json_t *catalog_findings_json(const struct catalog_findings *f);
