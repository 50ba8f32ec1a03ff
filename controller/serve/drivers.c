#include "controller/serve/drivers.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/log.h"
#include "controller/rollout/world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOP_MOST (20 * CLOCK_SEC)

extern char **environ;

/* Its lines go where ours do; what it prints for people is nobody's here. */
static int start(struct store *s, struct arena *a, const char *run, pid_t *pid, struct err *err)
{
	const char *const words[] = {"stoika", "--db", store_path(s), "run", "resume", run, NULL};
	char *argv[sizeof words / sizeof *words] = {NULL};
	posix_spawn_file_actions_t files;
	int rc;

	for (size_t i = 0; words[i]; i++)
		argv[i] = arena_strdup(a, words[i]);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawn(pid, "/proc/self/exe", &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return rc == 0 ? 0 : err_sys(err, rc, "cannot start a driver of rollout '%s'", run);
}

int drivers_start(struct drivers *d, struct store *s, struct arena *a, struct err *err)
{
	const char **runs;
	size_t n;
	int rc = rollout_unfinished(s, a, &runs, &n, err);

	*d = (struct drivers){0};
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (d->n == DRIVERS_MAX) {
			log_warn("wait", "run", runs[i], "why", "too many rollouts are driven");
			continue;
		}
		rc = start(s, a, runs[i], &d->at[d->n].pid, err);
		if (rc < 0)
			break;
		snprintf(d->at[d->n].run, sizeof d->at[d->n].run, "%s", runs[i]);
		log_info("drive", "run", runs[i]);
		d->n++;
	}
	return rc;
}

static bool reap(struct drivers *d, unsigned i)
{
	int status = 0;
	char code[16];

	if (d->at[i].pid == 0 || waitpid(d->at[i].pid, &status, WNOHANG) != d->at[i].pid)
		return d->at[i].pid == 0;
	d->at[i].pid = 0;
	snprintf(code, sizeof code, "%d",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	log_info("driven", "run", d->at[i].run, "status", code);
	return true;
}

void drivers_poll(struct drivers *d)
{
	for (unsigned i = 0; i < d->n; i++)
		(void)reap(d, i);
}

void drivers_stop(struct drivers *d)
{
	const int64_t until = clock_mono() + STOP_MOST;
	bool left = true;

	for (unsigned i = 0; i < d->n; i++)
		if (d->at[i].pid > 0)
			kill(d->at[i].pid, SIGTERM);
	while (left && clock_mono() < until) {
		left = false;
		for (unsigned i = 0; i < d->n; i++)
			left = !reap(d, i) || left;
		if (left)
			clock_sleep(50 * CLOCK_MS);
	}
}
