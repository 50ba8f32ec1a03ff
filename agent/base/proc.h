/*
 * proc - run one program and say how it ended.
 *
 * posix_spawn into its own process group, default signals, no inherited
 * descriptors but 0, 1, 2; waits by pidfd; at the deadline TERM to the group,
 * KILL after two seconds (four with leave_none), and what even that does not end
 * is left after two more. Never a shell: argv is the vector, argv[0] is looked
 * up in PATH of the child's environment unless it holds a '/'.
 */
#pragma once

#include "agent/base/buf.h"

#define PROC_OUTPUT_MAX (4u << 20) /* per stream; of more the beginning is kept and the end */
#define PROC_LAST_MAX   2048u      /* that end, behind a mark of what was cut */

struct err;

struct proc {
	const char *const *argv; /* NULL-terminated */
	const char *const *env;  /* NULL: PROC_ENV_CLEAN */
	const char *cwd;         /* NULL: "/" */
	const char *root;        /* NULL, or chroot there first (then a fork-and-exec is used) */
	struct str input;        /* stdin; empty: /dev/null */
	int64_t timeout;         /* nanoseconds; 0: none */
	bool merge;              /* stderr goes where stdout goes */
	bool leave_none;         /* what it leaves running behind is ended with it; see leash.h */
	/* Called per whole line of stdout/stderr as it comes, besides capture; may be NULL. */
	void (*line)(void *ctx, bool is_stderr, struct str line);
	void *ctx;
};

enum proc_end {
	PROC_EXITED,
	PROC_SIGNALED,
	PROC_TIMED_OUT
};

struct proc_result {
	enum proc_end end;
	int status; /* exit status or signal number */
	bool truncated;
	struct buf out, err; /* captured */
	int64_t took;
};

extern const char *const PROC_ENV_CLEAN[]; /* PATH with sbin, LC_ALL=C.UTF-8, HOME=/ */

/* 0 when the program was run, whatever its end; otherwise it could not be started. */
int proc_run(const struct proc *p, struct proc_result *res, struct err *err);
void proc_result_done(struct proc_result *res);
/* True for exit status 0. */
bool proc_ok(const struct proc_result *res);
/* Sets err to E_REMOTE "'apt-get' failed with status 100: <last lines of stderr>" and returns it.
 */
int proc_fail(const struct proc *p, const struct proc_result *res, struct err *err);
