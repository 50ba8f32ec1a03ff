/* catalog_priv - what the files of the catalogue share: the reader's state. */
#pragma once

#include "agent/base/yaml.h"
#include "inventory/catalog/catalog.h"

#define CATALOG_ENTRIES_MAX 10000
#define CATALOG_FILES_MAX   256

struct catalog_loader {
	struct catalog *c;
	const struct yaml_doc *doc;
	struct catalog_faults faults;
	unsigned total; /* faults in all */
};

/* The sections of one parsed file; sources first, over all files. */
void catalog_read_sources(struct catalog_loader *l);
void catalog_read_entries(struct catalog_loader *l);
/* A fault at a node; hint may be NULL. */
void catalog_fault(struct catalog_loader *l, const struct yaml_node *at, enum ec code,
	const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
