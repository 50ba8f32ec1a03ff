/* signatures - what "wipefs --json" says, and what the first blocks of a device say themselves. */
#pragma once

#include "agent/base/json.h"

struct step_env;
struct err;

struct signature {
	char type[32], label[64], uuid[64];
};

/*
 * Adds each signature to out as "TYPE label 'L' uuid U", a line each with that indent; *n: how
 * many. E_SYNTAX, E_SCHEMA for what is not wipefs' answer.
 */
int signatures_read(
	struct str json, const char *indent, struct buf *out, unsigned *n, struct err *err);
/* The first whose type is given; false: none. */
bool signatures_find(struct str json, const char *type, struct signature *out);
/* ext2, ext3, ext4, xfs, btrfs, vfat or swap from the device's first bytes; false: none of these.
 */
bool signature_of(struct str head, struct signature *out);
#define SIGNATURE_HEAD (72u << 10)
