/*
 * link - the set: which links are open, one epoll loop, time limits, back-off.
 *
 * epoll is level-triggered and every link is registered once, so a link costs
 * nothing while it is silent. How many handshakes are under way at once is for
 * width.h to say; sessions that run are limited by max_open and descriptors only.
 */
#include "controller/ssh/link.h"

#include "agent/base/clock.h"
#include "controller/ssh/link_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define OPEN_DEFAULT    1024
#define OPEN_MAX_EVER   60000 /* libssh keeps 16 bits of a descriptor */
#define OPEN_MIN        4
#define OPENING_MAX     512
#define RESETS_MAX      3
#define FDS_KEPT        64 /* for the database, logs and the like */
#define GROW_STEP       8
#define CROWD           16 /* fewer handshakes at once than this are no cause of trouble */
#define EVENTS_MAX      256
#define TICK            (100 * CLOCK_MS)
#define RETRY_AFTER     (500 * CLOCK_MS)
#define HANGING_AFTER   (300 * CLOCK_MS)
#define CONNECT_DEFAULT (10 * CLOCK_SEC)
#define IDLE_DEFAULT    (60 * CLOCK_SEC)
/* A handshake that keeps moving may take this many connect time-outs in all. */
#define CONNECT_ROUNDS 6

static void list_append(struct link_list *list, struct link *l)
{
	l->prev = list->last;
	l->next = NULL;
	if (list->last)
		list->last->next = l;
	else
		list->first = l;
	list->last = l;
	list->n++;
}

static void list_remove(struct link_list *list, struct link *l)
{
	if (l->prev)
		l->prev->next = l->next;
	else
		list->first = l->next;
	if (l->next)
		l->next->prev = l->prev;
	else
		list->last = l->prev;
	list->n--;
}

/* The links are looked at after the callbacks, when no libssh call is under way. */
static void touch(struct link *l)
{
	if (l->touched)
		return;
	l->touched = true;
	l->next_touched = l->set->touched;
	l->set->touched = l;
}

static unsigned cap_by_files(unsigned wanted)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return wanted;
	if (files.rlim_cur < files.rlim_max && files.rlim_cur < (rlim_t)wanted + FDS_KEPT) {
		const struct rlimit raised = {
			.rlim_cur = files.rlim_max, .rlim_max = files.rlim_max};

		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			files = raised;
	}
	if (files.rlim_cur < (rlim_t)wanted + FDS_KEPT)
		wanted = files.rlim_cur > FDS_KEPT + OPEN_MIN ? (unsigned)files.rlim_cur - FDS_KEPT
							      : OPEN_MIN;
	return wanted;
}

int link_set_new(const struct link_set_opts *o, struct link_set **out, struct err *err)
{
	struct link_set *s;
	unsigned max = o->max_open ? o->max_open : OPEN_DEFAULT;
	int fd;

	if (ssh_init() != SSH_OK)
		return err_set(err, E_INTERNAL, "cannot initialise libssh");
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot create an epoll descriptor");
	max = cap_by_files(max < OPEN_MAX_EVER ? max : OPEN_MAX_EVER);
	s = xcalloc(1, sizeof *s);
	s->opts = *o;
	s->opts.max_open = max;
	if (s->opts.connect_timeout == 0)
		s->opts.connect_timeout = CONNECT_DEFAULT;
	if (s->opts.idle_timeout == 0)
		s->opts.idle_timeout = IDLE_DEFAULT;
	s->limit = max;
	width_init(&s->width, max < OPENING_MAX ? max : OPENING_MAX);
	s->epoll = fd;
	s->due = clock_mono() + TICK;
	*out = s;
	return 0;
}

static void free_list(struct link_list *list)
{
	while (list->first) {
		struct link *l = list->first;

		list_remove(list, l);
		link_session_close(l);
		link_drop_chunks(l);
		free(l->err);
		free(l);
	}
}

void link_set_free(struct link_set *s)
{
	if (!s)
		return;
	free_list(&s->waiting);
	free_list(&s->open);
	free_list(&s->over);
	close(s->epoll);
	free(s->watched);
	free(s);
}

/* Copies text to *at and moves *at behind it. */
static const char *put_text(char **at, const char *text)
{
	const size_t n = strlen(text) + 1;
	char *copy = memcpy(*at, text, n);

	*at += n;
	return copy;
}

