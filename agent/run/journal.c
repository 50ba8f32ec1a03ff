/* journal - writing: one write per record; the link to an unfinished run changes by rename. */
#include "agent/run/journal.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/run/journal_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINK_NEW "unfinished.new"

struct journal {
	int state, runs; /* runs: -1 until needed */
	int file;        /* -1 until the first durable record or the end */
	bool durable;
	char name[JOURNAL_NAME_MAX];
	int64_t seq; /* of the last record; 1 is start's */
	off_t size;  /* of whole lines in the file */
	json_t *start;
	struct buf pending; /* lines not yet in the file */
};

int journal_name(const char *run, char name[static JOURNAL_NAME_MAX], struct err *err)
{
	const int n = snprintf(name, JOURNAL_NAME_MAX, "%s" JOURNAL_SUFFIX, run);

	if (n < 0 || n >= JOURNAL_NAME_MAX || strchr(run, '/') || run[0] == '.' || !run[0])
		return err_set(err, E_SCHEMA, "'%s' is not a run's id", run);
	return 0;
}

static void stamp(json_t *record, int64_t seq)
{
	json_put_int(record, "seq", seq);
	json_put_int(record, "at", clock_wall());
}

/* After a failed write no half line stays: the next record would be glued to it. */
static int write_pending(struct journal *j, struct err *err)
{
	const size_t n = j->pending.n;
	int rc;

	if (!buf_ok(&j->pending))
		return err_set(err, E_LIMIT, "the journal of this run is too large");
	rc = fs_write_all(j->file, buf_str(&j->pending), err);
	buf_clear(&j->pending);
	if (rc < 0) {
		if (ftruncate(j->file, j->size) < 0)
			(void)fs_write_all(j->file, STR_LIT("\n"), NULL);
		return err_wrap(err, "cannot write the run's journal");
	}
	j->size += (off_t)n;
	return 0;
}

static int sync_file(struct journal *j, struct err *err)
{
	if (fdatasync(j->file) < 0)
		return err_sys(err, errno, "cannot write the run's journal");
	return 0;
}

static int make_file(struct journal *j, struct err *err)
{
	if (mkdirat(j->state, JOURNAL_RUNS, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder of the journals");
	if (j->runs < 0)
		j->runs = openat(j->state, JOURNAL_RUNS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->runs < 0)
		return err_sys(err, errno, "cannot open the folder of the journals");
	j->file = openat(j->runs, j->name,
		O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->file < 0)
		return err_sys(err, errno, "cannot make the run's journal '%s'", j->name);
	return 0;
}

/* The start record goes before the records that waited, with the number kept for it. */
static void put_start_first(struct journal *j)
{
	AUTO_BUF all;

	buf_init(&all, j->pending.cap);
	stamp(j->start, 1);
	json_write(j->start, &all);
	buf_add_char(&all, '\n');
	buf_add_str(&all, buf_str(&j->pending));
	if (!buf_ok(&j->pending))
		all.overflowed = true;

	const struct buf old = j->pending;

	j->pending = all;
	all = old;
}

static int point_link(struct journal *j, struct err *err)
{
	if (unlinkat(j->runs, LINK_NEW, 0) < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot mark the run as begun");
	if (symlinkat(j->name, j->runs, LINK_NEW) < 0 ||
		renameat(j->runs, LINK_NEW, j->runs, JOURNAL_LINK) < 0 || fsync(j->runs) < 0)
		return err_sys(err, errno, "cannot mark the run as begun");
	return 0;
}

/* Only what is on the disk may be pointed at: file first, then the link, then the folder. */
static int make_durable(struct journal *j, struct err *err)
{
	int rc = make_file(j, err);

	if (rc < 0)
		return rc;
	put_start_first(j);
	if ((rc = write_pending(j, err)) < 0 || (rc = sync_file(j, err)) < 0)
		return rc;
	rc = point_link(j, err);
	j->durable = rc == 0;
	return rc;
}

static bool is_quiet(const struct journal *j)
{
	return j->state < 0;
}

int journal_open(int state, const char *run, json_t *start, struct journal **out, struct err *err)
{
	struct journal *j = xcalloc(1, sizeof *j);
	int rc = journal_name(run, j->name, err);
	char path[sizeof JOURNAL_RUNS + JOURNAL_NAME_MAX];

	j->state = state;
	j->runs = j->file = -1;
	j->seq = 1;
	j->start = json_incref(start);
	buf_init(&j->pending, JOURNAL_PENDING_MAX);
	snprintf(path, sizeof path, JOURNAL_RUNS "/%s", j->name);
	if (rc == 0 && state >= 0 && faccessat(state, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		rc = err_set(err, E_EXISTS, "run '%s' was already executed on this node", run);
	if (rc < 0)
		journal_close(j);
	else
		*out = j;
	return rc;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	mem_close_fd(&j->runs);
	mem_close_fd(&j->file);
	json_decref(j->start);
	buf_done(&j->pending);
	free(j);
}

bool journal_is_durable(const struct journal *j)
{
	return j->durable;
}

int journal_add(struct journal *j, json_t *record, bool durable, struct err *err)
{
	int rc;

	stamp(record, ++j->seq);
	if (is_quiet(j))
		return 0;
	json_write(record, &j->pending);
	buf_add_char(&j->pending, '\n');
	if (!j->durable)
		return durable ? make_durable(j, err) : 0;
	rc = write_pending(j, err);
	return rc == 0 && durable ? sync_file(j, err) : rc;
}

int journal_end(struct journal *j, json_t *record, bool left, struct err *err)
{
	int rc;

	if (is_quiet(j) || j->durable) {
		rc = journal_add(j, record, true, err);
	} else {
		rc = journal_add(j, record, false, err);
		if (rc == 0)
			rc = make_file(j, err);
		if (rc == 0)
			rc = write_pending(j, err);
	}
	if (rc == 0 && j->durable && !left && unlinkat(j->runs, JOURNAL_LINK, 0) < 0)
		rc = err_sys(err, errno, "cannot mark the run as ended");
	return rc;
}
