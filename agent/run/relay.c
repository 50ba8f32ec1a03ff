/*
 * relay - the executor leaves the session before the first change.
 *
 * fork: the child is a session of its own, has nothing of sshd's open, and goes
 * on as the executor; the parent carries its frames to the controller and a
 * cancel the other way. If the parent or the link dies, the child goes on to the
 * end in its journal. The node's lock lives in the child alone.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "agent/run/journal.h"
#include "agent/run/session_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_CHUNK   (64u << 10)
#define STALL_SECOND 5 /* a relay that takes nothing for so long is as good as gone */

struct relay {
	struct session *session;
	int executor; /* our end of the pair */
	struct frame_reader seen;
	bool final;  /* passed by */
	bool broken; /* what the controller sends is no longer understood */
};

/* Canonical JSON: a text inside a value has its quotes escaped, so this can only be the key itself.
 */
static bool says(const struct frame *f, struct str word)
{
	return f->type == 'J' && str_find_str(f->payload, word) != STR_NONE;
}

static void keep_final(struct session *s, const struct frame *f)
{
	json_t *m = NULL;
	const char *t;

	if (message_parse(f->payload, &m, &t, NULL) < 0)
		return;
	json_decref(s->last);
	s->last = m;
}

/* Frames go by whole and unchanged; only the last one is looked for. */
static void watch_for_final(struct relay *r, struct str bytes)
{
	struct frame f;
	struct err err;

	frame_reader_feed(&r->seen, bytes);
	while (frame_reader_next(&r->seen, &f, &err) == 1)
		if (says(&f, STR_LIT("\"t\":\"final\""))) {
			r->final = true;
			keep_final(r->session, &f);
		}
}

/* False when the executor has closed its end. */
static bool carry_out(struct relay *r)
{
	char chunk[READ_CHUNK];
	ssize_t n;

	do
		n = read(r->executor, chunk, sizeof chunk);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	watch_for_final(r, (struct str){chunk, (size_t)n});
	channel_send_bytes(&r->session->channel, (struct str){chunk, (size_t)n});
	return true;
}

static void carry_in(struct relay *r)
{
	struct frame f;
	struct err err;
	int rc;

	while ((rc = channel_peek(&r->session->channel, &f, &err)) == 1)
		if (channel_is_message(&f, "cancel"))
			(void)send(r->executor, "c", 1, MSG_NOSIGNAL);
	r->broken = r->broken || rc < 0;
}

/* Until the executor closes its end or the link is gone. */
static void carry(struct relay *r)
{
	struct channel *c = &r->session->channel;

	while (!c->dead) {
		/* What comes after the final frame is for the session that stays. */
		const bool listens = !r->broken && !c->ended && !r->final;
		struct pollfd p[3] = {{.fd = r->executor, .events = POLLIN},
			{.fd = listens ? c->in : -1, .events = POLLIN}, {.fd = c->out}};

		if (poll(p, 3, (int)(SESSION_ALIVE / CLOCK_MS)) < 0 && errno != EINTR)
			return;
		channel_keep_alive(c);
		if (p[0].revents && !carry_out(r))
			return;
		if (p[1].revents)
			carry_in(r);
		if (p[2].revents & (POLLERR | POLLHUP | POLLNVAL))
			c->dead = true;
	}
}

static void wait_for_executor(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
}

static void relay(struct session *s, int executor, pid_t pid)
{
	struct relay r = {.session = s, .executor = executor};

	frame_reader_init(&r.seen, false);
	carry(&r);
	frame_reader_done(&r.seen);
	if (s->channel.dead)
		return;
	/* Closed without a final frame: it died, or gave a stalled link up and goes on. */
	wait_for_executor(pid);
	if (!r.final)
		attach_send_final(s, s->order.run);
}

static void let_go_of_terminal(void)
{
	AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		(void)dup2(null, fd);
}

static void become_executor(struct session *s, int end)
{
	const struct timeval stall = {.tv_sec = STALL_SECOND};
	AUTO_JSON holder = NULL;

	(void)setsid();
	signal(SIGHUP, SIG_IGN);
	let_go_of_terminal();
	(void)setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &stall, sizeof stall);
	channel_done(&s->channel);
	channel_init(&s->channel, -1, end);
	s->orders = end;
	holder = session_holder(s);
	(void)journal_lock_tell(s->lock, holder, NULL);
}

int relay_leave(void *ctx, struct err *err)
{
	struct session *s = ctx;
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, errno, "cannot leave the session");
	pid = fork();
	if (pid < 0) {
		const int sys = errno;

		close(pair[0]);
		close(pair[1]);
		return err_sys(err, sys, "cannot leave the session");
	}
	if (pid == 0) {
		close(pair[0]);
		become_executor(s, pair[1]);
		return 0;
	}
	close(pair[1]);
	mem_close_fd(&s->lock);
	s->lock = -1;
	relay(s, pair[0], pid);
	close(pair[0]);
	return 1;
}
