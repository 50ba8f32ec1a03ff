/* frame - one growing buffer; bytes of frames already handed out are dropped at the next feed. */
#include "agent/wire/frame.h"

#include "agent/base/err.h"

#include <string.h>

#define HEAD      4u
#define MAGIC_LEN (sizeof WIRE_MAGIC - 1)
/* One whole frame, the start of the next ones from the same read, and the noise before. */
#define READER_MAX (2u * (HEAD + WIRE_FRAME_MAX) + WIRE_NOISE_MAX)

static struct str waiting(const struct frame_reader *r)
{
	return str_from(buf_str(&r->in), r->used);
}

static void skip(struct frame_reader *r, size_t n)
{
	r->used += n;
	r->noise += n;
}

/* 1 when the magic was found, 0 when it may still come. */
static int find_magic(struct frame_reader *r, struct err *err)
{
	const struct str have = waiting(r);
	const size_t at = str_find_str(have, STR_LIT(WIRE_MAGIC));

	if (at != STR_NONE) {
		skip(r, at);
		r->used += MAGIC_LEN;
		r->synced = true;
	} else if (have.n >= MAGIC_LEN) {
		skip(r, have.n - (MAGIC_LEN - 1));
	}
	if (r->noise > WIRE_NOISE_MAX) {
		err_set(err, E_LIMIT,
			"the other side wrote %zu bytes and none was an agent's greeting",
			r->noise);
		return err_hint(err,
			"check the node's shell start-up files and the command= of its "
			"authorized_keys");
	}
	return r->synced ? 1 : 0;
}

static size_t read_length(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (size_t)u[0] << 24 | (size_t)u[1] << 16 | (size_t)u[2] << 8 | (size_t)u[3];
}

void frame_reader_init(struct frame_reader *r, bool want_magic)
{
	*r = (struct frame_reader){.synced = !want_magic};
	buf_init(&r->in, READER_MAX);
}

void frame_reader_done(struct frame_reader *r)
{
	buf_done(&r->in);
}

void frame_reader_wipe(struct frame_reader *r)
{
	if (!r->in.p)
		return;
	explicit_bzero(r->in.p, r->used);
	explicit_bzero(r->in.p + r->in.n, r->in.room - r->in.n); /* what was moved to the front */
}

void frame_reader_feed(struct frame_reader *r, struct str bytes)
{
	if (r->used > 0) {
		buf_drop(&r->in, r->used);
		r->used = 0;
	}
	buf_add_str(&r->in, bytes);
}

int frame_reader_next(struct frame_reader *r, struct frame *f, struct err *err)
{
	if (!buf_ok(&r->in))
		return err_set(
			err, E_LIMIT, "more than %u bytes of frames are waiting", READER_MAX);
	if (!r->synced) {
		const int rc = find_magic(r, err);

		if (rc <= 0)
			return rc;
	}

	const struct str have = waiting(r);

	if (have.n < HEAD)
		return 0;

	const size_t n = read_length(have.p);

	if (n < 1)
		return err_set(err, E_SYNTAX, "a frame without a type");
	if (n > WIRE_FRAME_MAX)
		return err_set(err, E_LIMIT, "a frame of %zu bytes, at most %u are allowed", n,
			WIRE_FRAME_MAX);
	if (have.n < HEAD + 1)
		return 0;
	if (have.p[HEAD] != 'J' && have.p[HEAD] != 'D')
		return err_set(err, E_SYNTAX, "a frame of unknown type %d, expected 'J' or 'D'",
			(unsigned char)have.p[HEAD]);
	if (have.n < HEAD + n)
		return 0;
	f->type = have.p[HEAD];
	f->payload = (struct str){have.p + HEAD + 1, n - 1};
	r->used += HEAD + n;
	return 1;
}

void frame_write(struct buf *out, char type, struct str payload)
{
	const size_t n = payload.n + 1;
	const unsigned char head[HEAD + 1] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
		(unsigned char)(n >> 8), (unsigned char)n, (unsigned char)type};

	if (n > WIRE_FRAME_MAX) {
		out->overflowed = true;
		return;
	}
	buf_add(out, head, sizeof head);
	buf_add_str(out, payload);
}
