/*
 * proc - how: stdin is a memfd, so that a child that does not read cannot stall us; the end is
 * waited for on a pidfd. When the program is gone, what stands in the pipes is read and no more:
 * a daemon it left behind may hold them open for ever.
 */
#include "agent/base/proc.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/leash.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_CHUNK  (32u << 10)
#define LINE_PIECE  (64u << 10) /* a longer line reaches the callback in pieces */
#define KILL_AFTER  (2 * CLOCK_SEC)
#define TICK_MS     20 /* without a pidfd (kernel before 5.3) */
#define TAIL_LINES  4
#define TAIL_BYTES  260
#define SHOWN_MAX   300 /* of it in a message */
#define MARK_MAX    64
#define DRAIN_ROUND 4096 /* chunks that may still come after the end: a grandchild may flood */

const char *const PROC_ENV_CLEAN[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LC_ALL=C.UTF-8",
	"HOME=/",
	NULL,
};

/* One pipe from the child. */
struct stream {
	int fd; /* -1 at its end */
	bool is_stderr;
	struct buf *sink;
	struct buf line; /* what has no newline yet */
	uint64_t cut;    /* bytes past the cap, the last of them in last */
	char last[PROC_LAST_MAX];
	size_t n_last;
};

/* The child and what it was given. */
struct child {
	pid_t pid, parent; /* the other: us */
	int pidfd;
	int give[3]; /* its 0, 1, 2 */
	struct stream stream[2];
	int64_t deadline; /* of the next signal; 0: none */
	int64_t patience; /* between TERM and KILL */
	bool timed_out, killed;
	bool given_up; /* not even KILL ended it: it hangs in the kernel */
};

/* How a forked child tells that it never became the program. */
struct exec_failure {
	int sys;
	char stage; /* 'r' root, 'd' folder, 'x' program */
};

static const char *env_path(const struct proc *p)
{
	const char *const *env = p->env ? p->env : PROC_ENV_CLEAN;
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return "/usr/sbin:/usr/bin:/sbin:/bin";
}

static bool is_program(int root, const char *path)
{
	struct stat st;
	if (root < 0 ? stat(path, &st) : fs_stat(root, path, true, &st, NULL))
		return false;
	return S_ISREG(st.st_mode) && st.st_mode & 0111;
}

