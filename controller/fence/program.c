/* program - how: non-blocking pipes; the zombie is kept until the group was signalled. */
#include "controller/fence/program.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_CHUNK  (32u << 10)
#define READ_ROUNDS 256 /* chunks in one look: a flood must not hold us */
#define KILL_AFTER  (2 * CLOCK_SEC)
#define REAP_TRIES  100
#define REAP_PAUSE  (5 * CLOCK_MS)

/* posix_spawn takes char *const[] and changes nothing. */
union vector {
	const char *const *given;
	char *const *wanted;
};

void program_init(struct program *p)
{
	*p = (struct program){.fds = {-1, -1}};
	buf_init(&p->out, PROGRAM_OUT_MAX);
	buf_init(&p->err, PROGRAM_ERR_MAX);
}

static void close_pipes(struct program *p)
{
	for (int i = 0; i < 2; i++) {
		mem_close_fd(&p->fds[i]);
		p->fds[i] = -1;
	}
}

static const char *path_of(const char *const *env)
{
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return "/usr/sbin:/usr/bin:/sbin:/bin";
}

static int look_up(
	const char *name, const char *const *env, char path[static PATH_MAX], struct err *err)
{
	struct str dirs = str_of(path_of(env)), dir;
	struct stat st;

	if (strchr(name, '/')) {
		const int n = snprintf(path, PATH_MAX, "%s", name);

		return n < PATH_MAX ? 0 : err_sys(err, ENAMETOOLONG, "cannot run '%s'", name);
	}
	while (*name && str_next(&dirs, ':', &dir)) {
		const int n = snprintf(path, PATH_MAX, STR_FMT "/%s", STR_ARG(dir), name);

		if (dir.n && n < PATH_MAX && !stat(path, &st) && S_ISREG(st.st_mode) &&
			st.st_mode & 0111)
			return 0;
	}
	err_set(err, E_NOTFOUND, "no program '%s' in PATH", name);
	return err_hint(err,
		"install it here, or say by the policy's fence.prefix where it runs, such as "
		"[ssh, HEAD]");
}

static int fill(const int give[static 3], posix_spawn_file_actions_t *fa, posix_spawnattr_t *at)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	int rc = 0;
	for (int i = 0; !rc && i < 3; i++)
		rc = posix_spawn_file_actions_adddup2(fa, give[i], i);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(fa, 3);
	if (!rc)
		rc = posix_spawnattr_setflags(
			at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(at, 0);
	posix_spawnattr_setsigdefault(at, &all);
	posix_spawnattr_setsigmask(at, &none);
	return rc;
}

static int spawn(struct program *p, const char *path, const char *const *argv,
	const char *const *env, const int give[static 3])
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	union vector args = {argv}, vars = {env};

	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	int sys = fill(give, &fa, &at);
	if (!sys)
		sys = posix_spawn(&p->pid, path, &fa, &at, args.wanted, vars.wanted);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	return sys;
}

static int open_pipe(int *ours, int *theirs, struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	*ours = ends[0];
	*theirs = ends[1];
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK))
		return err_sys(err, errno, "cannot set up a pipe");
	return 0;
}

int program_start(struct program *p, const char *const *argv, const char *const *env,
	int64_t deadline, struct err *err)
{
	char path[PATH_MAX];

	buf_clear(&p->out);
	buf_clear(&p->err);
	p->signals = 0;
	p->ended = p->cut = p->stopped = false;
	p->status = -1;
	int rc = look_up(argv[0], env, path, err);
	if (rc)
		return rc;
	AUTO_FD null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0)
		return err_sys(err, errno, "cannot open '/dev/null'");
	AUTO_FD out = -1;
	AUTO_FD errors = -1;
	rc = open_pipe(&p->fds[0], &out, err);
	if (!rc)
		rc = open_pipe(&p->fds[1], &errors, err);
	if (!rc) {
		const int give[3] = {null, out, errors};
		const int sys = spawn(p, path, argv, env, give);

		if (sys)
			rc = err_sys(err, sys, "cannot run '%s'", argv[0]);
	}
	if (rc) {
		p->pid = 0;
		close_pipes(p);
		return rc;
	}
	p->due = deadline;
	return 0;
}

bool program_runs(const struct program *p)
{
	return p->pid != 0;
}

/* What stands in one pipe now. */
static void take(struct program *p, int i)
{
	char chunk[READ_CHUNK];
	struct buf *sink = i ? &p->err : &p->out;

	for (int round = 0; p->fds[i] >= 0 && round < READ_ROUNDS; round++) {
		const ssize_t n = read(p->fds[i], chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			mem_close_fd(&p->fds[i]);
			p->fds[i] = -1;
			return;
		}
		const size_t room = sink->cap - sink->n;
		buf_add_str(sink, str_first((struct str){chunk, (size_t)n}, room));
		if (i == 0 && (size_t)n > room)
			p->cut = true;
	}
}

static bool has_ended(const struct program *p)
{
	siginfo_t info = {0};
	const int rc = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);

	return rc ? errno != EINTR : info.si_pid == p->pid;
}

/* The deadline has come: first TERM, then KILL; true when even that did not help. */
static bool signal_group(struct program *p, int64_t now)
{
	if (p->signals == 2)
		return true;
	p->stopped = true;
	kill(-p->pid, p->signals ? SIGKILL : SIGTERM);
	kill(-p->pid, SIGCONT);
	p->signals++;
	p->due = now + KILL_AFTER;
	return false;
}

static void finish(struct program *p)
{
	int status = 0;

	if (p->stopped)
		kill(-p->pid, SIGKILL);
	const pid_t got = waitpid(p->pid, &status, WNOHANG);
	p->status = got != p->pid         ? 255
		    : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					  : WEXITSTATUS(status);
	p->pid = 0;
	p->ended = true;
	close_pipes(p);
}

bool program_poll(struct program *p, int64_t now)
{
	if (!p->pid)
		return false;
	/* asked first, so that what it printed last is read behind its end */
	bool over = has_ended(p);
	take(p, 0);
	take(p, 1);
	if (!over && now >= p->due)
		over = signal_group(p, now);
	if (over)
		finish(p);
	return over;
}

void program_done(struct program *p)
{
	if (p->pid) {
		kill(-p->pid, SIGKILL);
		for (int i = 0; i < REAP_TRIES && waitpid(p->pid, NULL, WNOHANG) == 0; i++)
			clock_sleep(REAP_PAUSE);
	}
	p->pid = 0;
	close_pipes(p);
	buf_done(&p->out);
	buf_done(&p->err);
}
