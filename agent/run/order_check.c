/* order_check - whether an order may be obeyed: signature first, then everything it says. */
#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/run/session_priv.h"

#include <string.h>

#define NAME_FILE     "name"
#define NAME_FILE_MAX 256

static const char REINSTALL[] =
	"this node trusts another controller's key: stoika agent install NODE";

static int check_signature(
	const struct session *s, struct str body, const char *sig, struct err *err)
{
	const int rc = sign_check(s->key, body, str_of(sig), err);

	if (rc < 0) {
		err_wrap(err, "order");
		return err_hint(err, "%s", REINSTALL);
	}
	return 0;
}

/* The name that the node was installed for, when it was told one. */
static int check_node(const struct session *s, struct err *err)
{
	AUTO_BUF text;
	struct str name;
	int rc;

	buf_init(&text, NAME_FILE_MAX);
	rc = fs_read(s->state, NAME_FILE, &text, err);
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	name = str_trim(buf_str(&text));
	if (str_is(name, s->order.node))
		return 0;
	err_set(err, E_VERIFY, "the order is for node '%s', this one is '" STR_FMT "'",
		s->order.node, STR_ARG(name));
	return err_hint(err, "check the node's address in the inventory; after a renaming: stoika "
			     "agent install NODE");
}

static int check_freshness(const struct session *s, struct err *err)
{
	char when[24];

	if (strcmp(s->order.nonce, s->nonce) != 0)
		return err_set(err, E_VERIFY, "the order answers another session's greeting");
	if (s->order.expires * CLOCK_SEC > clock_wall())
		return 0;
	clock_format(s->order.expires * CLOCK_SEC, when);
	err_set(err, E_VERIFY, "the order expired at %s", when);
	return err_hint(err, "the clocks of controller and node differ: date -u on both");
}

static int judge(struct session *s, const json_t *message, struct err *err)
{
	const char *body = json_get_str(message, "body", NULL),
		   *sig = json_get_str(message, "sig", "");
	int rc;

	if (!body)
		return err_set(err, E_SCHEMA, "an order without a 'body'");
	if ((rc = check_signature(s, str_of(body), sig, err)) < 0 ||
		(rc = order_parse(s->arena, str_of(body), &s->order, err)) < 0 ||
		(rc = check_freshness(s, err)) < 0)
		return rc;
	return check_node(s, err);
}

int order_receive(struct session *s, bool *broken, struct err *err)
{
	AUTO_JSON message = NULL;
	const char *t;
	struct frame f;
	int rc = channel_next(&s->channel, clock_mono() + SESSION_ORDER_WAIT, &f, err);

	*broken = rc < 0;
	if (rc <= 0)
		return rc;
	*broken = true;
	if (f.type != 'J')
		return err_set(err, E_SYNTAX, "bytes of a bundle before any order");
	rc = message_parse(f.payload, &message, &t, err);
	if (rc < 0)
		return rc;
	if (strcmp(t, "order") != 0)
		return err_set(err, E_SYNTAX, "message '%s', expected 'order'", t);
	*broken = false;
	rc = judge(s, message, err);
	return rc < 0 ? rc : 1;
}
