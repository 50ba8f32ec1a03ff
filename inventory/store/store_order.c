/* store_order - contents of orders, serials of bundles, moves to a new key, and missed nodes. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "inventory/store/order.h"
#include "inventory/store/store_priv.h"

#define BODY_MAX ((size_t)4 << 20)

enum {
	REOPEN,
	RESIZE,
	ORDER_PUT,
	ORDER_GET,
	MISSED,
	MET,
	MISSED_ALL,
	SERIAL_GET,
	SERIAL_PUT,
	MOVED,
	MOVES,
	MOVES_CLEAR
};
static const char *const SQL[] = {
	[REOPEN] = "UPDATE runs SET state = 'running', ended_ns = 0 WHERE name = :run",
	[RESIZE] = "UPDATE runs SET n_nodes = :n WHERE name = :run",
	/* a null as its key would be given the next free number */
	[ORDER_PUT] = "INSERT INTO run_orders (run_id, body)"
		      " SELECT id, :body FROM runs WHERE name = :run"
		      " ON CONFLICT (run_id) DO UPDATE SET body = excluded.body",
	[ORDER_GET] = "SELECT o.body FROM run_orders o JOIN runs r ON r.id = o.run_id"
		      " WHERE r.name = :run",
	[MISSED] = "INSERT INTO nodes_missed (node_id, since, last, why)"
		   " VALUES (:node, :now, :now, :why)"
		   " ON CONFLICT (node_id) DO UPDATE SET last = excluded.last, why = excluded.why",
	[MET] = "DELETE FROM nodes_missed WHERE node_id = :node",
	[MISSED_ALL] = "SELECT node_id, since, last, why FROM nodes_missed ORDER BY node_id",
	[SERIAL_GET] = "SELECT COALESCE(MAX(serial), 0) FROM bundle_serials"
		       " WHERE name = :name AND signer = :signer",
	[SERIAL_PUT] = "INSERT INTO bundle_serials (name, signer, serial)"
		       " VALUES (:name, :signer, :serial)"
		       " ON CONFLICT (name, signer) DO UPDATE SET serial = excluded.serial"
		       " WHERE excluded.serial > bundle_serials.serial",
	[MOVED] = "INSERT INTO key_moves (node_id, key, forgotten) VALUES (:node, :key, :forgotten)"
		  " ON CONFLICT (node_id) DO UPDATE SET key = excluded.key,"
		  " forgotten = excluded.forgotten",
	[MOVES] = "SELECT node_id, key, forgotten FROM key_moves ORDER BY node_id",
	[MOVES_CLEAR] = "DELETE FROM key_moves",
};

static struct query start(struct store *s, unsigned i)
{
	return query_start(s, PART_ORDER, SQL, i);
}

int store_run_reopen(struct store *s, const char *id, struct err *err)
{
	AUTO_QUERY q = start(s, REOPEN);

	query_text(&q, ":run", id);
	return query_run(&q, err);
}

int store_run_resize(struct store *s, const char *id, unsigned n_nodes, struct err *err)
{
	AUTO_QUERY q = start(s, RESIZE);

	query_text(&q, ":run", id);
	query_int(&q, ":n", n_nodes);
	return query_run(&q, err);
}

int store_order_put(struct store *s, const char *run, const json_t *body, struct err *err)
{
	AUTO_QUERY q = start(s, ORDER_PUT);
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, BODY_MAX);
	json_write(body, &text);
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "the parameters of run '%s' are too long", run);
	query_text(&q, ":run", run);
	query_text(&q, ":body", buf_text(&text));
	rc = query_run(&q, err);
	if (rc == 0 && sqlite3_changes(s->db) == 0)
		rc = err_set(err, E_NOTFOUND, "there is no run '%s'", run);
	return rc;
}

int store_order_get(struct store *s, const char *run, json_t **body, struct err *err)
{
	AUTO_QUERY q = start(s, ORDER_GET);
	struct arena *a = arena_new();
	int rc;

	query_text(&q, ":run", run);
	rc = query_next(&q, err);
	if (rc > 0)
		rc = json_parse(str_of(query_get_word(&q, 0, a)), BODY_MAX, "order", body, err);
	else if (rc == 0)
		rc = err_set(err, E_NOTFOUND, "what run '%s' was ordered to do is not kept", run);
	arena_free(a);
	return rc;
}

int store_node_missed(struct store *s, int64_t node, const char *why, struct err *err)
{
	AUTO_QUERY q = start(s, MISSED);

	query_id(&q, ":node", node);
	query_int(&q, ":now", clock_wall() / CLOCK_SEC);
	query_text(&q, ":why", why ? why : "");
	return query_run(&q, err);
}

int store_node_met(struct store *s, int64_t node, struct err *err)
{
	AUTO_QUERY q = start(s, MET);

	query_id(&q, ":node", node);
	return query_run(&q, err);
}

int store_missed(struct store *s, struct arena *a, struct missed_rows *out, struct err *err)
{
	AUTO_QUERY q = start(s, MISSED_ALL);
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		*vec_push(out) = (struct missed_row){.node = query_get_int(&q, 0),
			.since = query_get_int(&q, 1),
			.last = query_get_int(&q, 2),
			.why = query_get_word(&q, 3, a)};
	return rc;
}

int store_mark_missed(struct store *s, struct arena *a, struct node_rows *rows, struct err *err)
{
	struct missed_rows missed = VEC_INIT;
	const int rc = store_missed(s, a, &missed, err);

	vec_each(&missed, const struct missed_row, m)
		vec_each(rows, struct node_row, n)
			if (n->id == m->node)
				n->missed = m->since;
	vec_done(&missed);
	return rc;
}

int store_serial_get(
	struct store *s, const char *name, const char *signer, int64_t *serial, struct err *err)
{
	AUTO_QUERY q = start(s, SERIAL_GET);

	query_text(&q, ":name", name);
	query_text(&q, ":signer", signer);
	return query_value(&q, serial, err);
}

int store_serial_put(
	struct store *s, const char *name, const char *signer, int64_t serial, struct err *err)
{
	AUTO_QUERY q = start(s, SERIAL_PUT);

	query_text(&q, ":name", name);
	query_text(&q, ":signer", signer);
	query_int(&q, ":serial", serial);
	return query_run(&q, err);
}

int store_key_moved(struct store *s, int64_t node, const char *key, bool forgotten, struct err *err)
{
	AUTO_QUERY q = start(s, MOVED);

	query_id(&q, ":node", node);
	query_text(&q, ":key", key);
	query_int(&q, ":forgotten", forgotten);
	return query_run(&q, err);
}

int store_key_moves(struct store *s, struct arena *a, struct key_moves *out, struct err *err)
{
	AUTO_QUERY q = start(s, MOVES);
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		*vec_push(out) = (struct key_move){.node = query_get_int(&q, 0),
			.key = query_get_word(&q, 1, a),
			.forgotten = query_get_int(&q, 2) != 0};
	return rc;
}

int store_key_moves_clear(struct store *s, struct err *err)
{
	AUTO_QUERY q = start(s, MOVES_CLEAR);

	return query_run(&q, err);
}
