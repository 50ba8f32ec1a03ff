/* store_drift - reports on drift, the newest of a node being its state, and when it was looked at.
 */
#include "agent/base/arena.h"
#include "inventory/store/store_priv.h"

#include <string.h>

enum {
	BEFORE,
	STANDING,
	FOUND_BEFORE,
	ADD,
	ADD_FINDING,
	SWEEP,
	LATEST,
	OF_NODE,
	FINDINGS,
	CHECKS,
	CHECK_PUT
};

#define REPORT                                                                                \
	"SELECT r.id, r.node_id, n.name, r.run, r.at, r.since, r.state, r.recipes, r.reason," \
	" r.hint, r.findings FROM drift_reports r JOIN nodes n ON n.id = r.node_id"

static const char *const SQL[] = {
	[BEFORE] = "SELECT id, state, since FROM drift_reports WHERE node_id = :node"
		   " ORDER BY id DESC LIMIT 1",
	[STANDING] = "SELECT state, recipes FROM drift_reports WHERE node_id = :node"
		     " ORDER BY id DESC LIMIT 1",
	[FOUND_BEFORE] = "SELECT since FROM drift_findings WHERE report_id = :report"
			 " AND recipe = :recipe AND step = :step AND name = :name",
	[ADD] = "INSERT INTO drift_reports (node_id, run, at, since, state, recipes, reason, hint,"
		" findings) VALUES (:node, :run, :at, :since, :state, :recipes, :reason, :hint,"
		" :findings)",
	[ADD_FINDING] = "INSERT INTO drift_findings (report_id, ord, recipe, step, name, state,"
			" why, diff, since) VALUES (:report, :ord, :recipe, :step, :name, :state,"
			" :why, :diff, :since)",
	[SWEEP] = "DELETE FROM drift_reports WHERE node_id = :node AND id NOT IN (SELECT id FROM"
		  " drift_reports WHERE node_id = :node ORDER BY id DESC LIMIT :keep)",
	[LATEST] = REPORT " WHERE n.ord IS NOT NULL AND r.id = (SELECT MAX(id) FROM drift_reports"
			  " WHERE node_id = r.node_id) ORDER BY r.id",
	[OF_NODE] = REPORT " WHERE r.node_id = :node ORDER BY r.id DESC",
	[FINDINGS] = "SELECT recipe, step, name, state, why, diff, since FROM drift_findings"
		     " WHERE report_id = :report ORDER BY ord",
	[CHECKS] = "SELECT c.node_id, c.last, c.failed FROM checks_due c"
		   " JOIN nodes n ON n.id = c.node_id WHERE n.ord IS NOT NULL",
	[CHECK_PUT] = "INSERT INTO checks_due (node_id, last, failed)"
		      " VALUES (:node, :last, :failed) ON CONFLICT (node_id) DO UPDATE SET"
		      " last = excluded.last, failed = excluded.failed",
};

static const char *const STATES[] = {"ok", "drift", "unknown", "failed", "unreachable", NULL};

const char *drift_state_name(enum drift_state state)
{
	return state < DRIFT_N ? STATES[state] : "unknown";
}

/* The report before this one, 0 for none; since as it says when the state is still the same. */
static int find_before(
	struct store *s, const struct drift_report *r, int64_t *id, int64_t *since, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, BEFORE);
	const unsigned char *state;
	int rc;

	*id = 0;
	*since = r->at;
	query_int(&q, ":node", r->node);
	rc = query_next(&q, err);
	if (rc <= 0)
		return rc;
	*id = query_get_int(&q, 0);
	state = sqlite3_column_text(q.st, 1);
	if (state && strcmp((const char *)state, drift_state_name(r->state)) == 0)
		*since = query_get_int(&q, 2);
	return 0;
}

static int find_since(
	struct store *s, int64_t before, struct drift_finding *f, int64_t now, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, FOUND_BEFORE);
	int rc;

	query_int(&q, ":report", before);
	query_text(&q, ":recipe", f->recipe);
	query_int(&q, ":step", f->step);
	query_text(&q, ":name", f->name);
	rc = query_next(&q, err);
	f->since = rc > 0 ? query_get_int(&q, 0) : now;
	return rc < 0 ? rc : 0;
}

static int add_report(struct store *s, const struct drift_report *r, int64_t *id, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, ADD);

	query_int(&q, ":node", r->node);
	query_text(&q, ":run", r->run);
	query_int(&q, ":at", r->at);
	query_int(&q, ":since", r->since);
	query_text(&q, ":state", drift_state_name(r->state));
	query_text(&q, ":recipes", r->recipes);
	query_text(&q, ":reason", r->reason);
	query_text(&q, ":hint", r->hint);
	query_int(&q, ":findings", r->n_found);
	return query_new(&q, id, err);
}

static int add_finding(struct store *s, int64_t report, unsigned ord, const struct drift_finding *f,
	struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, ADD_FINDING);

	query_int(&q, ":report", report);
	query_int(&q, ":ord", ord);
	query_text(&q, ":recipe", f->recipe);
	query_int(&q, ":step", f->step);
	query_text(&q, ":name", f->name);
	query_text(&q, ":state", f->state);
	query_text(&q, ":why", f->why);
	query_text(&q, ":diff", f->diff);
	query_int(&q, ":since", f->since);
	return query_run(&q, err);
}

