/* message - the envelope {"t": ...}; what an order holds is in order.c. */
#include "agent/wire/message.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/wire/frame.h"

json_t *message_new(const char *t)
{
	json_t *m = json_object();

	json_put_str(m, "t", t);
	return m;
}

void message_write(const json_t *m, struct buf *out)
{
	AUTO_BUF text;

	buf_init(&text, WIRE_FRAME_MAX);
	json_write(m, &text);
	if (!buf_ok(&text))
		out->overflowed = true;
	else
		frame_write(out, 'J', buf_str(&text));
}

int message_parse(struct str payload, json_t **out, const char **t, struct err *err)
{
	AUTO_JSON m = NULL;
	const int rc = json_parse(payload, WIRE_FRAME_MAX, "message", &m, err);

	if (rc < 0)
		return rc;

	const char *type = json_get_str(m, "t", NULL);

	if (!type)
		return err_set(
			err, E_SCHEMA, "a message without its type, expected an object with 't'");
	*t = type;
	*out = json_incref(m);
	return 0;
}
