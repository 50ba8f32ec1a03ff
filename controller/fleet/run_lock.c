/*
 * run_lock - how: flock on a file beside the database. The kernel drops it when the process dies,
 * however it dies, so another controller can tell an unfinished run from an abandoned one.
 */
#include "controller/fleet/run_lock.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "controller/fleet/keys.h"
#include "inventory/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 3 /* somebody may be looking whether it is held */

static const char *lock_path(struct arena *a, struct store *s, const char *id)
{
	return keys_path(a, store_path(s), arena_printf(a, "locks/%s", id));
}

int run_lock_take(struct store *s, struct arena *a, const char *id, int *fd, struct err *err)
{
	const char *dir = keys_path(a, store_path(s), "locks"), *path = lock_path(a, s, id);

	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder '%s'", dir);
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return err_sys(err, errno, "cannot open the lock '%s'", path);
	for (int i = 0; i < TRIES; i++) {
		if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		clock_sleep(10 * CLOCK_MS);
	}
	close(*fd);
	*fd = -1;
	return err_set(err, E_BUSY, "run '%s' is under way in another process", id);
}

bool run_lock_is_held(struct store *s, struct arena *a, const char *id)
{
	AUTO_FD fd = open(lock_path(a, s, id), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno != ENOENT;
	return flock(fd, LOCK_SH | LOCK_NB) != 0; /* dropped with the descriptor */
}

void run_lock_drop(struct store *s, struct arena *a, const char *id, int fd)
{
	if (fd < 0)
		return;
	(void)unlink(lock_path(a, s, id));
	close(fd);
}

int run_make_id(char out[static 64], struct err *err)
{
	char now[24], digits[7];
	const int rc = sign_random_hex(3, digits, err);

	if (rc < 0)
		return rc;
	clock_format(clock_wall(), now); /* 2026-11-30T15:33:07Z */
	snprintf(out, 64, "%.4s%.2s%.2s-%.2s%.2s%.2s-%s", now, now + 5, now + 8, now + 11, now + 14,
		now + 17, digits);
	return 0;
}
