/*
 * dpkg - answers from the text of dpkg's status file.
 *
 * Found by searching for the record's first line, not by parsing the whole: ten
 * packages of a 2 MB file take a fraction of a millisecond.
 */
#pragma once

#include "agent/base/str.h"

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
/* arch empty: the native one (or "all"). False when dpkg does not know it. */
bool dpkg_find(struct str status, struct str name, struct str arch, struct dpkg_record *out);
bool dpkg_is_installed(const struct dpkg_record *r);
/* "half-installed", "unpacked", "half-configured" or "triggers-*", or a reinstallation is due. */
bool dpkg_is_broken(const struct dpkg_record *r);
/* The first package whose installation was left half-way. */
bool dpkg_find_broken(struct str status, struct dpkg_record *out);
