/*
 * dpkg - answers from the text of dpkg's status file.
 *
 * An index of where each package's record begins is made once; a record is
 * parsed when asked for, and only as far as needed.
 */
#pragma once

#include "agent/base/str.h"

struct dpkg; /* a status file's text with its index */

struct dpkg_record {
	struct str name, arch, version;
	struct str want;  /* "install", "hold", "deinstall" ... */
	struct str error; /* "ok" or "reinstreq" */
	struct str state; /* "installed", "half-configured", "config-files" ... */
};

/* What a recipe names: "name", "name:arch", "name=version", "name:arch=version". */
struct dpkg_spec {
	struct str name, arch, version; /* empty: not given */
};

bool dpkg_spec_parse(struct str text, struct dpkg_spec *out);
/* text is borrowed and must outlive it; at most 4 GiB. */
struct dpkg *dpkg_new(struct str text);
void dpkg_free(struct dpkg *d);
/* arch empty: the native one (or "all"). False when dpkg does not know it. */
bool dpkg_find(const struct dpkg *d, struct str name, struct str arch, struct dpkg_record *out);
/* The first package whose installation was left half-way. */
bool dpkg_find_broken(const struct dpkg *d, struct dpkg_record *out);
/* All records in turn: *at begins as 0. False after the last. */
bool dpkg_next(const struct dpkg *d, size_t *at, struct dpkg_record *out);
bool dpkg_is_installed(const struct dpkg_record *r);
/* "half-installed", "unpacked", "half-configured" or "triggers-*", or a reinstallation is due. */
bool dpkg_is_broken(const struct dpkg_record *r);
