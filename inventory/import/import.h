/*
 * import - a site file (YAML) to a model, and back.
 *
 * All or nothing: a model only when there is no error. Every error of the file is
 * told in one pass, up to IMPORT_ERRORS_MAX, each with its place, the line and a
 * hint. The format is in README.md here. Input is capped by YAML_CAPS_SITE.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "inventory/model/model.h"

struct yaml_doc;

#define IMPORT_ERRORS_MAX 50
#define EXPORT_MAX        ((size_t)64 << 20)

struct err_list {
	struct vec(struct err) list; /* the first IMPORT_ERRORS_MAX, by line */
	unsigned total;              /* all there were */
};

void err_list_done(struct err_list *e);

/* 0 with *out, or the first error's code with errors filled (start it with {0}). */
int import_site(const char *path, struct model **out, struct err_list *errors);
/* The same, and the file's bytes in text (which is begun here) when it could be read. */
int import_site_read(
	const char *path, struct buf *text, struct model **out, struct err_list *errors);
int import_site_text(
	const char *name, struct str text, struct model **out, struct err_list *errors);
/* A tree that somebody else made; errors may hold some already, then there is no model. */
int import_site_doc(const struct yaml_doc *doc, struct model **out, struct err_list *errors);

/*
 * Canonical YAML: importing it gives the same model, and exporting that the same
 * bytes. buf's cap should be EXPORT_MAX; look at buf_ok.
 */
void export_site(const struct model *m, struct buf *out);
