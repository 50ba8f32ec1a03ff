/*
 * attach - follows the journal of a run, from where the controller left off to its end.
 *
 * A run that has just asked for a reboot, or whose node has just come up again, is not at work for
 * a moment and yet not interrupted: it is waited for. Not so where somebody else restarts the node:
 * then the final says that it waits.
 */
#include "agent/base/clock.h"
#include "agent/run/journal.h"
#include "agent/run/session_priv.h"

#include <stdio.h>
#include <string.h>

#define POLL        (100 * CLOCK_MS)
#define WITHIN_SECS 900
#define AFTER_BOOT  (60 * CLOCK_SEC) /* until the unit that goes on with the run is at work */
#define REASON_MAX  200

static const char AWAITS_RESTART[] =
	"the run waits for the restart of its node, which has not come yet";
static const char RESTART_IT[] = "restart the node; the run goes on by itself after the boot";

/* Where the journal of a run ends now. */
struct tail {
	json_t *end;        /* its end; NULL: it has none yet */
	bool rebooting;     /* the last record says so */
	bool same_boot;     /* and the node has not gone down yet */
	bool asked;         /* and somebody else restarts it */
	int64_t at, within; /* wall, of that; seconds */
	char waits[REASON_MAX];
};

static void note(const struct session *s, struct tail *t, const json_t *record)
{
	const char *ev = json_get_str(record, "ev", "");

	t->rebooting = strcmp(ev, "rebooting") == 0;
	t->asked = json_get_bool(record, "asked", false);
	t->same_boot = strcmp(json_get_str(record, "boot_id", ""), s->boot_id) == 0;
	t->at = json_get_int(record, "at", 0);
	t->within = json_get_int(record, "within", WITHIN_SECS) * CLOCK_SEC;
	snprintf(t->waits, sizeof t->waits, "%s",
		strcmp(ev, "waits") == 0 ? json_get_str(record, "why", "") : "");
	if (strcmp(ev, "end") == 0 && !t->end)
		t->end = json_deep_copy(record);
}

/* When a run that is not at work will be, if ever. */
static bool may_go_on(const struct tail *t, int64_t since)
{
	if (!t->rebooting || (t->asked && t->same_boot))
		return false;
	return t->same_boot ? clock_wall() < t->at + t->within : clock_mono() < since + AFTER_BOOT;
}

/* The run holds the node, so more may come. */
static bool is_running(const struct session *s, const char *run)
{
	AUTO_JSON holder = NULL;

	return journal_lock_holder(s->state, &holder, NULL) == 1 &&
	       strcmp(json_get_str(holder, "run", run), run) == 0;
}

static void final_of(json_t *final, const json_t *end)
{
	static const char *const keys[] = {
		"state", "counts", "plan_hash", "reason", "hint", "took_us", "cpu_us", NULL};

	for (const char *const *k = keys; *k; k++) {
		json_t *v = json_get(end, *k);

		if (v)
			json_object_set(final, *k, v);
	}
}

/* Without an end the run never came to one. */
static void send_final(struct session *s, const char *run, const struct tail *t)
{
	AUTO_JSON final = message_new("final");
	char hint[REASON_MAX];

	json_put_str(final, "run", run);
	if (t->end) {
		final_of(final, t->end);
	} else if (t->rebooting && t->same_boot) {
		json_put_str(final, "state", result_name(RESULT_INTERRUPTED));
		json_put_bool(final, "rebooting", true);
		json_put_str(final, "reason", AWAITS_RESTART);
		json_put_str(final, "hint", RESTART_IT);
	} else {
		json_put_str(final, "state", result_name(RESULT_INTERRUPTED));
		json_put_str(
			final, "reason", t->waits[0] ? t->waits : "the run never came to its end");
		snprintf(hint, sizeof hint, "stoika run resume %s", run);
		if (s->order.mode != ORDER_STAGE)
			json_put_str(final, "hint", hint);
	}
	channel_send(&s->channel, final);
}

/* What is in the journal now. */
static int send_records(
	struct session *s, struct journal_reader *r, struct tail *t, struct err *err)
{
	json_t *record;
	int rc = 0;

	while (!t->end && (rc = journal_reader_next(r, &record, err)) == 1) {
		channel_send_event(&s->channel, record);
		note(s, t, record);
		json_decref(record);
	}
	return t->end ? 0 : rc;
}

static void drain(struct session *s)
{
	struct frame f;

	while (channel_peek(&s->channel, &f, NULL) == 1) {
	}
	channel_keep_alive(&s->channel);
}

static int follow(struct session *s, struct journal_reader *r, struct tail *t, struct err *err)
{
	const int64_t since = clock_mono();

	for (;;) {
		const bool running = is_running(s, s->order.run);
		const int rc = send_records(s, r, t, err);

		/* Asked before reading, so that an end written in between is still seen. */
		if (rc < 0 || t->end || s->channel.dead)
			return rc;
		if (!running && !may_go_on(t, since))
			return 0;
		clock_sleep(POLL);
		drain(s);
	}
}

/* A run that has changed nothing yet has no journal. */
static int open_journal(struct session *s, struct journal_reader **r, struct err *err)
{
	for (;;) {
		const bool running = is_running(s, s->order.run);
		const int rc = journal_reader_open(s->state, s->order.run, s->order.after, r, err);

		if (rc != -E_NOTFOUND || !running || s->channel.dead)
			return rc;
		clock_sleep(POLL);
		drain(s);
	}
}

int attach_run(struct session *s, struct err *err)
{
	struct tail t = {0};
	struct journal_reader *r;
	int rc = open_journal(s, &r, err);

	if (rc < 0)
		return rc;
	rc = follow(s, r, &t, err);
	journal_reader_close(r);
	if (rc == 0)
		send_final(s, s->order.run, &t);
	json_drop(&t.end);
	return rc;
}

int attach_send_past(struct session *s, const char *run, struct err *err)
{
	struct tail t = {0};
	struct journal_reader *r;
	int rc = journal_reader_open(s->state, run, s->order.after, &r, err);

	if (rc < 0)
		return rc;
	rc = send_records(s, r, &t, err);
	journal_reader_close(r);
	json_drop(&t.end);
	return rc;
}

struct last {
	const struct session *session;
	struct tail tail;
};

static int see_last(void *ctx, const json_t *record, struct err *err)
{
	struct last *l = ctx;

	(void)err;
	note(l->session, &l->tail, record);
	return 0;
}

void attach_send_final(struct session *s, const char *run)
{
	struct last l = {.session = s};

	(void)journal_read(s->state, run, 0, see_last, &l, NULL);
	if (l.tail.rebooting)
		s->order.stay = false; /* the link ends here */
	else
		send_final(s, run, &l.tail);
	json_drop(&l.tail.end);
}

bool attach_read_restart(const struct session *s, const char *run, struct restart *out)
{
	struct last l = {.session = s};

	(void)journal_read(s->state, run, 0, see_last, &l, NULL);
	json_drop(&l.tail.end);
	*out = (struct restart){.asked = l.tail.asked, .done = !l.tail.same_boot, .at = l.tail.at};
	return l.tail.rebooting;
}

int attach_refuse_early(const struct session *s, const char *run, struct err *err)
{
	struct restart r;

	if (!attach_read_restart(s, run, &r) || r.done || !r.asked)
		return 0;
	err_set(err, E_STATE, "run '%s': %s", run, AWAITS_RESTART);
	return err_hint(err, "%s", RESTART_IT);
}
