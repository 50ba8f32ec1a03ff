/*
 * program - a child that runs beside us: started, looked at now and then, ended at its deadline.
 *
 * Its own process group, no input but the null device, both outputs kept up to a cap. At the
 * deadline TERM to the group, KILL two seconds later; what even that does not end is left.
 */
#pragma once

#include "agent/base/buf.h"

#include <sys/types.h>

struct err;

#define PROGRAM_OUT_MAX (64u << 20)
#define PROGRAM_ERR_MAX (64u << 10)

struct program {
	pid_t pid;   /* 0: none */
	int fds[2];  /* ours of its stdout and stderr, -1: closed */
	int64_t due; /* when it is signalled next */
	unsigned signals;
	bool ended, cut;     /* cut: it printed more than we keep */
	bool stopped;        /* it was ended at the deadline */
	int status;          /* of its exit, 128 + signal otherwise */
	struct buf out, err; /* until the next start */
};

void program_init(struct program *p);
/* Ends what runs, by KILL. */
void program_done(struct program *p);
/* argv[0] is looked up in PATH of env. deadline and now: monotonic ns. */
int program_start(struct program *p, const char *const *argv, const char *const *env,
	int64_t deadline, struct err *err);
bool program_runs(const struct program *p);
/* True once, when it has ended: out, err and status are there. Never waits. */
bool program_poll(struct program *p, int64_t now);