struct link *link_start(
	struct link_set *s, const struct link_target *t, const struct link_ops *ops, void *ctx)
{
	const size_t n = strlen(t->name) + strlen(t->address) + strlen(t->user) +
			 strlen(t->host_key) + strlen(t->command) + 5;
	struct link *l = xcalloc(1, sizeof *l + n);
	char *at = (char *)(l + 1);

	l->set = s;
	l->ops = ops;
	l->ctx = ctx;
	l->fd = -1;
	l->target = (struct link_target){
		.name = put_text(&at, t->name),
		.address = put_text(&at, t->address),
		.port = t->port,
		.user = put_text(&at, t->user),
		.host_key = put_text(&at, t->host_key),
		.command = put_text(&at, t->command),
	};
	list_append(&s->waiting, l);
	return l;
}

unsigned link_set_count(const struct link_set *s)
{
	return s->waiting.n + s->open.n;
}

const char *link_name(const struct link *l)
{
	return l->target.name;
}

/* --- the end of a link, or of an attempt --- */

static struct link_list *list_of(struct link *l)
{
	if (l->state == LINK_QUEUED)
		return &l->set->waiting;
	return l->state == LINK_OVER ? &l->set->over : &l->set->open;
}

static bool is_opening(const struct link *l)
{
	return l->state > LINK_QUEUED && l->state < LINK_RUNNING;
}

/*
 * A process that is being started has copies of all sockets for a moment, and the kernel goes on
 * watching those: so the socket is taken out before it is closed, and events that come all the same
 * are known by their serial number.
 */
static void disarm(struct link *l)
{
	struct link_set *s = l->set;

	if (l->armed == 0 || l->fd < 0 || (size_t)l->fd >= s->watched_n || s->watched[l->fd] != l)
		return;
	(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, l->fd, NULL);
	s->watched[l->fd] = NULL;
	l->armed = 0;
}

static void enter(struct link *l, enum link_state state)
{
	disarm(l);
	list_remove(list_of(l), l);
	link_session_close(l);
	l->state = state;
	list_append(list_of(l), l);
}

static void finish(struct link *l)
{
	static const struct err none;

	if (is_opening(l))
		l->set->opening--;
	enter(l, LINK_OVER);
	link_drop_chunks(l);
	if (l->ops->closed)
		l->ops->closed(l->ctx, l, &l->end, l->err ? l->err : &none);
}

/* Descriptors that ran out may be there again. */
static void grow(struct link_set *s)
{
	if (s->limit >= s->opts.max_open || ++s->successes < s->limit / 4)
		return;
	s->successes = 0;
	s->limit += GROW_STEP;
	if (s->limit > s->opts.max_open)
		s->limit = s->opts.max_open;
}

static void succeed(struct link *l)
{
	width_success(&l->set->width, l->began, clock_mono());
	grow(l->set);
}

/*
 * Trouble that may be our own crowd's doing: resets before the login, time-outs among many. Nodes
 * that are down, whose addresses do not even answer, are not.
 */
static bool is_congestion(const struct link *l)
{
	if (!is_opening(l))
		return false;
	if (l->err->code == E_TIMEOUT)
		return l->state > LINK_CONNECTING && l->set->opening > CROWD;
	return l->err->code == E_NET && l->state == LINK_KEX;
}

/* A time-out costs as much as it says, a reset costs nothing. */
static bool may_retry(const struct link *l)
{
	return l->tries < (l->err->code == E_TIMEOUT ? 1 : RESETS_MAX);
}

/* The attempt failed with l->err: once more later, or the end. */
static void fail(struct link *l)
{
	if (is_congestion(l)) {
		width_trouble(&l->set->width, l->began, clock_mono());
		if (may_retry(l)) {
			l->set->opening--;
			l->earliest = clock_mono() + (RETRY_AFTER << l->tries++);
			free(l->err);
			l->err = NULL;
			enter(l, LINK_QUEUED);
			return;
		}
	}
	finish(l);
}

/* --- one link's progress --- */

