/*
 * module_version - which version of a kernel module lies on the disk for a kernel, without modinfo.
 *
 * The file is the one that modules.dep names, else the first in the usual folders. What is in it is
 * read from its section .modinfo; of a compressed one only by modinfo, which is the caller's.
 */
#pragma once

#include "agent/base/str.h"

#include <stddef.h>

#define MODULE_VERSION_MAX 64

enum module_found {
	MODULE_NONE,
	MODULE_PACKED, /* there, but compressed or without a version */
	MODULE_READ
};

enum module_found module_version(
	int root, const char *release, const char *name, char out[static MODULE_VERSION_MAX]);
/* The value of key in text, whose "key=value" entries end in NUL or newline; empty without it. */
struct str module_info_find(struct str text, const char *key);
/* The bytes of section .modinfo of an ELF file for 64 bits; false when there is none. */
bool module_info_section(struct str file, struct str *out);
