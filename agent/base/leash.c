/* leash - how: /proc/thread-self/children names those to end, until wait says that none is left. */
#include "agent/base/leash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND_MS      20
#define ROUNDS_POLITE 25  /* with TERM */
#define ROUNDS_MAX    250 /* then KILL; a process that cannot be killed is left */
#define LIST_BYTES    4096

struct hold {
	pid_t program;
	int status;
	bool ended;
};

static void make_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

bool leash_prepare(pid_t parent)
{
	sigset_t set;

	make_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return getppid() == parent;
}

void leash_wear(void)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* False when there is no child any more. */
static bool reap(struct hold *h)
{
	int status;
	pid_t got;

	while ((got = waitpid(-1, &status, WNOHANG)) > 0) {
		if (got != h->program)
			continue;
		h->status = status;
		h->ended = true;
	}
	return got == 0 || errno != ECHILD;
}

static void signal_children(int sig)
{
	char list[LIST_BYTES];
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, list, sizeof list);
	pid_t pid = 0;

	if (fd >= 0)
		close(fd);
	/* a number that was cut at the end of the list comes again in the next round */
	for (ssize_t i = 0; i < n; i++) {
		if (list[i] >= '0' && list[i] <= '9') {
			pid = pid * 10 + (list[i] - '0');
			continue;
		}
		if (pid > 1)
			kill(pid, sig);
		pid = 0;
	}
}

static void end_all(struct hold *h)
{
	const struct timespec pause = {0, ROUND_MS * 1000000L};

	kill(-h->program, SIGTERM);
	kill(-h->program, SIGCONT);
	for (int round = 0; round < ROUNDS_MAX && reap(h); round++) {
		const int sig = round < ROUNDS_POLITE ? SIGTERM : SIGKILL;

		signal_children(sig);
		kill(-h->program, sig);
		nanosleep(&pause, NULL);
	}
}

/* As the program did, so that who waits for us sees its end. */
__attribute__((noreturn)) static void end_alike(int status)
{
	const struct rlimit none = {0, 0};
	sigset_t all;

	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	kill(getpid(), WTERMSIG(status));
	_exit(128 + WTERMSIG(status));
}

void leash_hold(pid_t program)
{
	struct hold h = {.program = program};
	struct timespec patience = {
		LEASH_PATIENCE_MS / 1000, (LEASH_PATIENCE_MS % 1000) * 1000000L};
	bool ending = false;
	sigset_t set;

	make_set(&set);
	while (reap(&h) && !h.ended) {
		const int sig =
			ending ? sigtimedwait(&set, NULL, &patience) : sigwaitinfo(&set, NULL);

		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP) {
			kill(-program, SIGTERM);
			kill(-program, SIGCONT);
			ending = true;
		} else if (sig < 0 && errno == EAGAIN) {
			kill(-program, SIGKILL);
			kill(program, SIGKILL);
		}
	}
	end_all(&h);
	end_alike(h.status);
}
