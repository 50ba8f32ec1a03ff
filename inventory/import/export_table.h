/*
 * export_table - a model as plain tables, one per noun; columns are the fields somebody states.
 *
 * The sink makes CSV or a sheet of them. Values are texts or numbers; references are names.
 */
#pragma once

#include "agent/base/buf.h"
#include "inventory/import/foreign.h"
#include "inventory/model/index.h"

struct table_sink {
	void *ctx;
	void (*begin)(void *ctx, const char *table); /* "racks"; then a row of headings */
	void (*text)(void *ctx, const char *text);   /* NULL: an empty cell */
	void (*num)(void *ctx, double v);
	void (*end_row)(void *ctx);
};

/* Tables that have no row are left out. */
void export_tables(const struct model *m, const struct table_sink *sink);

/* A CSV in the making; cells are quoted when they must be. */
struct csv_out {
	struct buf *out;
	unsigned n; /* cells of the row so far */
};
void csv_out_text(struct csv_out *o, const char *text);
void csv_out_num(struct csv_out *o, double v); /* NaN: empty */
void csv_out_end(struct csv_out *o);
void csv_out_row(struct csv_out *o, const char *const *cells); /* NULL-terminated */

/* A file of a folder; its text is capped at EXPORT_MAX. */
struct buf *export_file_new(struct export_files *files, const char *name);

/* --- the formats --- */
void export_csv(const struct model *m, struct export_files *out);
void export_netbox(const struct model *m, struct export_files *out, struct losses *losses);
void export_ansible(const struct model *m, struct buf *out);
void export_ansible_yaml(const struct model *m, struct buf *out);
void export_prometheus(const struct model *m, struct buf *out);
int export_xlsx(const struct model *m, struct buf *out, struct err *err);
