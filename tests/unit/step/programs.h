/*
 * programs - copies a program of this machine, with the libraries it needs, into a throw-away root.
 *
 * So that useradd or sh can really be run there by chroot.
 */
#pragma once

#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "tests/unit/step/tree.h"

static inline void programs_copy(const struct tree *t, const char *from, const char *to)
{
	char parent[512];
	struct err err;
	const int fd = open(from, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("this machine has no %s", from);
	snprintf(parent, sizeof parent, "%s", to);
	*strrchr(parent, '/') = '\0';
	tree_mkdir(t, parent);
	if (!tree_has(t, to) && fs_replace_from(t->env.root, to, fd, 0755, 0, 0, &err) < 0)
		fail_msg("cannot copy %s: %s", from, err.msg);
	close(fd);
}

/* The path in a line of ldd: "libc.so.6 => /lib/libc.so.6 (0x...)" or "/lib64/ld.so (0x...)". */
static inline void programs_copy_library(const struct tree *t, struct str line)
{
	const size_t slash = str_find(line, '/');
	char path[512];

	if (slash == STR_NONE)
		return;
	line = str_from(line, slash);
	snprintf(path, sizeof path, STR_FMT, STR_ARG(str_first(line, str_find(line, ' '))));
	programs_copy(t, path, path);
}

static inline void programs_add(const struct tree *t, const char *from, const char *to)
{
	const char *const argv[] = {"ldd", from, NULL};
	const struct proc p = {.argv = argv};
	struct proc_result res;
	struct str rest, line;

	programs_copy(t, from, to);
	assert_int_equal(proc_run(&p, &res, NULL), 0);
	rest = buf_str(&res.out);
	while (str_line(&rest, &line))
		programs_copy_library(t, line);
	proc_result_done(&res);
}

/* A script for the tree's own /bin/sh. */
static inline void programs_script(const struct tree *t, const char *name, const char *text)
{
	char path[512];

	tree_write(t, name, text);
	tree_path(t, name, path);
	assert_int_equal(chmod(path, 0755), 0);
}
