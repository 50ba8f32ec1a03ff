#include "agent/step/package_lock.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY (200 * INT64_C(1000000))
#define NAME_BYTES 64

/* The process that holds the file, 0 when none does, -1 when it cannot be told which. */
static pid_t holder_of(const struct step_env *env, const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	AUTO_FD fd = fs_open(env->root, path, O_RDONLY | O_NONBLOCK, 0, true, NULL);

	if (fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

static pid_t find_holder(const struct step_env *env, const char *const *paths, const char **path)
{
	for (; *paths; paths++) {
		const pid_t pid = holder_of(env, *paths);

		*path = *paths;
		if (pid != 0)
			return pid;
	}
	return 0;
}

/* The name of a program as it was started: a script's own rather than its interpreter's. */
static void name_of(pid_t pid, struct buf *out)
{
	char path[64], text[512];
	struct str words, word, name = STR_LIT("an unknown program");
	ssize_t n;

	/* The lock knows processes as this process does, whatever root is changed. */
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof text);
	words = (struct str){text, n > 0 ? (size_t)n : 0};
	for (int i = 0; i < 2 && str_next(&words, '\0', &word) && word.n > 0; i++) {
		struct str part, rest = word;

		if (i == 1 && word.p[0] != '/')
			break;
		while (str_next(&rest, '/', &part))
			name = part;
		if (i == 0 && !str_starts(name, "python") && !str_is(name, "sh"))
			break;
	}
	buf_add_printable(out, str_first(name, NAME_BYTES));
}

static int busy(pid_t pid, const char *path, int64_t wait, struct err *err)
{
	AUTO_BUF name;

	buf_init(&name, 4 * NAME_BYTES + 1);
	if (pid < 0) {
		err_set(err, E_BUSY,
			"another process holds '%s' and did not let go within %" PRId64 " s", path,
			wait);
		return err_hint(err, "see 'fuser -v %s' on the node", path);
	}
	name_of(pid, &name);
	err_set(err, E_BUSY,
		"'%s' (pid %d) is changing packages on this node and did not end within %" PRId64
		" s",
		buf_text(&name), (int)pid, wait);
	return err_hint(err, "run this again when it has ended, or wait longer with 'wait'");
}

int package_lock_wait(
	const struct step_env *env, const char *const *paths, int64_t wait, struct err *err)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY};
	const int64_t until = clock_mono() + wait * CLOCK_SEC;
	const char *path = "";
	pid_t pid;

	while ((pid = find_holder(env, paths, &path)) != 0) {
		if (clock_mono() >= until)
			return busy(pid, path, wait, err);
		nanosleep(&pause, NULL);
	}
	return 0;
}
