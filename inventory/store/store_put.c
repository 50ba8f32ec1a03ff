/*
 * store_put - a model over what the database has of the site.
 *
 * First every row of the site loses its ord; then the model's rows are inserted or
 * updated by name and get theirs; what has none at the end is gone from the file
 * and is deleted, children first. Nodes are retired instead.
 */
#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "inventory/store/store_batch.h"
#include "inventory/store/store_rows.h"

enum {
	SITE_FIND,
	SITE,
	TEMPLATES_DROP,
	TEMPLATE,
	NODE,
	NODE_HELD,
	NODES_RETIRE,
	REACH_DROP,
	MARK, /* and those behind it */
	SWEEP = MARK + 17,
	SQL_N = SWEEP + 16
};

#define DEVICES   8 /* their place behind MARK and SWEEP */
#define OF_SITE   " WHERE site_id = :site"
#define OF_PDU    " WHERE pdu_id IN (SELECT id FROM pdus WHERE site_id = :site)"
#define OF_ZONE   " WHERE zone_id IN (SELECT id FROM cooling_zones WHERE site_id = :site)"
#define OF_DEVICE " WHERE device_id IN (SELECT id FROM devices WHERE site_id = :site)"

static const char *const SQL[] = {
	[SITE_FIND] = "SELECT id FROM sites WHERE name = :name",
	[SITE] = "INSERT INTO sites (name, about, file, created, updated)"
		 " VALUES (:name, :about, :file, :now, :now) ON CONFLICT (name) DO UPDATE SET"
		 " about = excluded.about, file = excluded.file, updated = excluded.updated"
		 " RETURNING id",
	[TEMPLATES_DROP] = "DELETE FROM port_templates WHERE type_id = :type",
	[TEMPLATE] = "INSERT INTO port_templates (type_id, ord, kind, names, connector)"
		     " VALUES (:type, :ord, :kind, :names, :connector)",
	[NODE] = "INSERT INTO nodes (site_id, ord, name, device_id, address, port, login, role,"
		 " host_key, vars) VALUES (:site, :ord, :name, :device, :address, :port, :login,"
		 " :role, :key, :vars) ON CONFLICT (site_id, name) DO UPDATE SET"
		 " ord = excluded.ord, device_id = excluded.device_id, address = excluded.address,"
		 " port = excluded.port, login = excluded.login, role = excluded.role,"
		 " host_key = COALESCE(excluded.host_key, nodes.host_key), vars = excluded.vars,"
		 " state = CASE WHEN nodes.state = 'retired' THEN 'expected' ELSE nodes.state END"
		 " RETURNING id",
	[NODE_HELD] = "SELECT n.name, l.run, l.owner FROM nodes n JOIN leases l"
		      " ON l.node_id = n.id WHERE n.site_id = :site AND n.ord IS NULL"
		      " AND l.expires > :now LIMIT 1",
	[NODES_RETIRE] = "UPDATE nodes SET state = 'retired', device_id = NULL"
			 " WHERE site_id = :site AND ord IS NULL",
	[REACH_DROP] = "DELETE FROM reaches" OF_SITE,
	/* marks, then sweeps of the same tables, children first */
	[MARK] = "UPDATE ports SET ord = NULL" OF_DEVICE,
	"UPDATE outlets SET ord = NULL" OF_PDU,
	"UPDATE banks SET ord = NULL" OF_PDU,
	"UPDATE cooling_units SET ord = NULL" OF_ZONE,
	"UPDATE reservations SET ord = NULL" OF_SITE,
	"UPDATE roles SET ord = NULL" OF_SITE,
	"UPDATE upses SET ord = NULL" OF_SITE,
	"UPDATE generators SET ord = NULL" OF_SITE,
	"UPDATE devices SET ord = NULL" OF_SITE,
	"UPDATE device_types SET ord = NULL" OF_SITE,
	"UPDATE pdus SET ord = NULL" OF_SITE,
	"UPDATE feeds SET ord = NULL" OF_SITE,
	"UPDATE panels SET ord = NULL" OF_SITE,
	"UPDATE racks SET ord = NULL" OF_SITE,
	"UPDATE cooling_zones SET ord = NULL" OF_SITE,
	"UPDATE locations SET ord = NULL" OF_SITE,
	"UPDATE nodes SET ord = NULL" OF_SITE,
	[SWEEP] = "DELETE FROM ports" OF_DEVICE " AND ord IS NULL",
	"DELETE FROM outlets" OF_PDU " AND ord IS NULL",
	"DELETE FROM banks" OF_PDU " AND ord IS NULL",
	"DELETE FROM cooling_units" OF_ZONE " AND ord IS NULL",
	"DELETE FROM reservations" OF_SITE " AND ord IS NULL",
	"DELETE FROM roles" OF_SITE " AND ord IS NULL",
	"DELETE FROM upses" OF_SITE " AND ord IS NULL",
	"DELETE FROM generators" OF_SITE " AND ord IS NULL",
	"DELETE FROM devices" OF_SITE " AND ord IS NULL",
	"DELETE FROM device_types" OF_SITE " AND ord IS NULL",
	"DELETE FROM pdus" OF_SITE " AND ord IS NULL",
	"DELETE FROM feeds" OF_SITE " AND ord IS NULL",
	"DELETE FROM panels" OF_SITE " AND ord IS NULL",
	"DELETE FROM racks" OF_SITE " AND ord IS NULL",
	"DELETE FROM cooling_zones" OF_SITE " AND ord IS NULL",
	"DELETE FROM locations" OF_SITE " AND ord IS NULL",
};
_Static_assert(sizeof SQL / sizeof *SQL == SQL_N, "marks and sweeps as counted");
_Static_assert(SQL_N <= STORE_STATEMENTS_MAX, "raise STORE_STATEMENTS_MAX");