/* Fills path with argv[0] as found in PATH, below the root if there is one. */
static int look_up(const struct proc *p, char path[static PATH_MAX], struct err *err)
{
	struct str dirs = str_of(env_path(p)), dir;
	const char *name = p->argv[0];
	if (strchr(name, '/')) {
		int n = snprintf(path, PATH_MAX, "%s", name);
		return n < PATH_MAX ? 0 : err_sys(err, ENAMETOOLONG, "cannot run '%s'", name);
	}
	AUTO_FD root = p->root ? open(p->root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (p->root && root < 0)
		return err_sys(err, errno, "cannot open root '%s'", p->root);
	while (*name && str_next(&dirs, ':', &dir)) {
		int n = snprintf(path, PATH_MAX, STR_FMT "/%s", STR_ARG(dir), name);
		if (dir.n && n < PATH_MAX && is_program(root, path))
			return 0;
	}
	err_set(err, E_NOTFOUND, "no program '%s' in %s", name, env_path(p));
	err_hint(err, "install the package that holds '%s'%s%s", name, p->root ? " in " : "",
		p->root ? p->root : "");
	return -E_NOTFOUND;
}

static int open_input(struct str input, struct err *err)
{
	if (!input.n) {
		int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return fd < 0 ? err_sys(err, errno, "cannot open '/dev/null'") : fd;
	}
	int fd = memfd_create("stdin", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot keep the input of a program");
	int rc = fs_write_all(fd, input, err);
	if (!rc && lseek(fd, 0, SEEK_SET) < 0)
		rc = err_sys(err, errno, "cannot rewind the input of a program");
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

static int open_pipe(struct stream *s, int *give, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	s->fd = ends[0];
	*give = ends[1];
	if (fcntl(s->fd, F_SETFL, O_NONBLOCK))
		return err_sys(err, errno, "cannot set up a pipe");
	return 0;
}

static void close_given(struct child *c)
{
	if (c->give[2] == c->give[1])
		c->give[2] = -1;
	for (int i = 0; i < 3; i++) {
		mem_close_fd(&c->give[i]);
		c->give[i] = -1;
	}
}

static void child_done(struct child *c)
{
	close_given(c);
	mem_close_fd(&c->pidfd);
	for (int i = 0; i < 2; i++) {
		mem_close_fd(&c->stream[i].fd);
		buf_done(&c->stream[i].line);
	}
}

static int child_init(
	struct child *c, const struct proc *p, struct proc_result *res, struct err *err)
{
	*c = (struct child){.pidfd = -1,
		.give = {-1, -1, -1},
		.stream = {{.fd = -1, .sink = &res->out},
			{.fd = -1, .sink = &res->err, .is_stderr = true}}};
	buf_init(&c->stream[0].line, LINE_PIECE);
	buf_init(&c->stream[1].line, LINE_PIECE);
	c->give[0] = open_input(p->input, err);
	if (c->give[0] < 0)
		return c->give[0];
	c->patience = p->leave_none ? 2 * KILL_AFTER : KILL_AFTER;
	int rc = open_pipe(&c->stream[0], &c->give[1], err);
	if (!rc && p->merge)
		c->give[2] = c->give[1];
	else if (!rc)
		rc = open_pipe(&c->stream[1], &c->give[2], err);
	return rc;
}

/* All of the spawn's settings; returns an errno as posix_spawn does. */
static int fill_actions(const struct child *c, const char *cwd, posix_spawn_file_actions_t *fa,
	posix_spawnattr_t *at)
{
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	int rc = 0;
	for (int i = 0; !rc && i < 3; i++)
		rc = posix_spawn_file_actions_adddup2(fa, c->give[i], i);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(fa, 3);
	if (!rc)
		rc = posix_spawn_file_actions_addchdir_np(fa, cwd);
	if (!rc)
		rc = posix_spawnattr_setflags(
			at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(at, 0);
	posix_spawnattr_setsigdefault(at, &all);
	posix_spawnattr_setsigmask(at, &none);
	return rc;
}

/*
 * posix_spawn wants char *const[] though it changes nothing; exec is declared the same way. The
 * union is the one place where this is granted.
 */
union vector {
	const char *const *given;
	char *const *wanted;
};

static int start_spawn(
	struct child *c, const struct proc *p, const char *path, const char *cwd, struct err *err)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	union vector argv = {p->argv}, env = {p->env ? p->env : PROC_ENV_CLEAN};
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	int sys = fill_actions(c, cwd, &fa, &at);
	if (!sys)
		sys = posix_spawn(&c->pid, path, &fa, &at, argv.wanted, env.wanted);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	if (!sys)
		return 0;
	if (access(cwd, X_OK))
		return err_sys(err, errno, "cannot run '%s' in folder '%s'", p->argv[0], cwd);
	return err_sys(err, sys, "cannot run '%s'", p->argv[0]);
}

/* Returns in the program's process only; the other one stays between it and us. */
static void put_on_leash(pid_t parent)
{
	if (!leash_prepare(parent))
		_exit(126);
	pid_t program = fork();
	if (program < 0)
		_exit(126);
	if (program > 0) {
		closefrom(0); /* with the end of the pipe that tells whether the program was run */
		leash_hold(program);
	}
	leash_wear();
}

/* Only calls that are safe after a fork. */
__attribute__((noreturn)) static void become_program(
	const struct child *c, const struct proc *p, const char *path, const char *cwd, int report)
{
	union vector argv = {p->argv}, env = {p->env ? p->env : PROC_ENV_CLEAN};
	struct exec_failure why = {.stage = 'x'};
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;
	setpgid(0, 0);
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++)
		dup2(c->give[i], i);
	report = dup2(report, 3);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	closefrom(4);
	if (p->leave_none)
		put_on_leash(c->parent);
	if (p->root && chroot(p->root))
		why.stage = 'r';
	else if (chdir(cwd))
		why.stage = 'd';
	else
		execve(path, argv.wanted, env.wanted);
	why.sys = errno;
	if (write(report, &why, sizeof why) < 0)
		_exit(126);
	_exit(127);
}

static int start_fork(
	struct child *c, const struct proc *p, const char *path, const char *cwd, struct err *err)
{
	int ends[2];
	struct exec_failure why;
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	c->parent = getpid();
	pid_t pid = fork();
	if (pid == 0)
		become_program(c, p, path, cwd, ends[1]);
	int sys = errno;
	close(ends[1]);
	ssize_t got = 0;
	if (pid > 0) {
		setpgid(pid, pid); /* as the child does: whoever is first */
		do
			got = read(ends[0], &why, sizeof why);
		while (got < 0 && errno == EINTR);
	}
	close(ends[0]);
	if (pid < 0)
		return err_sys(err, sys, "cannot start '%s'", p->argv[0]);
	if (got != (ssize_t)sizeof why) {
		c->pid = pid;
		return 0;
	}
	waitpid(pid, NULL, 0);
	if (why.stage == 'r')
		return err_sys(err, why.sys, "cannot enter root '%s'", p->root);
	const char *root = p->root ? p->root : "/";
	if (why.stage == 'd')
		return err_sys(err, why.sys, "cannot run '%s' in folder '%s' of root '%s'",
			p->argv[0], cwd, root);
	return err_sys(err, why.sys, "cannot run '%s' in root '%s'", p->argv[0], root);
}

static void pass_line(const struct proc *p, struct stream *s)
{
	p->line(p->ctx, s->is_stderr, buf_str(&s->line));
	buf_clear(&s->line);
}

/* Hands whole lines to the callback and keeps the rest. */
static void split_lines(const struct proc *p, struct stream *s, struct str got)
{
	while (got.n) {
		size_t at = str_find(got, '\n');
		bool whole = at != STR_NONE;
		struct str piece = whole ? str_first(got, at) : got;
		/* cut only when more of it comes: how the bytes were read must not matter */
		if (piece.n && s->line.n == LINE_PIECE)
			pass_line(p, s);
		size_t room = LINE_PIECE - s->line.n;
		if (piece.n > room) {
			piece = str_first(piece, room);
			whole = false;
		}
		buf_add_str(&s->line, piece);
		got = str_from(got, piece.n + (whole ? 1 : 0));
		if (whole)
			pass_line(p, s);
	}
}

/* What is past the cap: only its end is kept, for that is where programs say what is wrong. */
static void keep_last(struct stream *s, struct str got)
{
	s->cut += got.n;
	if (got.n > sizeof s->last)
		got = str_from(got, got.n - sizeof s->last);
	const size_t stays =
		s->n_last + got.n > sizeof s->last ? sizeof s->last - got.n : s->n_last;
	memmove(s->last, s->last + s->n_last - stays, stays);
	if (got.n)
		memcpy(s->last + stays, got.p, got.n);
	s->n_last = stays + got.n;
}

/* Reads one chunk. False when nothing more is there now. */
static bool take_chunk(const struct proc *p, struct stream *s, bool *truncated)
{
	char chunk[READ_CHUNK];
	ssize_t n = s->fd < 0 ? 0 : read(s->fd, chunk, sizeof chunk);
	if (n < 0)
		return errno == EINTR;
	if (n == 0) {
		mem_close_fd(&s->fd);
		s->fd = -1;
		return false;
	}
	struct str got = {chunk, (size_t)n};
	size_t room = PROC_OUTPUT_MAX - s->sink->n;
	*truncated |= got.n > room;
	buf_add_str(s->sink, str_first(got, room));
	keep_last(s, str_from(got, room < got.n ? room : got.n));
	if (p->line)
		split_lines(p, s, got);
	return true;
}

static void end_stream(const struct proc *p, struct stream *s, bool *truncated)
{
	for (int i = 0; i < DRAIN_ROUND && take_chunk(p, s, truncated); i++)
		;
	if (p->line && s->line.n)
		pass_line(p, s);
	if (s->cut > s->n_last)
		buf_addf(s->sink, "\n... %" PRIu64 " bytes cut here ...\n", s->cut - s->n_last);
	if (s->n_last)
		buf_add(s->sink, s->last, s->n_last);
}

/* The next signal is due: first TERM, then KILL, then nothing helps. */
static void signal_group(struct child *c)
{
	if (c->killed) {
		c->given_up = true;
		return;
	}
	kill(-c->pid, c->timed_out ? SIGKILL : SIGTERM);
	kill(-c->pid, SIGCONT); /* a stopped one could not hear it */
	c->killed = c->timed_out;
	c->deadline = clock_mono() + (c->killed ? KILL_AFTER : c->patience);
	c->timed_out = true;
}

/* True once the program has ended; it stays a zombie, so that its group's number stays ours. */
static bool has_ended(const struct child *c)
{
	siginfo_t info = {0};
	int rc = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	return rc ? errno != EINTR : info.si_pid == c->pid;
}

static void follow(struct child *c, const struct proc *p, bool *truncated)
{
	bool ended = false;
	while (!ended && !c->given_up) {
		struct pollfd polls[3] = {{.fd = c->stream[0].fd, .events = POLLIN},
			{.fd = c->stream[1].fd, .events = POLLIN},
			{.fd = c->pidfd, .events = POLLIN}};
		int wait = clock_left_ms(c->deadline);
		if (c->pidfd < 0 && (wait < 0 || wait > TICK_MS))
			wait = TICK_MS;
		int n = poll(polls, 3, wait);
		for (int i = 0; n > 0 && i < 2; i++)
			if (polls[i].revents)
				take_chunk(p, &c->stream[i], truncated);
		if (c->pidfd < 0 || (n > 0 && polls[2].revents))
			ended = has_ended(c);
		if (!ended && c->deadline && clock_mono() >= c->deadline)
			signal_group(c);
	}
	if (c->timed_out)
		kill(-c->pid, SIGKILL);
	end_stream(p, &c->stream[0], truncated);
	end_stream(p, &c->stream[1], truncated);
}

static void reap(const struct child *c, struct proc_result *res)
{
	int status = 0;
	pid_t got;
	do
		got = waitpid(c->pid, &status, c->given_up ? WNOHANG : 0);
	while (got < 0 && errno == EINTR);
	bool signaled = got == c->pid && WIFSIGNALED(status);
	res->end = signaled ? PROC_SIGNALED : PROC_EXITED;
	/* somebody else reaped it: there is no status, and that is no success */
	res->status = got != c->pid ? 255 : signaled ? WTERMSIG(status) : WEXITSTATUS(status);
	if (c->timed_out)
		res->end = PROC_TIMED_OUT;
}

int proc_run(const struct proc *p, struct proc_result *res, struct err *err)
{
	char path[PATH_MAX];
	struct child c;
	const char *cwd = p->cwd ? p->cwd : "/";
	int64_t start = clock_mono();
	*res = (struct proc_result){0};
	buf_init(&res->out, PROC_OUTPUT_MAX + PROC_LAST_MAX + MARK_MAX);
	buf_init(&res->err, PROC_OUTPUT_MAX + PROC_LAST_MAX + MARK_MAX);
	int rc = look_up(p, path, err);
	if (rc)
		return rc;
	rc = child_init(&c, p, res, err);
	if (!rc)
		rc = p->root || p->leave_none ? start_fork(&c, p, path, cwd, err)
					      : start_spawn(&c, p, path, cwd, err);
	if (!rc) {
		close_given(&c);
		c.pidfd = pidfd_open(c.pid, 0);
		c.deadline = p->timeout ? start + p->timeout : 0;
		follow(&c, p, &res->truncated);
		reap(&c, res);
	}
	child_done(&c);
	res->took = clock_mono() - start;
	if (rc)
		proc_result_done(res);
	return rc;
}

void proc_result_done(struct proc_result *res)
{
	buf_done(&res->out);
	buf_done(&res->err);
}

bool proc_ok(const struct proc_result *res)
{
	return res->end == PROC_EXITED && res->status == 0;
}

/* The last lines of text on one line, safe to print. */
static void add_tail(struct buf *out, struct str text)
{
	text = str_trim(text);
	if (text.n > TAIL_BYTES)
		text = str_from(text, text.n - TAIL_BYTES);
	size_t from = text.n;
	for (int lines = 0; from > 0; from--)
		if (text.p[from - 1] == '\n' && ++lines == TAIL_LINES)
			break;
	text = str_from(text, from);
	struct str line;
	for (const char *sep = ": "; str_line(&text, &line); sep = "; ") {
		buf_add_text(out, sep);
		buf_add_printable(out, str_trim(line));
	}
}

/* What is no text grows when it is made printable: the end is what must be seen. */
static void shorten(struct buf *tail)
{
	if (tail->n <= SHOWN_MAX)
		return;
	size_t from = tail->n - SHOWN_MAX;
	while (from < tail->n && (tail->p[from] & 0xC0) == 0x80)
		from++;
	buf_drop(tail, from);
	struct buf cut;
	buf_init(&cut, SHOWN_MAX + 16);
	buf_addf(&cut, ": ...%s", buf_text(tail));
	buf_done(tail);
	*tail = cut;
}

int proc_fail(const struct proc *p, const struct proc_result *res, struct err *err)
{
	AUTO_BUF tail;
	char span[24];
	buf_init(&tail, 4 * TAIL_BYTES + 64);
	add_tail(&tail, buf_str(res->err.n ? &res->err : &res->out));
	shorten(&tail);
	const char *name = p->argv[0], *why = buf_text(&tail);
	switch (res->end) {
	case PROC_TIMED_OUT:
		clock_format_span(p->timeout, span);
		return err_set(err, E_TIMEOUT, "'%s' was stopped after %s%s", name, span, why);
	case PROC_SIGNALED:
		return err_set(err, E_REMOTE, "'%s' died from signal %d%s", name, res->status, why);
	case PROC_EXITED:
		return err_set(
			err, E_REMOTE, "'%s' failed with status %d%s", name, res->status, why);
	}
	return err_set(err, E_INTERNAL, "'%s' ended in no known way", name);
}
