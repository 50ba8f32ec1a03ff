/* link_raw - a link over a plain stream: what libssh does for the others, but for the secrecy. */
#include "agent/base/clock.h"
#include "controller/ssh/link_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE  (16u << 10)
#define ROUNDS_MAX 8

static enum link_step lost(struct link *l, int sys)
{
	err_sys(link_err(l), sys, "the link to '%s' was lost", l->target.name);
	link_err(l)->code = E_NET;
	return STEP_FAILED;
}

/* 1 when more may be there, 0 when not, negative at the end. */
static int read_some(struct link *l)
{
	char bytes[READ_SIZE];
	const ssize_t n = recv(l->fd, bytes, sizeof bytes, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0) {
		l->remote_closed = true;
		l->end = (struct link_end){.how = LINK_EXITED};
		return 0;
	}
	link_session_tell_data(l, false, (struct str){bytes, (size_t)n});
	return (size_t)n == sizeof bytes;
}

static void send_eof(struct link *l)
{
	(void)shutdown(l->fd, SHUT_WR);
}

/* Negative: the stream is broken. */
static int write_queue(struct link *l)
{
	while (l->first && !l->remote_closed) {
		struct link_chunk *c = l->first;
		const ssize_t n = send(l->fd, c->rest.p, c->rest.n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		if (c->owned)
			l->queued -= (size_t)n;
		c->rest = str_from(c->rest, (size_t)n);
		if (c->rest.n == 0)
			link_session_drop_chunk(l);
	}
	if (!l->remote_closed)
		link_session_settle(l, false, send_eof);
	return 0;
}

enum link_step link_raw_step(struct link *l)
{
	int rc = 1;

	for (unsigned i = 0; rc > 0 && i < ROUNDS_MAX; i++)
		rc = read_some(l);
	if (rc >= 0)
		rc = write_queue(l);
	if (rc < 0)
		return lost(l, -rc);
	return l->remote_closed ? STEP_END : STEP_WAIT;
}

enum link_step link_raw_open(struct link *l)
{
	l->state = LINK_RUNNING;
	link_session_tell_open(l);
	return link_raw_step(l);
}
