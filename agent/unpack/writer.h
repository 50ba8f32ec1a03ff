/*
 * writer - makes what an archive's entries ask for, below one descriptor.
 *
 * Parents are opened part by part without following links, and stay open while the next names lie
 * there too. Folders get their times and modes at the end, since filling them changes both.
 */
#pragma once

#include "agent/base/str.h"

struct err;
struct writer;

struct item {
	const char *name; /* relative, judged */
	uint32_t mode, uid, gid, mtime_ns;
	int64_t mtime;
	uint64_t device;
};

struct writer *writer_new(int dirfd, bool owners);
void writer_free(struct writer *w);
/* A file is opened, gets its bytes, and is closed. */
int writer_file(struct writer *w, const struct item *i, struct err *err);
int writer_add(struct writer *w, struct str bytes, struct err *err);
int writer_close(struct writer *w, const struct item *i, struct err *err);
int writer_folder(struct writer *w, const struct item *i, struct err *err);
int writer_link(struct writer *w, const struct item *i, const char *target, struct err *err);
int writer_hard(struct writer *w, const char *name, const char *target, struct err *err);
int writer_device(struct writer *w, const struct item *i, struct err *err);
int writer_finish(struct writer *w, struct err *err); /* the folders' attributes */
