/* lock - flock on STATE/lock, shared over fork, gone with the last descriptor; the text in it only
 * tells who. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define LOCK_NAME  "lock"
#define HOLDER_MAX 4096
#define TRIES      4
#define TRY_PAUSE  (5 * CLOCK_MS) /* somebody may only be asking who holds it */

static int open_lock(int state, struct err *err)
{
	const int fd = openat(state, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? err_sys(err, errno, "cannot open the node's lock") : fd;
}

/* NULL when it cannot be told: the holder may be writing it just now. */
static json_t *read_holder(int fd)
{
	char text[HOLDER_MAX];
	json_t *holder = NULL;
	const ssize_t n = pread(fd, text, sizeof text, 0);

	if (n > 0 &&
		json_parse((struct str){text, (size_t)n}, HOLDER_MAX, "lock", &holder, NULL) < 0)
		return NULL;
	return holder;
}

static int take(int fd, struct err *err)
{
	for (int i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, errno, "cannot lock the node");
		clock_sleep(TRY_PAUSE);
	}
	return err_set(err, E_BUSY, "another run holds this node");
}

int journal_lock_tell(int fd, const json_t *holder, struct err *err)
{
	AUTO_BUF text;
	int rc;

	buf_init(&text, HOLDER_MAX);
	json_write(holder, &text);
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "cannot write the node's lock");
	rc = fs_write_all(fd, buf_str(&text), err);
	return rc < 0 ? err_wrap(err, "the lock of this node") : 0;
}

int journal_lock(int state, const json_t *holder, int *fd, json_t **other, struct err *err)
{
	AUTO_FD lock = open_lock(state, err);
	int rc = lock < 0 ? lock : take(lock, err);

	*other = NULL;
	if (rc == -E_BUSY && lock >= 0) {
		*other = read_holder(lock);
		err_set(err, E_BUSY, "run '%s' by '%s' holds this node",
			json_get_str(*other, "run", "unknown"),
			json_get_str(*other, "by", "unknown"));
		return err_hint(err, "wait for it: stoika run watch %s",
			json_get_str(*other, "run", "RUN"));
	}
	if (rc < 0)
		return rc;
	rc = journal_lock_tell(lock, holder, err);
	if (rc < 0)
		return rc;
	*fd = lock;
	lock = -1;
	return 0;
}

int journal_lock_holder(int state, json_t **other, struct err *err)
{
	AUTO_FD fd = openat(state, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	*other = NULL;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, errno, "cannot open the node's lock");
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_sys(err, errno, "cannot ask for the node's lock");
	*other = read_holder(fd);
	return 1;
}
