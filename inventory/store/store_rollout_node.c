/* store_rollout_node - where each node of a rollout stands, and the history of its moves. */
#include "inventory/store/rollout.h"
#include "inventory/store/store_priv.h"

enum {
	NODE_PUT,
	MOVE,
	NODES,
	COUNTS,
	MOVES_OF,
	MOVES_AFTER
};
#define RUN_ID "(SELECT id FROM runs WHERE name = ?1)"
#define MOVE_COLUMNS \
	"SELECT node_id, from_state, event, to_state, why, hint, at_ns, id FROM rollout_moves"

static const char *const SQL[] = {
	[NODE_PUT] =
		"INSERT INTO rollout_nodes (run_id, node_id, node_name, state, since_ns, stage,"
		" tries, fence, reason, hint, signature)"
		" VALUES (" RUN_ID ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
		" ON CONFLICT (run_id, node_id) DO UPDATE SET node_name = ?3, state = ?4,"
		" since_ns = ?5, stage = ?6, tries = ?7, fence = ?8, reason = ?9, hint = ?10,"
		" signature = ?11",
	[MOVE] = "INSERT INTO rollout_moves (run_id, node_id, at_ns, from_state, event, to_state,"
		 " why, hint) VALUES (" RUN_ID ", ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[NODES] = "SELECT node_id, node_name, state, since_ns, stage, tries, fence, reason, hint,"
		  " signature FROM rollout_nodes WHERE run_id = " RUN_ID " ORDER BY node_id",
	[COUNTS] = "SELECT state, count(*) FROM rollout_nodes WHERE run_id = " RUN_ID
		   " GROUP BY state",
	[MOVES_OF] =
		MOVE_COLUMNS " WHERE run_id = " RUN_ID " AND (?2 = 0 OR node_id = ?2) ORDER BY id",
	/* by the primary key: those after the last look are few, those of the run are many */
	[MOVES_AFTER] = MOVE_COLUMNS " WHERE id > ?2 AND +run_id = " RUN_ID " ORDER BY id LIMIT ?3",
};

static struct query start(struct store *s, unsigned i, const char *run)
{
	struct query q = query_start(s, PART_ROLLOUT_NODE, SQL, i);

	query_bind_text(&q, 1, run);
	return q;
}

static const char *word(const char *text)
{
	return text ? text : "";
}

int store_rollout_node_put(
	struct store *s, const char *run, const struct rollout_node_row *now, struct err *err)
{
	AUTO_QUERY q = start(s, NODE_PUT, run);

	query_bind_int(&q, 2, now->node);
	query_bind_text(&q, 3, word(now->name));
	query_bind_text(&q, 4, now->state);
	query_bind_int(&q, 5, now->since);
	query_bind_int(&q, 6, now->stage);
	query_bind_int(&q, 7, now->tries);
	query_bind_text(&q, 8, word(now->fence));
	query_bind_text(&q, 9, word(now->reason));
	query_bind_text(&q, 10, word(now->hint));
	query_bind_text(&q, 11, word(now->signature));
	return query_run(&q, err);
}

int store_rollout_move(struct store *s, const char *run, const struct rollout_node_row *now,
	const struct rollout_move *m, struct err *err)
{
	AUTO_QUERY q = start(s, MOVE, run);
	int rc;

	if (m->node != now->node)
		return err_set(err, E_INTERNAL, "a move of node %lld is no move of node %lld",
			(long long)m->node, (long long)now->node);
	rc = store_rollout_node_put(s, run, now, err);
	if (rc < 0)
		return rc;
	query_bind_int(&q, 2, m->node);
	query_bind_int(&q, 3, m->at);
	query_bind_text(&q, 4, word(m->from));
	query_bind_text(&q, 5, word(m->event));
	query_bind_text(&q, 6, m->to);
	query_bind_text(&q, 7, word(m->why));
	query_bind_text(&q, 8, word(m->hint));
	return query_run(&q, err);
}

int store_rollout_nodes(struct store *s, struct arena *a, const char *run,
	struct rollout_node_rows *out, struct err *err)
{
	AUTO_QUERY q = start(s, NODES, run);
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		*vec_push(out) = (struct rollout_node_row){
			.node = query_get_int(&q, 0),
			.name = query_get_word(&q, 1, a),
			.state = query_get_word(&q, 2, a),
			.since = query_get_int(&q, 3),
			.stage = (unsigned)query_get_int(&q, 4),
			.tries = (unsigned)query_get_int(&q, 5),
			.fence = query_get_word(&q, 6, a),
			.reason = query_get_word(&q, 7, a),
			.hint = query_get_word(&q, 8, a),
			.signature = query_get_word(&q, 9, a),
		};
	return rc;
}

int store_rollout_counts(struct store *s, struct arena *a, const char *run,
	struct rollout_counts *out, struct err *err)
{
	AUTO_QUERY q = start(s, COUNTS, run);
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		*vec_push(out) = (struct rollout_count){
			query_get_word(&q, 0, a), (unsigned)query_get_int(&q, 1)};
	return rc;
}

static int read_moves(struct query *q, struct arena *a, struct rollout_moves *out, struct err *err)
{
	int rc;

	while ((rc = query_next(q, err)) > 0)
		*vec_push(out) = (struct rollout_move){
			.node = query_get_int(q, 0),
			.from = query_get_word(q, 1, a),
			.event = query_get_word(q, 2, a),
			.to = query_get_word(q, 3, a),
			.why = query_get_word(q, 4, a),
			.hint = query_get_word(q, 5, a),
			.at = query_get_int(q, 6),
			.id = query_get_int(q, 7),
		};
	return rc;
}

int store_rollout_moves(struct store *s, struct arena *a, const char *run, int64_t node,
	struct rollout_moves *out, struct err *err)
{
	AUTO_QUERY q = start(s, MOVES_OF, run);

	query_bind_int(&q, 2, node);
	return read_moves(&q, a, out, err);
}

int store_rollout_moves_after(struct store *s, struct arena *a, const char *run, int64_t after,
	struct rollout_moves *out, struct err *err)
{
	AUTO_QUERY q = start(s, MOVES_AFTER, run);

	query_bind_int(&q, 2, after);
	query_bind_int(&q, 3, ROLLOUT_MOVES_MAX);
	return read_moves(&q, a, out, err);
}
