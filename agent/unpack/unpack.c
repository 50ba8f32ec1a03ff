/* unpack - the parent's half: it forks the child, feeds it, and reads its one verdict. */
#include "agent/unpack/unpack.h"

#include "agent/base/buf.h"
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
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define STALL_SECONDS 300 /* a disk that takes longer than this for one block is broken */
#define SLOWEST       (2 << 20)

struct unpack {
	pid_t pid;
	int feed, report, seconds;
	bool gave_up; /* the child reads no more */
};

/* The child: its work, and a verdict into its report. */
__attribute__((noreturn)) static void be_child(struct job j)
{
	struct verdict v = {0};

	v.rc = confine_descriptors(&j, &v.why);
	if (!v.rc) {
		j.in = 3;
		j.target = 4;
		j.report = 5;
		v.rc = confine_process(&j, &v.why);
	}
	if (!v.rc)
		v.rc = j.work(&j, &v.result, &v.why);
	_exit(write(j.report, &v, sizeof v) == (ssize_t)sizeof v ? 0 : 2);
}

static int start_child(struct unpack *u, struct job *j, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	j->report = ends[1];
	u->seconds = j->seconds;
	u->pid = fork();
	if (u->pid == 0)
		be_child(*j);
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
static int adopt(struct verdict *v, struct tree_result *out, struct err *err)
{
	struct err *why = &v->why;

	v->result.sha256[HASH_HEX - 1] = '\0';
	if (v->rc == 0) {
		if (out)
			*out = v->result;
		return 0;
	}
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
static int await(struct unpack *u, struct tree_result *out, struct err *err)
{
	struct verdict v;
	struct pollfd p = {.fd = u->report, .events = POLLIN};
	int status = 0, n;
	do
		n = poll(&p, 1, u->seconds * 1000);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		kill(u->pid, SIGKILL);
		reap(u, &status);
		return err_set(err, E_TIMEOUT, "unpacking did not end within %d s", u->seconds);
	}
	ssize_t got = read(u->report, &v, sizeof v);
	reap(u, &status);
	return got == (ssize_t)sizeof v ? adopt(&v, out, err) : judge_end(status, err);
}

static int run_child(struct job *j, struct tree_result *out, struct err *err)
{
	struct unpack *u = make();
	int rc = start_child(u, j, err);
	if (!rc)
		rc = await(u, out, err);
	release(u);
	return rc;
}

static int work_files(const struct job *j, struct tree_result *out, struct err *err)
{
	(void)out;
	return extract_all(j->in, j->target, j->manifest, err);
}

static int work_tree(const struct job *j, struct tree_result *out, struct err *err)
{
	return tree_all(j->in, j->target, j->policy, out, err);
}

static int work_peek(const struct job *j, struct tree_result *out, struct err *err)
{
	(void)out;
	return peek_all(j->in, j->target, err);
}

static struct job job_files(int from, int dirfd, const struct manifest *m)
{
	struct job j = {.in = from, .target = dirfd, .manifest = m, .total = m->bytes};

	j.work = work_files;
	j.seconds = STALL_SECONDS;
	for (unsigned i = 0; i < m->n_files; i++)
		j.largest = m->files[i].size > j.largest ? m->files[i].size : j.largest;
	return j;
}

/* A large archive takes its time; a slow disk writes this many bytes a second at least. */
static int seconds_for(int from)
{
	struct stat st;

	if (fstat(from, &st) < 0 || st.st_size < 0)
		return STALL_SECONDS;
	return STALL_SECONDS + (int)(st.st_size / SLOWEST < 86400 ? st.st_size / SLOWEST : 86400);
}

int unpack_files(int from, int dirfd, const struct manifest *m, struct err *err)
{
	struct job j = job_files(from, dirfd, m);

	return run_child(&j, NULL, err);
}

int unpack_tree(
	int from, int dirfd, const struct tree_policy *p, struct tree_result *out, struct err *err)
{
	const uint64_t bytes = p->bytes ? p->bytes : TREE_BYTES_MAX;
	struct job j = {.in = from,
		.target = dirfd,
		.policy = p,
		.largest = bytes,
		.total = bytes,
		.seconds = seconds_for(from),
		.work = work_tree};

	return run_child(&j, out, err);
}

int unpack_peek(int from, struct buf *out, struct err *err)
{
	AUTO_FD seen = memfd_create("peek", MFD_CLOEXEC);
	struct job j = {.in = from,
		.target = seen,
		.largest = out->cap,
		.total = TREE_BYTES_MAX,
		.seconds = seconds_for(from),
		.work = work_peek};
	int rc;

	if (seen < 0)
		return err_sys(err, errno, "cannot make a file in memory");
	rc = run_child(&j, NULL, err);
	if (rc < 0)
		return rc;
	if (lseek(seen, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "cannot read what the child saw");
	for (;;) {
		char *p = buf_room(out, 65536);
		const ssize_t n = p ? read(seen, p, 65536) : -1;

		if (!p)
			return err_set(err, E_LIMIT, "the archive's JSON files are too large");
		if (n <= 0)
			return n < 0 ? err_sys(err, errno, "cannot read what the child saw") : 0;
		buf_grew(out, (size_t)n);
	}
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
	if (!rc) {
		struct job j = job_files(pair[1], dirfd, m);

		rc = start_child(u, &j, err);
	}
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
	int rc = await(u, NULL, err);
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
