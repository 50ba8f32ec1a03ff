/* reception - a bundle that is not here: asked for, taken in frame by frame, judged by bundle_in.
 */
#include "agent/base/clock.h"
#include "agent/run/session_priv.h"

#include <string.h>

static int next_frame(struct session *s, struct frame *f, struct err *err)
{
	const int rc = channel_next(&s->channel, clock_mono() + SESSION_BYTES_WAIT, f, err);

	if (rc == 0)
		return err_set(err, E_NET, "the link ended in the middle of the bundle");
	return rc;
}

static int begin(
	struct session *s, const json_t *m, struct bundle_in **in, uint64_t *size, struct err *err)
{
	const struct str manifest = str_of(json_get_str(m, "manifest", ""));
	const int64_t n = json_get_int(m, "size", -1);
	char digest[HASH_HEX];

	hash_hex(manifest, digest);
	if (n < 0)
		return err_set(err, E_SCHEMA, "a bundle without a 'size'");
	if (strcmp(digest, s->order.bundle) != 0)
		return err_set(
			err, E_VERIFY, "the bundle sent is not the one that the order names");
	*size = (uint64_t)n;
	return bundle_in_begin(&s->store, manifest, str_of(json_get_str(m, "sig", "")), *size,
		clock_wall() / CLOCK_SEC, in, err);
}

/* Waits for the announcement; other messages may stand before it. */
static int announced(struct session *s, struct bundle_in **in, uint64_t *size, struct err *err)
{
	for (;;) {
		AUTO_JSON m = NULL;
		struct frame f;
		const char *t;
		int rc = next_frame(s, &f, err);

		if (rc < 0)
			return rc;
		if (f.type != 'J')
			return err_set(err, E_SYNTAX, "bytes of a bundle that was not announced");
		rc = message_parse(f.payload, &m, &t, err);
		if (rc < 0)
			return rc;
		if (strcmp(t, "cancel") == 0)
			return err_set(err, E_CANCELLED, "cancelled before the bundle came");
		if (strcmp(t, "bundle") == 0)
			return begin(s, m, in, size, err);
	}
}

static int take_bytes(struct session *s, struct bundle_in *in, uint64_t left, struct err *err)
{
	while (left > 0) {
		struct frame f;
		int rc = next_frame(s, &f, err);

		if (rc < 0)
			return rc;
		if (channel_is_message(&f, "cancel"))
			return err_set(err, E_CANCELLED, "cancelled while the bundle came");
		if (f.type != 'D' || f.payload.n > left)
			return err_set(
				err, E_SYNTAX, "the bundle has more bytes than were announced");
		rc = bundle_in_add(in, f.payload, err);
		if (rc < 0)
			return rc;
		left -= f.payload.n;
	}
	return 0;
}

static int receive(struct session *s, struct err *err)
{
	AUTO_JSON need = message_new("need");
	struct bundle_in *in = NULL;
	uint64_t size = 0;
	int rc;

	json_put_str(need, "bundle", s->order.bundle);
	channel_send(&s->channel, need);
	rc = announced(s, &in, &size, err);
	if (rc < 0)
		return rc;
	rc = take_bytes(s, in, size, err);
	if (rc < 0) {
		bundle_in_cancel(in);
		return rc;
	}
	return bundle_in_finish(in, err);
}

int reception_open_bundle(struct session *s, struct err *err)
{
	int rc = bundle_open(&s->store, s->arena, s->order.bundle, &s->bundle, err);

	if (rc == -E_NOTFOUND && s->channel.in < 0)
		return err_hint(err, "stoika run resume %s sends it again", s->order.run);
	if (rc == -E_NOTFOUND) {
		rc = receive(s, err);
		if (rc == 0)
			rc = bundle_open(&s->store, s->arena, s->order.bundle, &s->bundle, err);
	}
	if (rc < 0)
		return rc;
	return bundle_vet(
		&s->store, s->bundle, clock_wall() / CLOCK_SEC, s->resumed_by != NULL, err);
}