/* The tables of marks and sweeps that are left alone when they are the same. */
static bool is_same(const struct put *p, unsigned statement)
{
	static const struct {
		unsigned place;
		enum model_noun noun;
	} large[] = {{0, NOUN_PORT}, {1, NOUN_OUTLET}, {2, NOUN_BANK}, {DEVICES, NOUN_DEVICE}};

	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		if (p->same[large[i].noun] &&
			(statement == MARK + large[i].place || statement == SWEEP + large[i].place))
			return true;
	return false;
}

int64_t put_id(const int64_t *ids, size_t row)
{
	return row == MODEL_NONE ? 0 : ids[row];
}

bool put_has_part(enum model_noun noun)
{
	return noun == NOUN_RACK || noun == NOUN_FEED || noun == NOUN_PDU;
}

size_t put_part(const struct put *p, enum model_noun noun, size_t row)
{
	return noun == NOUN_RACK   ? p->parts.racks[row]
	       : noun == NOUN_FEED ? p->parts.feeds[row]
				   : p->parts.pdus[row];
}

/* The names that all rows of the site share. */
static void put_head(struct query *q, const struct put *p, size_t ord, const char *name)
{
	query_int(q, ":site", p->site);
	query_int(q, ":ord", (int64_t)ord);
	query_text(q, ":name", name);
}

static int put_site(struct put *p, struct err *err)
{
	AUTO_QUERY find = query_start(p->s, PART_PUT, SQL, SITE_FIND);
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, SITE);
	int rc;

	query_text(&find, ":name", p->m->site);
	rc = query_next(&find, err);
	if (rc < 0)
		return rc;
	p->fresh = rc == 0;

	query_text(&q, ":name", p->m->site);
	query_text(&q, ":about", p->m->about);
	query_text(&q, ":file", p->m->file);
	query_int(&q, ":now", clock_wall() / CLOCK_SEC);
	return query_value(&q, &p->site, err);
}

static int drop_templates(struct put *p, size_t type, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, TEMPLATES_DROP);

	query_int(&q, ":type", p->ids[NOUN_TYPE][type]);
	return query_run(&q, err);
}

static int put_template(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, TEMPLATE);
	const struct port_template *t = &p->m->templates.at[i];

	query_int(&q, ":type", put_id(p->ids[NOUN_TYPE], t->type));
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":kind", model_port_kind_name(t->kind));
	query_text(&q, ":names", t->names);
	query_text(&q, ":connector", t->connector);
	return query_run(&q, err);
}

static void port_sql(const struct batch *b, struct buf *head, struct buf *tuple, struct buf *tail)
{
	buf_add_text(
		head, "INSERT INTO ports (device_id, ord, name, kind, connector, mac) VALUES ");
	buf_add_text(tuple, "(?, ?, ?, ?, ?, ?)");
	if (b->update)
		buf_add_text(tail,
			" ON CONFLICT (device_id, name) DO UPDATE SET ord = excluded.ord,"
			" kind = excluded.kind, connector = excluded.connector, mac = excluded.mac"
			" RETURNING id, ord");
}

