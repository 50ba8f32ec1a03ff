/*
 * gather - one source of evidence: the end of a file, or what a program says, and its line in the
 * index. Kept apart from the list of sources, evidence.c.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/evidence/evidence.h"

#define GATHER_KERNEL (256u << 10)
#define GATHER_LOG    (128u << 10)
#define GATHER_INDEX  (64u << 10)

struct gathering {
	const struct evidence_env *env;
	struct buf index;
	unsigned files; /* given so far */
	size_t bytes;   /* of them */
};

/* Gives the last max bytes of text, from the beginning of a line, behind a mark of what is left out
 * there; before: bytes that are left out already. */
void gather_give(
	struct gathering *g, const char *name, struct str text, size_t max, uint64_t before);
/* A line of the index for what there is none of. */
void gather_miss(struct gathering *g, const char *name, const char *why);
/* The end of a file below the root. */
void gather_file(struct gathering *g, const char *name, const char *path, size_t max);
/* What a program prints, both streams; false (and why in the index) when it could not be asked. */
bool gather_ask(struct gathering *g, const char *name, const char *const *argv, struct buf *out);
void gather_program(struct gathering *g, const char *name, const char *const *argv);
/* Gives the index itself; nothing comes behind it. */
void gather_finish(struct gathering *g);
/* Units that failed with the last lines of each. */
void gather_failed_units(struct gathering *g, const char *name);
