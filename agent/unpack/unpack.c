/* unpack - the parent's half: it forks the child, feeds it, and reads its one verdict. */
#include "agent/unpack/unpack.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/unpack/unpack_priv.h"
#include "agent/wire/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define STALL_SECONDS 300 /* a disk that takes longer than this for one block is broken */

struct unpack {
	pid_t pid;
	int feed, report;
	bool gave_up; /* the child reads no more */
};

/* The child: a verdict into its report, nothing when all is well. */
__attribute__((noreturn)) static void be_child(
	int in, int dirfd, int report, const struct manifest *m)
{
	struct err why = {0};
	uint64_t largest = 0;
	for (unsigned i = 0; i < m->n_files; i++)
		largest = m->files[i].size > largest ? m->files[i].size : largest;
	int rc = confine_descriptors(in, dirfd, report, &why);
	if (!rc) {
		report = 5;
		rc = confine_process(largest, m->bytes, &why);
	}
	if (!rc)
		rc = extract_all(3, 4, m, &why);
	if (rc && write(report, &why, sizeof why) != (ssize_t)sizeof why)
		_exit(2);
	_exit(rc ? 1 : 0);
}

static int start_child(
	struct unpack *u, int in, int dirfd, const struct manifest *m, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	u->pid = fork();
	if (u->pid == 0)
		be_child(in, dirfd, ends[1], m);
	int sys = errno;
	close(ends[1]);
	u->report = ends[0];
	return u->pid < 0 ? err_sys(err, sys, "cannot start the unpacking child") : 0;
}

static void reap(struct unpack *u, int *status)
{
	while (u->pid > 0 && waitpid(u->pid, status, 0) < 0 && errno == EINTR)
		;
	u->pid = -1;
}

static void release(struct unpack *u)
{
	mem_close_fd(&u->feed);
	mem_close_fd(&u->report);
	free(u);
}

static struct unpack *make(void)
{
	struct unpack *u = xcalloc(1, sizeof *u);
	u->pid = u->feed = u->report = -1;
	return u;
}

/* What came from the child is believed no more than the archive itself. */
static int adopt(struct err *why, struct err *err)
{
	why->file[sizeof why->file - 1] = '\0';
	why->excerpt[sizeof why->excerpt - 1] = '\0';
	why->msg[sizeof why->msg - 1] = '\0';
	why->hint[sizeof why->hint - 1] = '\0';
	if (why->code < E_SYNTAX || why->code >= E_MAX || why->fault > FAULT_US || !why->msg[0])
		return err_set(err, E_INTERNAL, "the unpacking child gave no clear verdict");
	if (err)
		*err = *why;
	return -(int)why->code;
}

static int judge_end(int status, struct err *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGXFSZ))
		return err_set(err, E_LIMIT, "the archive takes more %s than its manifest allows",
			WTERMSIG(status) == SIGXCPU ? "time" : "room");
	if (WIFSIGNALED(status))
		return err_set(err, E_VERIFY,
			"the unpacking child died from signal %d: no archive "
			"of ours does that",
			WTERMSIG(status));
	return err_set(err, E_INTERNAL, "the unpacking child ended with status %d",
		WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Waits for the verdict; a child that gives none in time is killed. */
static int await(struct unpack *u, struct err *err)
{
	struct err why;
	struct pollfd p = {.fd = u->report, .events = POLLIN};
	int status = 0, n;
	do
		n = poll(&p, 1, STALL_SECONDS * 1000);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		kill(u->pid, SIGKILL);
		reap(u, &status);
		return err_set(err, E_TIMEOUT, "unpacking did not end within %d s", STALL_SECONDS);
	}
	ssize_t got = read(u->report, &why, sizeof why);
	reap(u, &status);
	return got == (ssize_t)sizeof why ? adopt(&why, err) : judge_end(status, err);
}

int unpack_files(int from, int dirfd, const struct manifest *m, struct err *err)
{
	struct unpack *u = make();
	int rc = start_child(u, from, dirfd, m, err);
	if (!rc)
		rc = await(u, err);
	release(u);
	return rc;
}

int unpack_start(int dirfd, const struct manifest *m, struct unpack **out, struct err *err)
{
	int pair[2];
	struct timeval stall = {.tv_sec = STALL_SECONDS};
	/* a socket, since a pipe whose reader is gone would raise SIGPIPE */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(err, errno, "cannot make a pair of sockets");
	struct unpack *u = make();
	u->feed = pair[0];
	int rc = 0;
	if (setsockopt(u->feed, SOL_SOCKET, SO_SNDTIMEO, &stall, sizeof stall))
		rc = err_sys(err, errno, "cannot set up a socket");
	if (!rc)
		rc = start_child(u, pair[1], dirfd, m, err);
	close(pair[1]);
	if (rc)
		release(u);
	else
		*out = u;
	return rc;
}

int unpack_add(struct unpack *u, struct str bytes, struct err *err)
{
	while (bytes.n && !u->gave_up) {
		ssize_t put = send(u->feed, bytes.p, bytes.n, MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && (errno == EPIPE || errno == ECONNRESET)) {
			u->gave_up = true;
			break;
		}
		if (put < 0 && errno == EAGAIN)
			return err_set(
				err, E_TIMEOUT, "unpacking stands still for %d s", STALL_SECONDS);
		if (put < 0)
			return err_sys(err, errno, "cannot feed the unpacking child");
		bytes = str_from(bytes, (size_t)put);
	}
	return 0;
}

int unpack_finish(struct unpack *u, struct err *err)
{
	mem_close_fd(&u->feed);
	u->feed = -1;
	int rc = await(u, err);
	release(u);
	return rc;
}

void unpack_cancel(struct unpack *u)
{
	int status;
	if (!u)
		return;
	kill(u->pid, SIGKILL);
	reap(u, &status);
	release(u);
}