static void bind_port(struct put *p, const struct batch *b, struct query *q, int *col, size_t i)
{
	const struct port *port = &p->m->ports.at[i];

	(void)b;
	query_bind_int(q, (*col)++, put_id(p->ids[NOUN_DEVICE], port->device));
	query_bind_int(q, (*col)++, (int64_t)i);
	query_bind_text(q, (*col)++, port->name);
	query_bind_text(q, (*col)++, model_port_kind_name(port->kind));
	query_bind_text(q, (*col)++, port->type);
	query_bind_text(q, (*col)++, port->mac);
}

static int put_ports(struct put *p, struct err *err)
{
	const struct batch b = {.noun = NOUN_PORT,
		.sql = port_sql,
		.bind = bind_port,
		.n = p->m->ports.n,
		.ids = p->ids[NOUN_PORT],
		.update = !p->fresh};

	return put_batch(p, &b, err);
}

static int put_node(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, NODE);
	const struct node *n = &p->m->nodes.at[i];
	int64_t id;

	put_head(&q, p, i, n->name);
	query_id(&q, ":device", put_id(p->ids[NOUN_DEVICE], n->device));
	query_text(&q, ":address", n->address);
	query_int(&q, ":port", n->port);
	query_text(&q, ":login", n->user);
	query_text(&q, ":role", n->role);
	query_text(&q, ":key", n->host_key);
	query_text(&q, ":vars", n->vars ? n->vars : "{}");
	return query_value(&q, &id, err);
}

static int each(
	struct put *p, size_t n, int (*put)(struct put *, size_t, struct err *), struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = put(p, i, err);
	return rc;
}

/* Marks or sweeps: statements first to last, each over the site. */
static int over_site(struct put *p, unsigned first, unsigned last, struct err *err)
{
	int rc = 0;

	for (unsigned i = first; rc == 0 && i < last; i++) {
		AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, i);

		query_int(&q, ":site", p->site);
		rc = is_same(p, i) ? 0 : query_run(&q, err);
	}
	return rc;
}

/* A node that the file no longer names is retired, unless a run holds it. */
static int retire_nodes(struct put *p, struct err *err)
{
	AUTO_QUERY held = query_start(p->s, PART_PUT, SQL, NODE_HELD);
	struct arena *a = arena_new();
	int rc;

	query_int(&held, ":site", p->site);
	query_int(&held, ":now", clock_wall() / CLOCK_SEC);
	rc = query_next(&held, err);
	if (rc > 0) {
		err_set(err, E_BUSY, "node '%s' is gone from the file, but run '%s' of %s holds it",
			query_get_word(&held, 0, a), query_get_word(&held, 1, a),
			query_get_word(&held, 2, a));
		rc = err_hint(err, "wait for that run, or keep the node in the file");
	}
	arena_free(a);
	return rc == 0 ? over_site(p, NODES_RETIRE, NODES_RETIRE + 1, err) : rc;
}

static int put_all(struct put *p, struct err *err)
{
	const struct model *m = p->m;
	int rc = put_site(p, err);

	if (rc == 0)
		put_find_same(p);
	if (rc == 0)
		rc = over_site(p, REACH_DROP, SWEEP, err);
	if (rc == 0)
		rc = put_rows(p, err);
	if (rc == 0)
		rc = each(p, m->types.n, drop_templates, err);
	if (rc == 0)
		rc = each(p, m->templates.n, put_template, err);
	if (rc == 0)
		rc = p->same[NOUN_PORT] ? 0 : put_ports(p, err);
	if (rc == 0)
		rc = put_joins(p, err);
	if (rc == 0)
		rc = each(p, m->nodes.n, put_node, err);
	if (rc == 0)
		rc = retire_nodes(p, err);
	return rc == 0 ? over_site(p, SWEEP, SQL_N, err) : rc;
}

int store_put_model(struct store *s, const struct model *m, struct err *err)
{
	struct put p = {.s = s, .m = m, .arena = arena_new()};
	int rc;

	for (unsigned i = 0; i < NOUN_N; i++)
		p.ids[i] = arena_alloc(
			p.arena, (model_rows(m, (enum model_noun)i) + 1) * sizeof(int64_t));
	model_parts(p.arena, m, &p.parts);
	rc = put_all(&p, err);
	arena_free(p.arena);
	return rc;
}
