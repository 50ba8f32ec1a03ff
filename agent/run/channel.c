/* channel - frames over two descriptors; writing never raises SIGPIPE to more than a dead link. */
#include "agent/base/clock.h"
#include "agent/run/session_priv.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define READ_CHUNK (64u << 10)

void channel_init(struct channel *c, int in, int out)
{
	*c = (struct channel){.in = in, .out = out, .dead = out < 0, .sent = clock_mono()};
	frame_reader_init(&c->reader, false);
}

void channel_done(struct channel *c)
{
	frame_reader_done(&c->reader);
}

void channel_send_bytes(struct channel *c, struct str bytes)
{
	if (bytes.n > 0)
		c->sent = clock_mono();
	while (!c->dead && bytes.n > 0) {
		const ssize_t n = write(c->out, bytes.p, bytes.n);

		if (n >= 0)
			bytes = str_from(bytes, (size_t)n);
		else if (errno != EINTR)
			c->dead = true;
	}
}

void channel_send(struct channel *c, const json_t *message)
{
	AUTO_BUF out;

	buf_init(&out, WIRE_FRAME_MAX + 64);
	message_write(message, &out);
	if (buf_ok(&out))
		channel_send_bytes(c, buf_str(&out));
}

void channel_keep_alive(struct channel *c)
{
	AUTO_JSON m = NULL;

	if (c->dead || clock_mono() - c->sent < SESSION_ALIVE)
		return;
	m = message_new("alive");
	channel_send(c, m);
}

void channel_send_event(struct channel *c, const json_t *record)
{
	static const char *const ours[] = {"args", "before", "after", "notify", NULL};
	AUTO_JSON event = NULL;

	if (c->dead)
		return;
	event = json_deep_copy(record);
	for (const char *const *k = ours; *k; k++)
		json_object_del(event, *k);

	json_put_str(event, "t", "event");
	channel_send(c, event);
}

/* 1 when bytes came or the other side ended; 0 when there were none until the deadline. */
static int fill(struct channel *c, int wait_ms, struct err *err)
{
	char chunk[READ_CHUNK];
	struct pollfd p = {.fd = c->in, .events = POLLIN};
	int ready = poll(&p, 1, wait_ms);
	ssize_t n;

	if (ready < 0 && errno == EINTR)
		return 1;
	if (ready <= 0)
		return ready < 0 ? err_sys(err, errno, "cannot wait for the controller") : 0;
	n = read(c->in, chunk, sizeof chunk);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n < 0)
		return err_sys(err, errno, "cannot read from the controller");
	if (n == 0)
		c->ended = true;
	frame_reader_feed(&c->reader, (struct str){chunk, (size_t)n});
	return 1;
}

int channel_next(struct channel *c, int64_t deadline, struct frame *f, struct err *err)
{
	for (;;) {
		int rc = frame_reader_next(&c->reader, f, err);

		if (rc != 0)
			return rc;
		if (c->ended || c->in < 0)
			return 0;
		rc = fill(c, clock_left_ms(deadline), err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			return err_set(err, E_TIMEOUT, "the controller said nothing in time");
	}
}

int channel_peek(struct channel *c, struct frame *f, struct err *err)
{
	int rc = frame_reader_next(&c->reader, f, err);

	while (rc == 0 && !c->ended && c->in >= 0) {
		rc = fill(c, 0, err);
		if (rc <= 0)
			return rc;
		rc = frame_reader_next(&c->reader, f, err);
	}
	return rc;
}

bool channel_is_message(const struct frame *f, const char *type)
{
	AUTO_JSON m = NULL;
	const char *t;
	struct err err;

	return f->type == 'J' && message_parse(f->payload, &m, &t, &err) == 0 &&
	       strcmp(t, type) == 0;
}
