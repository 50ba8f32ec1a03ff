/*
 * resume - goes on with a run that never ended: for a controller that asks, or by itself after a
 * boot.
 *
 * The run's order lies beside its journal and is checked against the key again; the
 * bundle must still be here. Which steps are done the journal says (past.c).
 */
#include "agent/base/mem.h"
#include "agent/run/journal.h"
#include "agent/run/papers.h"
#include "agent/run/session_priv.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BY_ITSELF "the node itself"

/* The kept order takes the place of the one that asks; what that brought goes along. */
static int take_order(struct session *s, const char *run, struct err *err)
{
	AUTO_JSON papers = NULL;
	struct order kept;
	int rc = journal_read_order(s->state, run, &papers, err);

	if (rc < 0) {
		err_wrap(err, "run '%s' cannot be gone on with: its order", run);
		return err_hint(err, "apply again: what is done stays done");
	}
	rc = papers_read(papers, s->key, run, s->arena, &kept, err);
	if (rc < 0)
		return rc;
	kept.secret_values = json_incref(s->order.secret_values);
	kept.stay = s->order.stay;
	order_done(&s->order);
	s->order = kept;
	json_decref(s->papers);
	s->papers = json_incref(papers);
	return order_check_node(s, &s->order, false, err);
}

static int find(struct session *s, struct journal_left *left, struct err *err)
{
	const int rc = journal_unfinished(s->state, s->arena, left, err);

	if (rc == 0 && left->ended)
		left->run = NULL;
	return rc;
}

static bool is_at_work(const struct session *s, const char *run)
{
	AUTO_JSON holder = NULL;

	return journal_lock_holder(s->state, &holder, NULL) == 1 &&
	       strcmp(json_get_str(holder, "run", ""), run) == 0;
}

static int see_end(void *ctx, const json_t *record, struct err *err)
{
	bool *ended = ctx;

	(void)err;
	*ended = *ended || strcmp(json_get_str(record, "ev", ""), "end") == 0;
	return 0;
}

/* It ended, or another run has been begun since. */
static int tell_what_became(struct session *s, struct err *err)
{
	bool ended = false;
	const int rc = journal_read(s->state, s->order.run, 0, see_end, &ended, err);

	if (rc < 0)
		return rc;
	if (ended)
		return attach_run(s, err);
	err_set(err, E_STATE, "run '%s' is no longer the last one of this node", s->order.run);
	return err_hint(err, "apply again: what it did stays done");
}

int resume_obey(struct session *s, struct err *err)
{
	struct journal_left left = {0};
	int rc;

	if (is_at_work(s, s->order.run))
		return attach_run(s, err);
	rc = find(s, &left, err);
	if (rc < 0)
		return rc;
	if (!left.run || strcmp(left.run, s->order.run) != 0)
		return tell_what_became(s, err);
	s->resumed_by = arena_strdup(s->arena, s->order.by);
	rc = attach_refuse_early(s, left.run, err);
	if (rc == 0)
		rc = attach_send_past(s, left.run, err);
	if (rc == 0)
		rc = take_order(s, left.run, err);
	return rc == 0 ? session_run(s, NULL, err) : rc;
}

static int resume_alone(struct session *s, struct run_outcome *out, struct err *err)
{
	struct journal_left left = {0};
	int rc = session_open(s, err);

	if (rc == 0)
		rc = find(s, &left, err);
	if (rc < 0)
		return rc;
	if (!left.run)
		return 1;
	greeting_read_ids(s);
	if (attach_refuse_early(s, left.run, NULL) < 0) {
		out->rebooting = true;
		return 0;
	}
	s->resumed_by = BY_ITSELF;
	rc = take_order(s, left.run, err);
	return rc == 0 ? session_run(s, out, err) : rc;
}

int session_resume(const struct session_opts *o, struct run_outcome *out, struct err *err)
{
	struct session s = {
		.opts = o, .root = -1, .state = -1, .bundles = -1, .lock = -1, .orders = -1};
	int rc;

	*out = (struct run_outcome){0};
	s.arena = arena_new();
	channel_init(&s.channel, -1, -1);
	rc = resume_alone(&s, out, err);
	session_close(&s);
	return rc;
}
