/* store_rollout - the rollout's own row: what was ordered, where it stands, what a person asks. */
#include "agent/base/clock.h"
#include "inventory/store/rollout.h"
#include "inventory/store/store_priv.h"

#include <string.h>

enum {
	ADD,
	GET,
	PUT,
	ASKED,
	ASK,
	ANSWERED,
	STATE
};
#define RUN_ID "(SELECT id FROM runs WHERE name = :run)"

static const char *const SQL[] = {
	/* a null as its key would be given the next free number */
	[ADD] = "INSERT INTO rollouts (run_id, body, paused, reason, forgiven_ns, opened_ns, stage)"
		" SELECT id, :body, :paused, :reason, :forgiven, :opened, :stage FROM runs"
		" WHERE name = :run",
	[GET] = "SELECT body, paused, asked, reason, forgiven_ns, opened_ns, stage FROM rollouts"
		" WHERE run_id = " RUN_ID,
	[PUT] = "UPDATE rollouts SET paused = :paused, reason = :reason, forgiven_ns = :forgiven,"
		" opened_ns = :opened, stage = :stage WHERE run_id = " RUN_ID,
	[ASKED] = "SELECT asked, asked_by FROM rollouts WHERE run_id = " RUN_ID,
	[ASK] = "UPDATE rollouts SET asked = :asked, asked_by = :by, asked_ns = :now"
		" WHERE run_id = " RUN_ID,
	[ANSWERED] = "UPDATE rollouts SET asked = '' WHERE run_id = " RUN_ID " AND asked = :asked",
	[STATE] = "SELECT r.state, o.asked FROM rollouts o JOIN runs r ON r.id = o.run_id"
		  " WHERE r.name = :run",
};

static struct query start(struct store *s, unsigned i, const char *run)
{
	struct query q = query_start(s, PART_ROLLOUT, SQL, i);

	query_text(&q, ":run", run);
	return q;
}

static int no_rollout(struct err *err, const char *run)
{
	err_set(err, E_NOTFOUND, "run '%s' is no rollout", run);
	return err_hint(
		err, "a rollout is ordered by 'stoika apply RECIPE NODES --rollout POLICY'");
}

static void bind_place(struct query *q, const struct rollout_row *r)
{
	query_int(q, ":paused", r->paused);
	query_text(q, ":reason", r->reason ? r->reason : "");
	query_int(q, ":forgiven", r->forgiven);
	query_int(q, ":opened", r->opened);
	query_int(q, ":stage", r->stage);
}

int store_rollout_add(struct store *s, const struct rollout_row *r, struct err *err)
{
	AUTO_QUERY q = start(s, ADD, r->run);
	int rc;

	query_text(&q, ":body", r->order ? r->order : "{}");
	bind_place(&q, r);
	rc = query_run(&q, err);
	if (rc == 0 && sqlite3_changes(s->db) == 0)
		rc = err_set(err, E_NOTFOUND, "there is no run '%s'", r->run);
	return rc < 0 ? err_wrap(err, "rollout '%s' cannot be kept", r->run) : 0;
}

int store_rollout_get(
	struct store *s, struct arena *a, const char *run, struct rollout_row *out, struct err *err)
{
	AUTO_QUERY q = start(s, GET, run);
	const int rc = query_next(&q, err);

	if (rc <= 0)
		return rc < 0 ? rc : no_rollout(err, run);
	*out = (struct rollout_row){
		.run = arena_strdup(a, run),
		.order = query_get_word(&q, 0, a),
		.paused = query_get_int(&q, 1) != 0,
		.asked = query_get_word(&q, 2, a),
		.reason = query_get_word(&q, 3, a),
		.forgiven = query_get_int(&q, 4),
		.opened = query_get_int(&q, 5),
		.stage = (unsigned)query_get_int(&q, 6),
	};
	return 0;
}

int store_rollout_put(struct store *s, const struct rollout_row *r, struct err *err)
{
	AUTO_QUERY q = start(s, PUT, r->run);
	int rc;

	bind_place(&q, r);
	rc = query_run(&q, err);
	return rc == 0 && sqlite3_changes(s->db) == 0 ? no_rollout(err, r->run) : rc;
}

int store_rollout_asked(struct store *s, struct arena *a, const char *run, const char **asked,
	const char **by, struct err *err)
{
	AUTO_QUERY q = start(s, ASKED, run);
	const int rc = query_next(&q, err);

	if (rc <= 0)
		return rc < 0 ? rc : no_rollout(err, run);
	*asked = query_get_word(&q, 0, a);
	*by = query_get_word(&q, 1, a);
	return 0;
}

/* E_STATE when nothing can be asked of it any more. */
static int check_may_ask(struct store *s, const char *run, const char *asked, struct err *err)
{
	AUTO_QUERY q = start(s, STATE, run);
	const int rc = query_next(&q, err);
	const char *state, *before;

	if (rc <= 0)
		return rc < 0 ? rc : no_rollout(err, run);
	state = (const char *)sqlite3_column_text(q.st, 0);
	before = (const char *)sqlite3_column_text(q.st, 1);
	if (!state || !before)
		return err_set(err, E_INTERNAL, "rollout '%s' cannot be read", run);
	if (strcmp(state, "running") != 0 && strcmp(state, "interrupted") != 0) {
		err_set(err, E_STATE, "rollout '%s' has ended: %s", run, state);
		return err_hint(err, "see it with 'stoika run show %s'", run);
	}
	if (strcmp(before, "abort") == 0 && strcmp(asked, "abort") != 0) {
		err_set(err, E_STATE, "rollout '%s' is being aborted", run);
		return err_hint(err, "watch it come home with 'stoika run watch %s'", run);
	}
	return 0;
}

int store_rollout_ask(
	struct store *s, const char *run, const char *asked, const char *by, struct err *err)
{
	AUTO_QUERY q = start(s, ASK, run);
	int rc = check_may_ask(s, run, asked, err);

	if (rc < 0)
		return rc;
	query_text(&q, ":asked", asked);
	query_text(&q, ":by", by ? by : "");
	query_int(&q, ":now", clock_wall());
	rc = query_run(&q, err);
	return rc == -E_CONFLICT ? err_wrap(err, "rollout '%s' cannot be asked to '%s'", run, asked)
				 : rc;
}

int store_rollout_answered(struct store *s, const char *run, const char *asked, struct err *err)
{
	AUTO_QUERY q = start(s, ANSWERED, run);

	query_text(&q, ":asked", asked);
	return query_run(&q, err);
}