static int sweep(struct store *s, int64_t node, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, SWEEP);

	query_int(&q, ":node", node);
	query_int(&q, ":keep", DRIFT_REPORTS_MAX);
	return query_run(&q, err);
}

int store_drift_put(struct store *s, struct drift_report *r, struct err *err)
{
	int64_t before, id;
	int rc = find_before(s, r, &before, &r->since, err);

	for (unsigned i = 0; rc == 0 && i < r->n; i++)
		rc = find_since(s, before, &r->findings[i], r->at, err);
	if (rc == 0)
		rc = add_report(s, r, &id, err);
	for (unsigned i = 0; rc == 0 && i < r->n && i < DRIFT_FINDINGS_MAX; i++)
		rc = add_finding(s, id, i, &r->findings[i], err);
	return rc == 0 ? sweep(s, r->node, err) : rc;
}

/* "base exp": all of them among the names? */
static bool are_among(struct str words, const char *const *names, unsigned n)
{
	struct str word;
	bool all = true;

	while (all && str_next(&words, ' ', &word)) {
		all = word.n == 0;
		for (unsigned i = 0; i < n && !all; i++)
			all = str_is(word, names[i]);
	}
	return all;
}

int store_drift_healed(struct store *s, int64_t node, const char *run, int64_t at,
	const char *const *recipes, unsigned n, struct err *err)
{
	struct arena *a = arena_new();
	struct drift_report r = {
		.node = node, .at = at, .run = run, .reason = "", .hint = "", .state = DRIFT_OK};
	bool stands = false;
	int rc;

	{
		AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, STANDING);

		query_int(&q, ":node", node);
		rc = query_next(&q, err);
		if (rc > 0) {
			r.recipes = query_get_word(&q, 1, a);
			stands =
				strcmp(query_get_word(&q, 0, a), drift_state_name(DRIFT_OK)) != 0 &&
				*r.recipes && are_among(str_of(r.recipes), recipes, n);
		}
	}
	if (rc > 0)
		rc = stands ? store_drift_put(s, &r, err) : 0;
	arena_free(a);
	return rc;
}

static void read_report(struct query *q, struct arena *a, struct drift_report *r)
{
	const int state = model_word(STATES, query_get_word(q, 6, a));

	*r = (struct drift_report){
		.node = query_get_int(q, 1),
		.node_name = query_get_word(q, 2, a),
		.run = query_get_word(q, 3, a),
		.at = query_get_int(q, 4),
		.since = query_get_int(q, 5),
		.state = state < 0 ? DRIFT_UNKNOWN : (enum drift_state)state,
		.recipes = query_get_word(q, 7, a),
		.reason = query_get_word(q, 8, a),
		.hint = query_get_word(q, 9, a),
		.n_found = (unsigned)query_get_int(q, 10),
	};
}

static int read_findings(
	struct store *s, struct arena *a, int64_t report, struct drift_report *r, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, FINDINGS);
	int rc;

	r->findings = arena_alloc(a, DRIFT_FINDINGS_MAX * sizeof *r->findings);
	query_int(&q, ":report", report);
	while ((rc = query_next(&q, err)) > 0 && r->n < DRIFT_FINDINGS_MAX)
		r->findings[r->n++] = (struct drift_finding){
			.recipe = query_get_word(&q, 0, a),
			.step = (unsigned)query_get_int(&q, 1),
			.name = query_get_word(&q, 2, a),
			.state = query_get_word(&q, 3, a),
			.why = query_get_word(&q, 4, a),
			.diff = query_get_word(&q, 5, a),
			.since = query_get_int(&q, 6),
		};
	return rc < 0 ? rc : 0;
}

int store_drift(
	struct store *s, struct arena *a, int64_t node, struct drift_reports *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, node ? OF_NODE : LATEST);
	const bool own = store_snapshot(s);
	int rc;

	if (node)
		query_int(&q, ":node", node);
	while ((rc = query_next(&q, err)) > 0) {
		struct drift_report *r = vec_push(out);

		read_report(&q, a, r);
		if (r->n_found > 0 && read_findings(s, a, query_get_int(&q, 0), r, err) < 0) {
			rc = -(int)err->code;
			break;
		}
	}
	if (own)
		store_rollback(s);
	return rc;
}

int store_checks(struct store *s, struct check_rows *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, CHECKS);
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		*vec_push(out) = (struct check_row){.node = query_get_int(&q, 0),
			.last = query_get_int(&q, 1),
			.failed = (unsigned)query_get_int(&q, 2)};
	return rc;
}

int store_check_put(struct store *s, const struct check_row *r, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_DRIFT, SQL, CHECK_PUT);

	query_int(&q, ":node", r->node);
	query_int(&q, ":last", r->last);
	query_int(&q, ":failed", r->failed);
	return query_run(&q, err);
}