static void note_watched(struct link *l)
{
	struct link_set *s = l->set;
	const size_t n = (size_t)l->fd + 1, room = n > 2 * s->watched_n ? n : 2 * s->watched_n;

	if (n > s->watched_n) {
		s->watched = xrealloc(s->watched, room * sizeof(struct link *));
		memset(s->watched + s->watched_n, 0, (room - s->watched_n) * sizeof(struct link *));
		s->watched_n = room;
	}
	s->watched[l->fd] = l;
	l->serial = ++s->serial;
}

static void watch(struct link *l, uint32_t events)
{
	struct epoll_event e = {.events = events};
	const int op = l->armed == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

	if (l->armed == events)
		return;
	if (op == EPOLL_CTL_ADD)
		note_watched(l);
	e.data.u64 = (uint64_t)l->fd << 32 | l->serial;
	if (epoll_ctl(l->set->epoll, op, l->fd, &e) != 0) {
		err_sys(link_err(l), errno, "cannot watch the socket of '%s'", l->target.name);
		finish(l);
		return;
	}
	l->armed = events;
}

static void take_step(struct link *l, enum link_step step, bool was_opening)
{
	struct link_set *s = l->set;

	if (was_opening && l->state == LINK_RUNNING) {
		s->opening--;
		succeed(l);
	}
	if (l->err || step == STEP_FAILED)
		fail(l);
	else if (step == STEP_END)
		finish(l);
	else
		watch(l, EPOLLIN | (link_session_wants_write(l) ? EPOLLOUT : 0u));
}

/* TCP is up or refused. */
static void connected(struct link *l)
{
	int sys = 0;
	socklen_t n = sizeof sys;

	if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &sys, &n) != 0)
		sys = errno;
	if (sys == 0) {
		take_step(l, link_session_open(l), true);
		return;
	}
	link_fail_connect(l, sys);
	fail(l);
}

static void progress(struct link *l)
{
	if (!l || l->state == LINK_QUEUED || l->state == LINK_OVER)
		return;
	l->moved = clock_mono();
	if (l->state == LINK_CONNECTING)
		connected(l);
	else
		take_step(l, link_session_step(l), is_opening(l));
}

/* A stream of the set's own transport is there at once. */
static void start_raw(struct link *l)
{
	const struct link_transport *t = l->set->opts.transport;
	const int fd = t->connect(t->ctx, &l->target, link_err(l));

	if (fd < 0) {
		finish(l);
		return;
	}
	free(l->err);
	l->err = NULL;
	l->fd = fd;
	list_remove(&l->set->waiting, l);
	list_append(&l->set->open, l);
	l->set->opening++;
	l->state = LINK_EXEC;
	l->armed = 0;
	l->began = l->moved = clock_mono();
	take_step(l, link_raw_open(l), true);
}

/* False when there is no descriptor for it now. */
static bool start(struct link *l)
{
	struct link_set *s = l->set;
	int rc;

	if (s->opts.transport) {
		start_raw(l);
		return true;
	}
	if (l->address_len == 0 && link_resolve(l) < 0) {
		finish(l);
		return true;
	}
	rc = link_connect(l);
	if ((rc == -EMFILE || rc == -ENFILE) && s->open.n > 0) {
		s->limit = s->open.n;
		return false;
	}
	if (rc < 0) {
		link_fail_connect(l, -rc);
		finish(l);
		return true;
	}
	list_remove(&s->waiting, l);
	l->state = LINK_CONNECTING;
	list_append(&s->open, l);
	s->opening++;
	l->armed = 0;
	l->began = l->moved = clock_mono();
	watch(l, EPOLLOUT);
	return true;
}

static void start_waiting(struct link_set *s)
{
	struct link *next;

	for (struct link *l = s->waiting.first; l && s->open.n < s->limit; l = next) {
		next = l->next;
		if (l->earliest > 0 && l->earliest > clock_mono())
			continue;
		if (s->opening >= s->width.now + s->hanging) {
			width_reach(&s->width);
			return;
		}
		if (!start(l))
			return;
	}
}

static bool is_late(const struct link *l, int64_t now)
{
	const struct link_set_opts *o = &l->set->opts;

	if (l->state == LINK_RUNNING)
		return !l->heard && now - l->moved > o->idle_timeout;
	return now - l->moved > o->connect_timeout ||
	       now - l->began > o->connect_timeout * CONNECT_ROUNDS;
}

