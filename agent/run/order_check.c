/* order_check - whether an order may be obeyed: signature first, then everything it says. */
#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/run/papers.h"
#include "agent/run/secret.h"
#include "agent/run/session_priv.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_FILE_MAX 256
#define AGAIN_MAX     256

static const char REINSTALL[] =
	"this node trusts another controller's key: stoika agent install NODE";

static int check_signature(
	const struct session *s, struct str text, const char *sig, struct err *err)
{
	const int rc = sign_check(s->key, text, str_of(sig), err);

	if (rc < 0) {
		err_wrap(err, "order");
		return err_hint(err, "%s", REINSTALL);
	}
	return 0;
}

void order_read_name(const struct session *s, struct buf *name)
{
	AUTO_BUF text;

	buf_init(&text, NAME_FILE_MAX);
	buf_init(name, NAME_FILE_MAX);
	if (fs_read(s->state, SESSION_NAME_FILE, &text, NULL) == 0)
		buf_add_str(name, str_trim(buf_str(&text)));
}

static int take_name(const struct session *s, const char *node, struct err *err)
{
	AUTO_BUF line;
	int rc;

	buf_init(&line, NAME_FILE_MAX);
	buf_addf(&line, "%s\n", node);
	rc = fs_replace(
		s->state, SESSION_NAME_FILE, buf_str(&line), 0600, geteuid(), getegid(), err);
	return rc < 0 ? err_wrap(err, "the node's name cannot be kept") : 0;
}

int order_check_node(struct session *s, const struct order *o, bool take, struct err *err)
{
	AUTO_BUF name = {0};

	order_read_name(s, &name);
	if (name.n == 0)
		return take ? take_name(s, o->node, err) : 0;
	if (str_is(buf_str(&name), o->node))
		return 0;
	err_set(err, E_VERIFY, "the order is for node '%s', this one is '%s'", o->node,
		buf_text(&name));
	return err_hint(err, "check the node's address in the inventory; after a renaming: stoika "
			     "agent install NODE");
}

/* It answers the nonce of a moment ago, so it was issued just now, by the controller's clock. */
static int check_freshness(const struct session *s, struct err *err)
{
	const int64_t ahead = clock_wall() / CLOCK_SEC - s->order.issued;
	char when[24];

	if (strcmp(s->order.nonce, s->nonce) != 0)
		return err_set(err, E_VERIFY, "the order answers another session's greeting");
	if (s->order.expires * CLOCK_SEC > clock_wall())
		return 0;
	clock_format(s->order.expires * CLOCK_SEC, when);
	err_set(err, E_VERIFY, "the order expired at %s: the node's clock is %lld s ahead", when,
		(long long)ahead);
	return err_hint(err, "of the controller's; compare 'date -u' on both, and see "
			     "'timedatectl' or 'chronyc tracking' on the node");
}

void order_forget(struct session *s)
{
	bundle_close(s->bundle);
	s->bundle = NULL;
	order_done(&s->order);
	s->order = (struct order){0};
	redact_free(s->redact);
	s->redact = NULL;
	json_drop(&s->papers);
	if (s->memory)
		run_memory_forget_order(s->memory);
	arena_free(s->arena);
	s->arena = arena_new();
	s->again = false;
	s->resumed_by = NULL;
}

/* --- secrets --- */

/* They come right behind the order. */
static int take_secrets(struct session *s, struct err *err)
{
	AUTO_JSON m = NULL;
	const char *t = "";
	struct frame f;
	int rc;

	if (s->order.n_secrets == 0)
		return 0;
	secret_wipe_json();
	rc = channel_next(&s->channel, clock_mono() + SESSION_ORDER_WAIT, &f, err);
	if (rc == 0)
		return err_set(err, E_NET, "the link ended before the secrets came");
	if (rc == 1 && f.type == 'J')
		rc = message_parse(f.payload, &m, &t, err);
	frame_reader_wipe(&s->channel.reader);
	if (rc < 0)
		return rc;
	if (strcmp(t, "secrets") != 0)
		return err_set(err, E_SYNTAX, "the order names secrets, and they do not follow it");
	rc = secret_take(&s->order, m, err);
	if (rc == 0)
		s->redact = redact_new(s->order.secret_values);
	return rc;
}

/* --- an order --- */

static int judge(struct session *s, const json_t *message, struct err *err)
{
	const char *body = json_get_str(message, "body", NULL),
		   *sig = json_get_str(message, "sig", "");
	int rc;

	if (!body)
		return err_set(err, E_SCHEMA, "an order without a 'body'");
	if ((rc = check_signature(s, str_of(body), sig, err)) < 0 ||
		(rc = order_parse(s->arena, str_of(body), &s->order, err)) < 0 ||
		(rc = check_freshness(s, err)) < 0 ||
		(rc = order_check_node(s, &s->order, true, err)) < 0)
		return rc;
	s->papers = papers_new(str_of(body), sig, NULL, NULL);
	hash_hex(str_of(body), s->order_hash);
	return take_secrets(s, err);
}

/* The last order under another run's id; its signature is of this link and of that very order. */
static int judge_again(struct session *s, const json_t *message, struct err *err)
{
	const char *run = json_get_str(message, "run", ""), *sig = json_get_str(message, "sig", "");
	AUTO_BUF text = {0};
	json_t *papers;
	int rc;

	if (!s->order.body || s->order.mode == ORDER_RESUME)
		return err_set(err, E_STATE, "there is no order to be obeyed again");
	if (!order_is_run_id(run))
		return err_set(err, E_SCHEMA, "'%.80s' is not a run's id", run);
	buf_init(&text, AGAIN_MAX);
	order_again_text(&text, s->nonce, run, s->order_hash);
	if ((rc = check_signature(s, buf_str(&text), sig, err)) < 0)
		return rc;
	snprintf(s->run, sizeof s->run, "%s", run);
	s->order.run = s->run;
	s->again = true;
	papers = papers_new(str_of(json_get_str(s->papers, "body", "")),
		json_get_str(s->papers, "sig", ""), s->nonce, sig);
	json_drop(&s->papers);
	s->papers = papers;
	return 0;
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

int order_await_next(struct session *s, bool *broken, struct err *err)
{
	for (;;) {
		AUTO_JSON message = NULL;
		const char *t;
		struct frame f;
		int rc = channel_next(&s->channel, 0, &f, err);

		*broken = rc < 0;
		if (rc <= 0)
			return rc;
		if (f.type != 'J') /* of a bundle that came although it was here */
			continue;
		rc = message_parse(f.payload, &message, &t, err);
		*broken = rc < 0;
		if (rc < 0)
			return rc;
		if (strcmp(t, "order") == 0) {
			order_forget(s);
			rc = judge(s, message, err);
			return rc < 0 ? rc : 1;
		}
		if (strcmp(t, "again") == 0) {
			rc = judge_again(s, message, err);
			return rc < 0 ? rc : 1;
		}
	}
}
