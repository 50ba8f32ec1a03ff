/* store_run - runs, their results per node, and their events. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "inventory/store/store_priv.h"

#include <string.h>

#define RECORD_MAX ((size_t)4 << 20) /* JSON text of one event */

#define RUN_COLUMNS                                                                \
	"SELECT name, mode, recipes, nodes, started_by, state, plan_hash, bundle," \
	" started_ns, ended_ns, n_nodes FROM runs "

enum {
	ADD,
	END,
	LIST,
	ALL,
	NEWEST,
	BY_PREFIX,
	COUNTS,
	RESULT_PUT,
	RESULTS,
	EVENT_MARK,
	EVENT_ADD,
	EVENTS
};
static const char *const SQL[] = {
	/* "NAME-apply" is a part of rollout NAME: '.' is the character behind '-' */
	[ADD] = "INSERT INTO runs (name, mode, recipes, nodes, started_by, state, plan_hash,"
		" bundle, started_ns, ended_ns, n_nodes, of_run) VALUES (:name, :mode, :recipes,"
		" :nodes, :by, :state, :plan, :bundle, :started, :ended, :n,"
		" (SELECT o.run_id FROM rollouts o JOIN runs w ON w.id = o.run_id"
		" WHERE :name > w.name || '-' AND :name < w.name || '.'))",
	[END] = "UPDATE runs SET state = :state, ended_ns = :now,"
		" plan_hash = COALESCE(:plan, plan_hash) WHERE name = :name",
	[LIST] = RUN_COLUMNS "WHERE of_run IS NULL ORDER BY started_ns DESC, id DESC LIMIT :limit",
	[ALL] = RUN_COLUMNS "ORDER BY started_ns DESC, id DESC LIMIT :limit",
	[NEWEST] = RUN_COLUMNS "WHERE of_run IS NULL ORDER BY started_ns DESC, id DESC LIMIT 1",
	/* an exact name comes first */
	[BY_PREFIX] = RUN_COLUMNS "WHERE name >= :from AND name < :to"
				  " AND (of_run IS NULL OR name = :from) ORDER BY name LIMIT 4",
	[COUNTS] = "SELECT c.state, count(*) FROM node_results c JOIN runs r ON r.id = c.run_id"
		   " WHERE r.name = :run GROUP BY c.state",
	[RESULT_PUT] =
		"INSERT INTO node_results (run_id, node_id, node_name, state, counts, plan_hash,"
		" reason, hint, took_ns, agent_pass_ns, agent_process_ns)"
		" VALUES ((SELECT id FROM runs WHERE name = :run), :node, :node_name, :state,"
		" :counts, :plan, :reason, :hint, :took, :pass, :process)"
		" ON CONFLICT (run_id, node_id) DO UPDATE SET node_name = excluded.node_name,"
		" state = excluded.state, counts = excluded.counts, plan_hash = excluded.plan_hash,"
		" reason = excluded.reason, hint = excluded.hint, took_ns = excluded.took_ns,"
		" agent_pass_ns = excluded.agent_pass_ns,"
		" agent_process_ns = excluded.agent_process_ns",
	[RESULTS] = "SELECT " RESULT_COLUMNS " FROM node_results c JOIN runs r ON r.id = c.run_id"
		    " WHERE r.name = :run",
	[EVENT_MARK] = "INSERT INTO event_marks (run_id, node_id, seq)"
		       " VALUES ((SELECT id FROM runs WHERE name = :run), :node, :seq)"
		       " ON CONFLICT (run_id, node_id) DO UPDATE SET seq = excluded.seq"
		       " WHERE excluded.seq > event_marks.seq",
	[EVENT_ADD] = "INSERT INTO events (run_id, node_id, record)"
		      " VALUES ((SELECT id FROM runs WHERE name = :run), :node, :record)",
	[EVENTS] = "SELECT e.id, e.node_id, n.name, e.record FROM events e"
		   " JOIN nodes n ON n.id = e.node_id"
		   " WHERE e.run_id = (SELECT id FROM runs WHERE name = :run) AND e.id > :after"
		   " ORDER BY e.id LIMIT :limit",
};

static const char *word(const char *text)
{
	return text ? text : "";
}

