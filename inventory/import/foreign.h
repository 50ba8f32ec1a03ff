/*
 * foreign - what other systems know of a site, to a model and back. FOREIGN.md says field by field.
 *
 * All or nothing, as import.h: every error of all files in one pass, with file, line,
 * column and hint. What the model cannot hold, what was changed and what had to be
 * assumed is told in a report, never dropped in silence.
 */
#pragma once

#include "inventory/import/import.h"

enum foreign_format {
	FOREIGN_YAML,
	FOREIGN_NETBOX,
	FOREIGN_OPENDCIM,
	FOREIGN_XCAT,
	FOREIGN_CSV,
	FOREIGN_N
};
extern const char *const FOREIGN_FORMATS[]; /* their words, NULL-terminated */

enum loss_kind {
	LOSS_DROPPED, /* the model has no place for it */
	LOSS_CHANGED, /* carried, but not as it was */
	LOSS_ASSUMED, /* the source does not say it */
	LOSS_N
};
extern const char *const LOSS_KINDS[];

struct loss {
	enum loss_kind kind;
	const char *noun, *field; /* "devices", "asset_tag" */
	size_t rows;
	const char *why; /* "" when there is nothing to say */
};
struct losses {
	struct arena *arena; /* made on first use */
	struct vec(struct loss) list;
};
void losses_done(struct losses *l);
/* Counts one row; why of the first is kept. */
void loss_add(struct losses *l, enum loss_kind kind, const char *noun, const char *field,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Lines such as "not carried: devices.asset_tag (12 rows)". */
void losses_format(const struct losses *l, struct buf *out);
const struct loss *losses_find(const struct losses *l, const char *noun, const char *field);

struct foreign_opts {
	enum foreign_format format;
	const char *map;  /* path of the mapping file; NULL */
	const char *site; /* which one, or what to call it; NULL */
	struct buf *text; /* gets a site file of ours as it was read; NULL */
};

/* path: a file or a folder. errors and losses begin as {0}. */
int foreign_import(const char *path, const struct foreign_opts *o, struct model **out,
	struct err_list *errors, struct losses *losses);

/* --- export --- */

enum export_format {
	EXPORT_YAML,
	EXPORT_NETBOX,
	EXPORT_ANSIBLE,
	EXPORT_ANSIBLE_YAML,
	EXPORT_PROMETHEUS,
	EXPORT_CSV,
	EXPORT_XLSX,
	EXPORT_N
};
extern const char *const EXPORT_FORMATS[];

struct export_file {
	const char *name; /* "racks.csv"; "" when the format is one file */
	struct buf text;
};
struct export_files vec(struct export_file);
void export_files_done(struct export_files *f);
/* Whether the format is a folder of files. */
bool export_is_folder(enum export_format format);
int foreign_export(const struct model *m, enum export_format format, struct export_files *out,
	struct losses *losses, struct err *err);
