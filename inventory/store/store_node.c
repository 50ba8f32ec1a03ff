/* store_node - nodes as rows, their state after contact, and their facts. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "inventory/store/store_priv.h"

#include <string.h>

#define FACTS_MAX ((size_t)4 << 20) /* JSON text of one topic */

enum {
	LIST,
	PIN,
	SEEN,
	FACT_PUT,
	FACT_GET,
	FACTS_DROP
};
static const char *const SQL[] = {
	[LIST] = "SELECT n.id, n.name, n.address, COALESCE(n.login, 'root'), n.host_key, n.port,"
		 " s.name, r.name, COALESCE(n.role, d.role), t.name, n.state, n.reason, n.agent,"
		 " n.boot_id, n.os, n.seen, COALESCE(l.name, ''), o.recipes,"
		 " COALESCE(o.check_every, s.check_every),"
		 " COALESCE(o.check_window, s.check_window), s.check_splay,"
		 " (SELECT p.state FROM drift_reports p WHERE p.node_id = n.id"
		 " ORDER BY p.id DESC LIMIT 1), s.vars, l.vars, r.vars, o.vars, n.vars"
		 " FROM nodes n JOIN sites s ON s.id = n.site_id"
		 " LEFT JOIN devices d ON d.id = n.device_id"
		 " LEFT JOIN racks r ON r.id = d.rack_id"
		 " LEFT JOIN locations l ON l.id = r.location_id"
		 " LEFT JOIN roles o ON o.site_id = s.id AND o.name = COALESCE(n.role, d.role)"
		 " LEFT JOIN device_types t ON t.id = d.type_id"
		 " WHERE n.ord IS NOT NULL",
	[PIN] = "UPDATE nodes SET host_key = :key WHERE id = :node",
	[SEEN] = "UPDATE nodes SET seen = :now, agent = COALESCE(:agent, agent),"
		 " boot_id = COALESCE(:boot, boot_id), os = COALESCE(:os, os),"
		 " state = COALESCE(:state, state), reason = COALESCE(:reason, reason)"
		 " WHERE id = :node",
	[FACT_PUT] = "INSERT INTO facts (node_id, topic, value, origin, at)"
		     " VALUES (:node, :topic, :value, :origin, :now)"
		     " ON CONFLICT (node_id, topic) DO UPDATE SET value = excluded.value,"
		     " origin = excluded.origin, at = excluded.at",
	[FACT_GET] = "SELECT topic, value FROM facts WHERE node_id = :node ORDER BY topic",
	[FACTS_DROP] = "DELETE FROM facts WHERE node_id = :node AND origin = :origin"
		       " AND topic NOT IN (SELECT value FROM json_each(:topics))",
};

/* Columns 22 to 26. */
static void read_layers(struct query *q, struct arena *a, struct node_row *n)
{
	static const char *const nouns[VARS_LAYERS] = {"site", "location", "rack", "role", "node"};
	const char *const names[VARS_LAYERS] = {n->site, n->location, n->rack, n->role, n->name};
	struct vars_layer *layers = arena_alloc(a, VARS_LAYERS * sizeof *layers);

	for (int i = 0; i < VARS_LAYERS; i++) {
		layers[i].text = query_get_text(q, 22 + i, a);
		if (layers[i].text)
			layers[i].origin = arena_printf(a, "%s %s", nouns[i], names[i]);
	}
	n->layers = layers;
}

static void read_node(struct query *q, struct arena *a, struct node_row *n)
{
	*n = (struct node_row){
		.id = query_get_int(q, 0),
		.name = query_get_word(q, 1, a),
		.address = query_get_word(q, 2, a),
		.user = query_get_word(q, 3, a),
		.host_key = query_get_text(q, 4, a),
		.port = (unsigned)query_get_int(q, 5),
		.site = query_get_word(q, 6, a),
		.rack = query_get_word(q, 7, a),
		.role = query_get_word(q, 8, a),
		.device_type = query_get_word(q, 9, a),
		.state = query_get_word(q, 10, a),
		.reason = query_get_word(q, 11, a),
		.agent = query_get_word(q, 12, a),
		.boot_id = query_get_word(q, 13, a),
		.os = query_get_word(q, 14, a),
		.seen = query_get_int(q, 15),
		.location = query_get_word(q, 16, a),
		.role_recipes = query_get_word(q, 17, a),
		.check_every = query_get_word(q, 18, a),
		.check_window = query_get_word(q, 19, a),
		.check_splay = query_get_word(q, 20, a),
		.drift = query_get_word(q, 21, a),
	};
	read_layers(q, a, n);
}