int store_run_add(struct store *s, const struct run_row *r, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, ADD);
	int rc;

	query_text(&q, ":name", r->id);
	query_text(&q, ":mode", word(r->mode));
	query_text(&q, ":recipes", word(r->recipes));
	query_text(&q, ":nodes", word(r->nodes));
	query_text(&q, ":by", word(r->by));
	query_text(&q, ":state", r->state ? r->state : "running");
	query_text(&q, ":plan", word(r->plan_hash));
	query_text(&q, ":bundle", word(r->bundle));
	query_int(&q, ":started", r->started ? r->started : clock_wall());
	query_int(&q, ":ended", r->ended);
	query_int(&q, ":n", r->n_nodes);
	rc = query_run(&q, err);
	if (rc == -E_CONFLICT)
		err_wrap(err, "run '%s' cannot be kept", r->id);
	return rc;
}

static int no_run(struct err *err, const char *id)
{
	err_set(err, E_NOTFOUND, "there is no run '%s'", id);
	return err_hint(err, "see them with 'stoika list runs'");
}

int store_run_end(
	struct store *s, const char *id, const char *state, const char *plan_hash, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, END);
	int rc;

	query_text(&q, ":name", id);
	query_text(&q, ":state", state);
	query_text(&q, ":plan", plan_hash);
	query_int(&q, ":now", clock_wall());
	rc = query_run(&q, err);
	return rc == 0 && sqlite3_changes(s->db) == 0 ? no_run(err, id) : rc;
}

static void read_run(struct query *q, struct arena *a, struct run_row *r)
{
	*r = (struct run_row){
		.id = query_get_word(q, 0, a),
		.mode = query_get_word(q, 1, a),
		.recipes = query_get_word(q, 2, a),
		.nodes = query_get_word(q, 3, a),
		.by = query_get_word(q, 4, a),
		.state = query_get_word(q, 5, a),
		.plan_hash = query_get_word(q, 6, a),
		.bundle = query_get_word(q, 7, a),
		.started = query_get_int(q, 8),
		.ended = query_get_int(q, 9),
		.n_nodes = (unsigned)query_get_int(q, 10),
	};
}

static int read_counts(struct store *s, struct arena *a, struct run_row *r, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, COUNTS);
	int rc;

	query_text(&q, ":run", r->id);
	while ((rc = query_next(&q, err)) > 0)
		r->counts.n[result_parse(query_get_word(&q, 0, a))] +=
			(unsigned)query_get_int(&q, 1);
	return rc;
}

/* All rows of a query that is bound; the counts come after, since they are queries too. */
static int read_runs(struct query *q, struct arena *a, struct run_rows *out, struct err *err)
{
	const size_t first = out->n;
	int rc;

	while ((rc = query_next(q, err)) > 0)
		read_run(q, a, vec_push(out));
	for (size_t i = first; rc == 0 && i < out->n; i++)
		rc = read_counts(q->s, a, &out->at[i], err);
	return rc;
}

static int list_runs(struct store *s, struct arena *a, unsigned which, unsigned limit,
	struct run_rows *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, which);
	int rc;

	query_int(&q, ":limit", limit ? (int64_t)limit : -1);
	while ((rc = query_next(&q, err)) > 0)
		read_run(&q, a, vec_push(out));
	return rc;
}

int store_runs_bare(
	struct store *s, struct arena *a, unsigned limit, struct run_rows *out, struct err *err)
{
	return list_runs(s, a, ALL, limit, out, err);
}

int store_runs(
	struct store *s, struct arena *a, unsigned limit, struct run_rows *out, struct err *err)
{
	const size_t first = out->n;
	int rc = list_runs(s, a, LIST, limit, out, err);

	for (size_t i = first; rc == 0 && i < out->n; i++)
		rc = read_counts(s, a, &out->at[i], err);
	return rc;
}

static int ambiguous(const struct run_rows *rows, const char *id, struct err *err)
{
	err_set(err, E_CONFLICT, "'%s' is the beginning of several runs: '%s', '%s'%s", id,
		rows->at[0].id, rows->at[1].id, rows->n > 2 ? " ..." : "");
	return err_hint(err, "type more of it");
}

static int pick(const struct run_rows *rows, const char *id, struct run_row *out, struct err *err)
{
	if (rows->n == 0)
		return no_run(err, id);
	if (rows->n > 1 && strcmp(rows->at[0].id, id) != 0)
		return ambiguous(rows, id, err);
	*out = rows->at[0];
	return 0;
}

int store_run_find(
	struct store *s, struct arena *a, const char *id, struct run_row *out, struct err *err)
{
	const bool last = strcmp(id, "last") == 0;
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, last ? NEWEST : BY_PREFIX);
	struct run_rows rows = VEC_INIT;
	int rc;

	if (*id == '\0')
		return err_set(err, E_NOTFOUND, "a run is missing");
	if (!last) {
		query_text(&q, ":from", id);
		/* names are ASCII, so DEL is above all that may follow */
		query_text(&q, ":to", arena_printf(a, "%s\x7f", id));
	}
	rc = read_runs(&q, a, &rows, err);
	if (rc == 0)
		rc = pick(&rows, id, out, err);
	vec_done(&rows);
	return rc;
}

