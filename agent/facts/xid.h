/*
 * xid - lines of the kernel's log that tell of a GPU, or a switch between GPUs, that is not well.
 *
 * Those of the driver with a number ("NVRM: Xid (PCI:0000:3b:00): 79, ...", "SXid ... : 12028,
 * ...") and those without one.
 */
#pragma once

#include "agent/base/str.h"

#include <stdint.h>

struct xid {
	struct str text; /* the line without the head of its record */
	struct str slot; /* "0000:3b:00", empty: not told */
	int64_t code;    /* -1: it has none */
	bool of_switch;  /* SXid */
};

/* False: the line tells of no such thing. */
bool xid_parse(struct str line, struct xid *out);
