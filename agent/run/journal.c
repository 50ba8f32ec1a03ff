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
	int64_t seq;            /* of the last record; 1 is start's */
	off_t size;             /* of whole lines in the file */
	json_t *start, *papers; /* papers: of RUN.order, NULL without */
	struct buf pending;     /* lines not yet in the file */
};

int journal_name(const char *run, char name[static JOURNAL_NAME_MAX], struct err *err)
{
	const int n = snprintf(name, JOURNAL_NAME_MAX, "%s" JOURNAL_SUFFIX, run);

	if (n < 0 || n >= JOURNAL_NAME_MAX || strchr(run, '/') || run[0] == '.' || !run[0])
		return err_set(err, E_SCHEMA, "'%s' is not a run's id", run);
	return 0;
}

void journal_order_name(
	const char name[static JOURNAL_NAME_MAX], char order[static JOURNAL_NAME_MAX])
{
	const size_t stem = strlen(name) - (sizeof JOURNAL_SUFFIX - 1);

	snprintf(order, JOURNAL_NAME_MAX, "%.*s" JOURNAL_ORDER, (int)stem, name);
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

static int open_runs(struct journal *j, struct err *err)
{
	if (mkdirat(j->state, JOURNAL_RUNS, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder of the journals");
	if (j->runs < 0)
		j->runs = openat(j->state, JOURNAL_RUNS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->runs < 0)
		return err_sys(err, errno, "cannot open the folder of the journals");
	return 0;
}

static int make_file(struct journal *j, struct err *err)
{
	const int rc = open_runs(j, err);

	if (rc < 0)
		return rc;
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

/* Before the journal: a run that is unfinished can be gone on with from its first record on. */
static int write_order(struct journal *j, struct err *err)
{
	char name[JOURNAL_NAME_MAX];
	AUTO_BUF text = {0};
	AUTO_FD file = -1;
	int rc;

	if (!j->papers)
		return 0;
	journal_order_name(j->name, name);
	buf_init(&text, JOURNAL_ORDER_MAX);
	json_write(j->papers, &text);
	file = openat(j->runs, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return err_sys(err, errno, "cannot keep the run's order");
	if (!buf_ok(&text))
		rc = err_set(err, E_LIMIT, "the run's order is too long to be kept");
	else
		rc = fs_append(file, buf_str(&text), true, err);
	return rc < 0 ? err_wrap(err, "the run's order") : 0;
}

static void drop_order(struct journal *j)
{
	char name[JOURNAL_NAME_MAX];

	journal_order_name(j->name, name);
	(void)unlinkat(j->runs, name, 0); /* else the next trim does it */
}

/* Only what is on the disk may be pointed at: file first, then the link, then the folder. */
static int make_durable(struct journal *j, struct err *err)
{
	int rc = open_runs(j, err);

	if (rc < 0 || (rc = write_order(j, err)) < 0 || (rc = make_file(j, err)) < 0)
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

/* Whole lines of a journal: where they end, and the number of the last record. */
static int find_end(struct journal *j, int state, const char *run, struct err *err)
{
	struct journal_reader *r = NULL;
	json_t *record;
	int rc = journal_reader_open(state, run, 0, &r, err);

	while (rc >= 0 && (rc = journal_reader_next(r, &record, err)) == 1) {
		const int64_t seq = json_get_int(record, "seq", 0);

		j->seq = seq > j->seq ? seq : j->seq;
		json_decref(record);
	}
	if (r)
		j->size = journal_reader_place(r);
	journal_reader_close(r);
	return rc;
}

int journal_reopen(int state, const char *run, struct journal **out, struct err *err)
{
	struct journal *j = xcalloc(1, sizeof *j);
	int rc = journal_name(run, j->name, err);

	j->state = state;
	j->runs = j->file = -1;
	buf_init(&j->pending, JOURNAL_PENDING_MAX);
	if (rc == 0)
		rc = find_end(j, state, run, err);
	if (rc == 0)
		rc = open_runs(j, err);
	if (rc == 0) {
		j->file = openat(j->runs, j->name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
		if (j->file < 0 || ftruncate(j->file, j->size) < 0)
			rc = err_sys(err, errno, "cannot go on with the journal '%s'", j->name);
	}
	j->durable = rc == 0;
	if (rc < 0)
		journal_close(j);
	else
		*out = j;
	return rc;
}

void journal_keep_order(struct journal *j, json_t *papers)
{
	json_decref(j->papers);
	j->papers = json_incref(papers);
}

int journal_read_order(int state, const char *run, json_t **papers, struct err *err)
{
	char name[JOURNAL_NAME_MAX], order[JOURNAL_NAME_MAX],
		path[sizeof JOURNAL_RUNS + sizeof order];
	AUTO_BUF text = {0};
	int rc = journal_name(run, name, err);

	if (rc < 0)
		return rc;
	journal_order_name(name, order);
	snprintf(path, sizeof path, JOURNAL_RUNS "/%s", order);
	buf_init(&text, JOURNAL_ORDER_MAX);
	rc = fs_read(state, path, &text, err);
	return rc < 0 ? rc : json_parse(buf_str(&text), JOURNAL_ORDER_MAX, order, papers, err);
}

int64_t journal_seq(const struct journal *j)
{
	return j->seq;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	mem_close_fd(&j->runs);
	mem_close_fd(&j->file);
	json_decref(j->start);
	json_decref(j->papers);
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
	if (rc == 0 && j->durable)
		drop_order(j);
	if (rc == 0 && j->durable && !left && unlinkat(j->runs, JOURNAL_LINK, 0) < 0)
		rc = err_sys(err, errno, "cannot mark the run as ended");
	return rc;
}
