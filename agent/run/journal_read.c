/* journal_read - reading: whole lines only; what an unfinished run left is worked out from them. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/run/journal.h"
#include "agent/run/journal_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_CHUNK (64u << 10)

struct journal_reader {
	int fd;
	char name[JOURNAL_NAME_MAX];
	int64_t after;
	struct buf in;
	size_t used;
	off_t place; /* in the file, of what was handed out */
};

int journal_reader_open(
	int state, const char *run, int64_t after, struct journal_reader **out, struct err *err)
{
	char name[JOURNAL_NAME_MAX], path[sizeof JOURNAL_RUNS + JOURNAL_NAME_MAX];
	int fd, rc = journal_name(run, name, err);

	if (rc < 0)
		return rc;
	snprintf(path, sizeof path, JOURNAL_RUNS "/%s", name);
	fd = openat(state, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return err_set(err, E_NOTFOUND, "there is no run '%s' on this node", run);
	if (fd < 0)
		return err_sys(err, errno, "cannot open the journal '%s'", name);

	struct journal_reader *r = xcalloc(1, sizeof *r);

	r->fd = fd;
	r->after = after;
	memcpy(r->name, name, sizeof name);
	buf_init(&r->in, JOURNAL_LINE_MAX + READ_CHUNK);
	*out = r;
	return 0;
}

void journal_reader_close(struct journal_reader *r)
{
	if (!r)
		return;
	mem_close_fd(&r->fd);
	buf_done(&r->in);
	free(r);
}

off_t journal_reader_place(const struct journal_reader *r)
{
	return r->place;
}

/* Bytes read, 0 at the end of what is there, negative on failure. */
static ssize_t read_more(struct journal_reader *r, struct err *err)
{
	ssize_t n;
	void *room;

	buf_drop(&r->in, r->used);
	r->used = 0;
	room = buf_room(&r->in, READ_CHUNK);
	if (!room)
		return err_set(err, E_LIMIT, "journal '%s': a line is too long", r->name);
	do
		n = read(r->fd, room, READ_CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, errno, "cannot read the journal '%s'", r->name);
	buf_grew(&r->in, (size_t)n);
	return n;
}

/* 1 and a line, or 0: then what is left may be the start of one that is being written. */
static int next_line(struct journal_reader *r, struct str *line, struct err *err)
{
	for (;;) {
		const struct str have = str_from(buf_str(&r->in), r->used);
		const size_t at = str_find(have, '\n');

		if (at != STR_NONE) {
			*line = str_first(have, at);
			r->used += at + 1;
			r->place += (off_t)at + 1;
			return 1;
		}

		const ssize_t n = read_more(r, err);

		if (n <= 0)
			return (int)n;
	}
}

int journal_reader_next(struct journal_reader *r, json_t **record, struct err *err)
{
	struct str line = {NULL, 0};
	int rc;

	while ((rc = next_line(r, &line, err)) == 1) {
		AUTO_JSON v = NULL;

		/* A power cut may leave half a line: what it said was not durable, so nothing
		 * was done on its word. */
		if (json_parse(line, JOURNAL_LINE_MAX, r->name, &v, err) < 0 ||
			json_get_int(v, "seq", 0) <= r->after)
			continue;
		*record = json_incref(v);
		return 1;
	}
	return rc;
}

int journal_read(int state, const char *run, int64_t after,
	int (*see)(void *ctx, const json_t *record, struct err *err), void *ctx, struct err *err)
{
	struct journal_reader *r = NULL;
	json_t *record;
	int rc = journal_reader_open(state, run, after, &r, err);

	if (rc < 0 || !r)
		return rc;
	while ((rc = journal_reader_next(r, &record, err)) == 1) {
		rc = see(ctx, record, err);
		json_decref(record);
		if (rc < 0)
			break;
	}
	journal_reader_close(r);
	return rc;
}

struct gathering {
	struct arena *a;
	struct journal_left *left;
	unsigned room;
};

static unsigned find_due(const struct journal_left *l, const char *recipe, const char *handler)
{
	unsigned i = 0;

	while (i < l->n_handlers && (strcmp(l->handlers[i].recipe, recipe) != 0 ||
					    strcmp(l->handlers[i].handler, handler) != 0))
		i++;
	return i;
}

static void add_due(struct gathering *g, const char *recipe, const char *handler)
{
	struct journal_left *l = g->left;

	if (find_due(l, recipe, handler) < l->n_handlers)
		return;
	if (l->n_handlers == g->room) {
		struct journal_due *old = l->handlers;

		g->room = g->room ? 2 * g->room : 16;
		l->handlers = arena_alloc(g->a, g->room * sizeof *l->handlers);
		if (old)
			memcpy(l->handlers, old, l->n_handlers * sizeof *old);
	}
	l->handlers[l->n_handlers++] =
		(struct journal_due){arena_strdup(g->a, recipe), arena_strdup(g->a, handler)};
}

/* A handler that ran is no longer due, one that failed still is. */
static void settle_due(struct journal_left *l, const json_t *record, const char *recipe)
{
	const char *state = json_get_str(record, "state", "");
	const unsigned i = find_due(l, recipe, json_get_str(record, "handler", ""));

	if (i == l->n_handlers || strcmp(state, "failed") == 0 || strcmp(state, "denied") == 0 ||
		strcmp(state, "timeout") == 0 || strcmp(state, "interrupted") == 0)
		return;
	memmove(&l->handlers[i], &l->handlers[i + 1],
		(l->n_handlers - i - 1) * sizeof *l->handlers);
	l->n_handlers--;
}

static int see_record(void *ctx, const json_t *record, struct err *err)
{
	struct gathering *g = ctx;
	struct journal_left *l = g->left;
	const char *ev = json_get_str(record, "ev", ""),
		   *recipe = json_get_str(record, "recipe", "");

	(void)err;
	if (strcmp(ev, "intent") == 0) {
		l->recipe = arena_strdup(g->a, recipe);
		l->step = arena_strdup(g->a, json_get_str(record, "name", ""));
	} else if (strcmp(ev, "step") == 0 || strcmp(ev, "undo") == 0) {
		l->recipe = l->step = NULL;
	} else if (strcmp(ev, "notify") == 0) {
		add_due(g, recipe, json_get_str(record, "handler", ""));
	} else if (strcmp(ev, "handler") == 0) {
		l->recipe = l->step = NULL;
		settle_due(l, record, recipe);
	} else if (strcmp(ev, "end") == 0) {
		l->ended = true;
		l->recipe = l->step = NULL;
	}
	return 0;
}

/* The run's id from the link, "" when there is none. */
static int read_link(int state, char run[static JOURNAL_NAME_MAX], struct err *err)
{
	const size_t suffix = sizeof JOURNAL_SUFFIX - 1;
	const ssize_t n =
		readlinkat(state, JOURNAL_RUNS "/" JOURNAL_LINK, run, JOURNAL_NAME_MAX - 1);

	if (n < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot tell whether a run is unfinished");
	run[n < 0 || (size_t)n <= suffix ? 0 : (size_t)n - suffix] = '\0';
	return 0;
}

int journal_unfinished(int state, struct arena *a, struct journal_left *out, struct err *err)
{
	char run[JOURNAL_NAME_MAX];
	struct journal_left left = {0};
	struct gathering g = {.a = a, .left = &left};
	int rc = read_link(state, run, err);

	if (rc < 0)
		return rc;
	if (run[0]) {
		left.run = arena_strdup(a, run);
		rc = journal_read(state, run, 0, see_record, &g, err);
	}
	if (rc == -E_NOTFOUND) /* someone cleared the folder by hand */
		left = (struct journal_left){0};
	else if (rc < 0)
		return err_hint(err, "if that journal is beyond repair, remove " JOURNAL_RUNS
				     "/" JOURNAL_LINK " below the agent's state");
	*out = left;
	return 0;
}

int journal_forget_unfinished(int state, const char *run, struct err *err)
{
	char now[JOURNAL_NAME_MAX];
	const int rc = read_link(state, now, err);

	if (rc < 0 || strcmp(now, run) != 0)
		return rc;
	if (unlinkat(state, JOURNAL_RUNS "/" JOURNAL_LINK, 0) < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot mark run '%s' as done with", run);
	return 0;
}
