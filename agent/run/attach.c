/* attach - follows the journal of a run, from where the controller left off to its end. */
#include "agent/base/clock.h"
#include "agent/run/journal.h"
#include "agent/run/session_priv.h"

#include <string.h>

#define POLL (100 * CLOCK_MS)

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

/* end NULL: the run never came to one. */
static void send_final(struct session *s, const char *run, const json_t *end)
{
	AUTO_JSON final = message_new("final");

	json_put_str(final, "run", run);
	if (end) {
		final_of(final, end);
	} else {
		json_put_str(final, "state", result_name(RESULT_INTERRUPTED));
		json_put_str(final, "reason",
			"the run never came to its end; apply again to go on from there");
	}
	channel_send(&s->channel, final);
}

static bool is_end(const json_t *record)
{
	return strcmp(json_get_str(record, "ev", ""), "end") == 0;
}

/* What is in the journal now; *end is set when that is its end. */
static int send_records(struct session *s, struct journal_reader *r, json_t **end, struct err *err)
{
	json_t *record;
	int rc = 0;

	while (!*end && (rc = journal_reader_next(r, &record, err)) == 1) {
		channel_send_event(&s->channel, record);
		if (is_end(record))
			*end = json_incref(record);
		json_decref(record);
	}
	return *end ? 0 : rc;
}

static void drain(struct session *s)
{
	struct frame f;

	while (channel_peek(&s->channel, &f, NULL) == 1) {
	}
}

static int follow(struct session *s, struct journal_reader *r, json_t **end, struct err *err)
{
	for (;;) {
		const bool running = is_running(s, s->order.run);
		const int rc = send_records(s, r, end, err);

		/* Asked before reading, so that an end written in between is still seen. */
		if (rc < 0 || *end || !running || s->channel.dead)
			return rc;
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
	}
}

int attach_run(struct session *s, struct err *err)
{
	AUTO_JSON end = NULL;
	struct journal_reader *r;
	int rc = open_journal(s, &r, err);

	if (rc < 0)
		return rc;
	rc = follow(s, r, &end, err);
	journal_reader_close(r);
	if (rc == 0)
		send_final(s, s->order.run, end);
	return rc;
}

static int keep_end(void *ctx, const json_t *record, struct err *err)
{
	json_t **end = ctx;

	(void)err;
	if (is_end(record) && !*end)
		*end = json_deep_copy(record);
	return 0;
}

void attach_send_final(struct session *s, const char *run)
{
	AUTO_JSON end = NULL;

	(void)journal_read(s->state, run, 0, keep_end, &end, NULL);
	send_final(s, run, end);
}
