/* store_rollout_part - the orders of a rollout to one node: results and records of its parts. */
#include "inventory/store/rollout.h"
#include "inventory/store/store_priv.h"

#define RECORD_MAX ((size_t)4 << 20)

enum {
	ORDERS,
	EVENTS
};
#define PARTS                             \
	" JOIN runs r ON r.id = c.run_id" \
	" WHERE r.of_run = (SELECT id FROM runs WHERE name = :run) AND c.node_id = :node"

static const char *const SQL[] = {
	[ORDERS] = "SELECT r.name, r.mode, r.started_ns, " RESULT_COLUMNS
		   " FROM node_results c" PARTS " ORDER BY r.started_ns, r.id",
	/* the newest, in the order they came */
	[EVENTS] = "SELECT name, record FROM (SELECT c.id, r.name, c.record FROM events c" PARTS
		   " ORDER BY c.id DESC LIMIT :limit) ORDER BY id",
};

int store_rollout_orders(struct store *s, struct arena *a, const char *run, int64_t node,
	struct rollout_orders *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_ROLLOUT_PART, SQL, ORDERS);
	int rc;

	query_text(&q, ":run", run);
	query_int(&q, ":node", node);
	while ((rc = query_next(&q, err)) > 0) {
		struct rollout_given *o = vec_push(out);

		o->run = query_get_word(&q, 0, a);
		o->mode = query_get_word(&q, 1, a);
		o->started = query_get_int(&q, 2);
		read_result(&q, 3, a, &o->result);
	}
	return rc;
}

int store_rollout_events(struct store *s, struct arena *a, const char *run, int64_t node,
	struct rollout_events *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_ROLLOUT_PART, SQL, EVENTS);
	int rc;

	query_text(&q, ":run", run);
	query_int(&q, ":node", node);
	query_int(&q, ":limit", STORE_EVENTS_MAX);
	while ((rc = query_next(&q, err)) > 0) {
		struct rollout_event e = {.run = query_get_word(&q, 0, a)};

		rc = json_parse(
			str_of(query_get_word(&q, 1, a)), RECORD_MAX, "event", &e.record, err);
		if (rc < 0)
			return err_wrap(err, "an event of the database");
		*vec_push(out) = e;
	}
	return rc;
}