/* Its address does not answer; it costs nobody anything but the one who waits for it. */
static bool is_hanging(const struct link *l, int64_t now)
{
	return l->state == LINK_CONNECTING && now - l->began > HANGING_AFTER;
}

static void expire(struct link_set *s, int64_t now)
{
	struct link *next;

	s->hanging = 0;
	for (struct link *l = s->open.first; l; l = next) {
		next = l->next;
		s->hanging += is_hanging(l, now) ? 1 : 0;
		if (!is_late(l, now))
			continue;
		link_fail_timeout(l);
		fail(l);
	}
}

/* Links that callbacks wrote to or aborted. */
static void settle(struct link_set *s)
{
	while (s->touched) {
		struct link *l = s->touched;

		s->touched = l->next_touched;
		l->touched = false;
		if (l->state == LINK_OVER)
			continue;
		if (l->err)
			finish(l);
		else if (l->state == LINK_RUNNING)
			take_step(l, link_session_step(l), false);
	}
}

static void cancel_all(struct link_set *s)
{
	while (s->waiting.first || s->open.first) {
		struct link *l = s->open.first ? s->open.first : s->waiting.first;

		if (!l->err)
			err_set(link_err(l), E_CANCELLED, "cancelled");
		finish(l);
	}
}

/* NULL: of one that is over. */
static struct link *link_of_event(const struct link_set *s, const struct epoll_event *e)
{
	const size_t fd = e->data.u64 >> 32;
	struct link *l = fd < s->watched_n ? s->watched[fd] : NULL;

	return l && l->serial == (uint32_t)e->data.u64 ? l : NULL;
}

static int wait_events(struct link_set *s, int64_t until, struct err *err)
{
	struct epoll_event events[EVENTS_MAX];
	const int n = epoll_wait(s->epoll, events, EVENTS_MAX, clock_left_ms(until));

	if (n < 0 && errno != EINTR)
		return err_sys(err, errno, "cannot wait for sockets");
	for (int i = 0; i < n; i++)
		progress(link_of_event(s, &events[i]));
	return 0;
}

int link_set_run(struct link_set *s, bool (*tick)(void *ctx), void *ctx, struct err *err)
{
	int rc = 0;

	s->paused = false;
	settle(s); /* what was written since the last call */
	while (rc == 0 && !s->paused && s->waiting.n + s->open.n > 0) {
		start_waiting(s);
		rc = wait_events(s, s->due, err);
		settle(s);
		if (clock_mono() >= s->due) {
			s->due = clock_mono() + TICK;
			expire(s, clock_mono());
			if (tick && !tick(ctx))
				cancel_all(s);
			settle(s);
		}
		free_list(&s->over);
	}
	return rc;
}

void link_set_pause(struct link_set *s)
{
	s->paused = true;
}

/* --- writing --- */

static void add_chunk(struct link *l, struct link_chunk *c)
{
	if (l->last)
		l->last->next = c;
	else
		l->first = c;
	l->last = c;
	l->write_due = true;
	touch(l);
}

void link_write(struct link *l, struct str bytes)
{
	struct link_chunk *c;

	if (l->state == LINK_OVER || bytes.n == 0)
		return;
	if (bytes.n > LINK_QUEUE_MAX - l->queued) {
		if (!l->err)
			err_set(link_err(l), E_INTERNAL, "more than %u bytes wait for '%s'",
				LINK_QUEUE_MAX, l->target.name);
		touch(l);
		return;
	}
	c = xmalloc(sizeof *c + bytes.n);
	*c = (struct link_chunk){.rest = {memcpy(c + 1, bytes.p, bytes.n), bytes.n}, .owned = true};
	l->queued += bytes.n;
	add_chunk(l, c);
}

void link_write_shared(struct link *l, struct str bytes)
{
	struct link_chunk *c;

	if (l->state == LINK_OVER || bytes.n == 0)
		return;
	c = xmalloc(sizeof *c);
	*c = (struct link_chunk){.rest = bytes};
	add_chunk(l, c);
}

void link_write_eof(struct link *l)
{
	if (l->state == LINK_OVER)
		return;
	l->eof_wanted = true;
	touch(l);
}

void link_abort(struct link *l, const struct err *err)
{
	if (l->state == LINK_OVER)
		return;
	if (!l->err)
		*link_err(l) = *err;
	touch(l);
}
