/*
 * evidence - what a node can tell of a failure, one text per source, and index.txt last.
 *
 * Texts are UTF-8 without NUL, of long ones the end with a mark, at most EVIDENCE_TEXT_MAX bytes
 * and EVIDENCE_FILES_MAX of them, EVIDENCE_ALL_MAX together. Names are plain (letters, digits, '.',
 * '_', '-'). Takes as long as the programs do that are asked, EVIDENCE_TIMEOUT each at most.
 */
#pragma once

#include "agent/base/str.h"

#include <stdint.h>

#define EVIDENCE_TEXT_MAX  (300u << 10)
#define EVIDENCE_FILES_MAX 16 /* index.txt is one of them */
#define EVIDENCE_ALL_MAX   (4u << 20)
#define EVIDENCE_TIMEOUT   (10 * INT64_C(1000000000))

struct evidence_env {
	int root;
	const char *root_path; /* programs run in it by chroot unless it is "/" */
	int state;             /* of the agent, for the journal of its last run; -1: none */
	const char *self;      /* path of this program, for the GPUs' facts; NULL: no GPUs */
	/* One text; and before each source, with name NULL, for whoever must say that we live. */
	void (*give)(void *ctx, const char *name, struct str text);
	void *ctx;
};

void evidence_gather(const struct evidence_env *env);