int store_result_put(struct store *s, const char *run, const struct node_result *r, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, RESULT_PUT);
	AUTO_JSON counts = result_counts_json(&r->counts);
	AUTO_BUF text;

	buf_init(&text, 4096);
	json_write(counts, &text);
	query_text(&q, ":run", run);
	query_int(&q, ":node", r->node);
	query_text(&q, ":node_name", word(r->node_name));
	query_text(&q, ":state", result_name(r->state));
	query_text(&q, ":counts", buf_text(&text));
	query_text(&q, ":plan", word(r->plan_hash));
	query_text(&q, ":reason", word(r->reason));
	query_text(&q, ":hint", word(r->hint));
	query_int(&q, ":took", r->took);
	query_int(&q, ":pass", r->agent_pass);
	query_int(&q, ":process", r->agent_process);
	return query_run(&q, err);
}

void read_result(struct query *q, int col, struct arena *a, struct node_result *r)
{
	AUTO_JSON counts = NULL;

	*r = (struct node_result){
		.node = query_get_int(q, col),
		.node_name = query_get_word(q, col + 1, a),
		.state = result_parse(query_get_word(q, col + 2, a)),
		.plan_hash = query_get_word(q, col + 4, a),
		.reason = query_get_word(q, col + 5, a),
		.hint = query_get_word(q, col + 6, a),
		.took = query_get_int(q, col + 7),
		.agent_pass = query_get_int(q, col + 8),
		.agent_process = query_get_int(q, col + 9),
	};
	if (json_parse(str_of(query_get_word(q, col + 3, a)), 4096, "counts", &counts, NULL) == 0)
		result_counts_parse(counts, &r->counts);
}

static int compare_results(const void *a, const void *b)
{
	const struct node_result *x = a, *y = b;

	return model_compare_names(x->node_name, y->node_name);
}

int store_results(struct store *s, struct arena *a, const char *run, struct node_results *out,
	struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, RESULTS);
	int rc;

	query_text(&q, ":run", run);
	while ((rc = query_next(&q, err)) > 0)
		read_result(&q, 0, a, vec_push(out));
	if (rc == 0)
		vec_sort(out, compare_results);
	return rc;
}

/* 1 when the record is new, 0 when it or a later one of the node is kept already. */
static int mark_event(struct store *s, const char *run, int64_t node, int64_t seq, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, EVENT_MARK);
	int rc;

	query_text(&q, ":run", run);
	query_int(&q, ":node", node);
	query_int(&q, ":seq", seq);
	rc = query_run(&q, err);
	return rc < 0 ? rc : sqlite3_changes(s->db) > 0;
}

int store_event_add(
	struct store *s, const char *run, int64_t node, const json_t *record, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, EVENT_ADD);
	const int64_t seq = json_get_int(record, "seq", 0);
	AUTO_BUF text;
	int rc;

	buf_init(&text, RECORD_MAX);
	if (seq < 1)
		return err_set(err, E_SCHEMA, "an event of run '%s' has no 'seq'", run);
	json_write(record, &text);
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "an event of run '%s' is longer than %zu bytes", run,
			RECORD_MAX);
	rc = mark_event(s, run, node, seq, err);
	if (rc <= 0)
		return rc;
	query_text(&q, ":run", run);
	query_int(&q, ":node", node);
	query_text(&q, ":record", buf_text(&text));
	return query_run(&q, err);
}

static int read_event(struct query *q, struct arena *a, struct event_row *e, struct err *err)
{
	const struct str text = {(const char *)sqlite3_column_text(q->st, 3),
		(size_t)sqlite3_column_bytes(q->st, 3)};

	e->id = query_get_int(q, 0);
	e->node = query_get_int(q, 1);
	e->node_name = query_get_word(q, 2, a);
	return json_parse(text, RECORD_MAX, "event", &e->record, err);
}

int store_events(struct store *s, struct arena *a, const char *run, int64_t after,
	struct event_rows *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_RUN, SQL, EVENTS);
	int rc;

	query_text(&q, ":run", run);
	query_int(&q, ":after", after);
	query_int(&q, ":limit", STORE_EVENTS_MAX);
	while ((rc = query_next(&q, err)) > 0) {
		struct event_row e = {0};

		rc = read_event(&q, a, &e, err);
		if (rc < 0)
			return err_wrap(err, "an event of the database");
		*vec_push(out) = e;
	}
	return rc;
}
