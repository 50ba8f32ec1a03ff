/* unpack_priv - the parts of the child: its walls (confine.c) and its work. */
#pragma once

#include "agent/base/err.h"
#include "agent/unpack/tree.h"

struct buf;
struct manifest;
struct archive;

/* What a child of any kind is started with. */
struct job {
	int in, target, report; /* target: a folder, or the file that a look is written to */
	const struct manifest *manifest;
	const struct tree_policy *policy;
	uint64_t largest, total; /* limits: of one file, of all */
	int seconds;             /* without a verdict for so long it is given up */
	int (*work)(const struct job *j, struct tree_result *out, struct err *err);
};

/* What the child says at its end. */
struct verdict {
	int rc;
	struct err why;
	struct tree_result result;
};

/* Leaves only in, target and report open, as 3, 4 and 5, and enters a target that is a folder. */
int confine_descriptors(const struct job *j, struct err *err);
/* Takes every privilege that writing below descriptor 4 does not need. */
int confine_process(const struct job *j, struct err *err);

/* Reads the archive from in and writes below dirfd. */
int extract_all(int in, int dirfd, const struct manifest *m, struct err *err);
int tree_all(
	int in, int dirfd, const struct tree_policy *p, struct tree_result *out, struct err *err);
int peek_all(int in, int to, struct err *err);

/* A reader of tar with nothing else: each format more is code that hostile bytes can reach. */
struct archive *archive_reader(void);
int archive_fail(struct archive *a, struct err *err);
int archive_refuse(const char *name, const char *why, struct err *err);
/* Why a name is no plain relative path, or NULL. */
const char *archive_judge_name(const char *name);
/* True when a link at name that points to target stays below the top. */
bool archive_link_stays(const char *name, const char *target);