static int compare_nodes(const void *a, const void *b)
{
	const struct node_row *x = a, *y = b;
	const int c = model_compare_names(x->name, y->name);

	return c ? c : model_compare_names(x->site, y->site);
}

int store_nodes(struct store *s, struct arena *a, struct node_rows *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_NODE, SQL, LIST);
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		read_node(&q, a, vec_push(out));
	if (rc == 0)
		rc = store_sum_vars(a, out, err);
	if (rc == 0)
		vec_sort(out, compare_nodes);
	return rc;
}

/* An update of one node that must be there. */
static int run_on_node(struct query *q, int64_t node, struct err *err)
{
	int rc;

	query_int(q, ":node", node);
	rc = query_run(q, err);
	if (rc == 0 && sqlite3_changes(q->s->db) == 0)
		return err_set(err, E_NOTFOUND, "there is no node with id %lld", (long long)node);
	return rc;
}

int store_node_pin_key(struct store *s, int64_t node, const char *host_key, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_NODE, SQL, PIN);

	query_text(&q, ":key", host_key);
	return run_on_node(&q, node, err);
}

int store_node_seen(struct store *s, int64_t node, const char *agent, const char *boot_id,
	const char *os, const char *state, const char *reason, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_NODE, SQL, SEEN);

	query_int(&q, ":now", clock_wall() / CLOCK_SEC);
	query_text(&q, ":agent", agent);
	query_text(&q, ":boot", boot_id);
	query_text(&q, ":os", os);
	query_text(&q, ":state", state);
	query_text(&q, ":reason", reason);
	return run_on_node(&q, node, err);
}

int store_put_facts(struct store *s, int64_t node, const char *group, const json_t *value,
	enum fact_origin origin, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_NODE, SQL, FACT_PUT);
	AUTO_BUF text;

	buf_init(&text, FACTS_MAX);
	json_write(value, &text);
	if (!buf_ok(&text))
		return err_set(
			err, E_LIMIT, "the facts '%s' are longer than %zu bytes", group, FACTS_MAX);
	query_text(&q, ":topic", group);
	query_text(&q, ":value", buf_text(&text));
	query_text(&q, ":origin", model_origin_name(origin));
	query_int(&q, ":now", clock_wall() / CLOCK_SEC);
	query_int(&q, ":node", node);
	return query_run(&q, err);
}

/* Those of the origin that are not among the keys of kept. */
static int drop_facts(
	struct store *s, int64_t node, json_t *kept, enum fact_origin origin, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_NODE, SQL, FACTS_DROP);
	AUTO_JSON topics = json_array();
	AUTO_BUF text;
	const char *group;
	json_t *value;

	json_object_foreach(kept, group, value) json_array_append_new(topics, json_string(group));
	buf_init(&text, FACTS_MAX);
	json_write(topics, &text);
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "too many groups of facts");
	query_int(&q, ":node", node);
	query_text(&q, ":origin", model_origin_name(origin));
	query_text(&q, ":topics", buf_text(&text));
	return query_run(&q, err);
}

int store_replace_facts(
	struct store *s, int64_t node, json_t *facts, enum fact_origin origin, struct err *err)
{
	const char *group;
	json_t *value;
	int rc = drop_facts(s, node, facts, origin, err);

	json_object_foreach(facts, group, value) rc =
		rc < 0 ? rc : store_put_facts(s, node, group, value, origin, err);
	return rc;
}

static int read_fact(struct query *q, json_t *into, struct err *err)
{
	struct arena *a = arena_new();
	const char *group = query_get_word(q, 0, a), *text = query_get_word(q, 1, a);
	json_t *value = NULL;
	int rc = json_parse(str_of(text), FACTS_MAX, group, &value, err);

	if (rc == 0 && json_object_set_new(into, group, value) < 0)
		rc = err_set(err, E_INTERNAL, "cannot hold the facts '%s'", group);
	else if (rc < 0)
		err_wrap(err, "facts of the database");
	arena_free(a);
	return rc;
}

int store_get_facts(struct store *s, int64_t node, json_t **out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_NODE, SQL, FACT_GET);
	json_t *all = json_object();
	int rc;

	query_int(&q, ":node", node);
	while ((rc = query_next(&q, err)) > 0) {
		rc = read_fact(&q, all, err);
		if (rc < 0)
			break;
	}
	if (rc < 0) {
		json_decref(all);
		return rc;
	}
	*out = all;
	return 0;
}
