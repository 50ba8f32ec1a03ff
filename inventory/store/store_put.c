/*
 * store_put - a model over what the database has of the site.
 *
 * First every row of the site loses its ord; then the model's rows are inserted or
 * updated by name and get theirs; what has none at the end is gone from the file
 * and is deleted, children first. Nodes are retired instead.
 */
#include "agent/base/arena.h"
#include "agent/base/clock.h"
#include "inventory/store/store_priv.h"

enum {
	SITE,
	LOCATION,
	ZONE,
	RACK,
	TYPE,
	TEMPLATES_DROP,
	TEMPLATE,
	DEVICE,
	PORT,
	NODE,
	NODE_HELD,
	NODES_RETIRE,
	MARK, /* and the ten behind it */
	SWEEP = MARK + 11,
	SQL_N = SWEEP + 10
};

#define OF_SITE   " WHERE site_id = :site"
#define OF_PDU    " WHERE pdu_id IN (SELECT id FROM pdus WHERE site_id = :site)"
#define OF_DEVICE " WHERE device_id IN (SELECT id FROM devices WHERE site_id = :site)"

static const char *const SQL[] = {
	[SITE] = "INSERT INTO sites (name, about, file, created, updated)"
		 " VALUES (:name, :about, :file, :now, :now) ON CONFLICT (name) DO UPDATE SET"
		 " about = excluded.about, file = excluded.file, updated = excluded.updated"
		 " RETURNING id",
	[LOCATION] = "INSERT INTO locations (site_id, ord, name) VALUES (:site, :ord, :name)"
		     " ON CONFLICT (site_id, name) DO UPDATE SET ord = excluded.ord RETURNING id",
	[ZONE] = "INSERT INTO cooling_zones (site_id, ord, name, kind, capacity_w)"
		 " VALUES (:site, :ord, :name, :kind, :capacity)"
		 " ON CONFLICT (site_id, name) DO UPDATE SET ord = excluded.ord,"
		 " kind = excluded.kind, capacity_w = excluded.capacity_w RETURNING id",
	[RACK] = "INSERT INTO racks (site_id, ord, name, location_id, cooling_zone_id, height_u,"
		 " depth_mm, max_weight_kg) VALUES (:site, :ord, :name, :location, :zone, :height,"
		 " :depth, :weight) ON CONFLICT (site_id, name) DO UPDATE SET ord = excluded.ord,"
		 " location_id = excluded.location_id, cooling_zone_id = excluded.cooling_zone_id,"
		 " height_u = excluded.height_u, depth_mm = excluded.depth_mm,"
		 " max_weight_kg = excluded.max_weight_kg RETURNING id",
	[TYPE] = "INSERT INTO device_types (site_id, ord, name, maker, height_u, full_depth,"
		 " depth_mm, weight_kg, watts_nameplate, watts_max, watts_capped, watts_measured,"
		 " watts_origin, watts_source, psus, psus_needed, gpus, gpu)"
		 " VALUES (:site, :ord, :name, :maker, :height, :full, :depth, :weight, :nameplate,"
		 " :max, :capped, :measured, :origin, :source, :psus, :needed, :gpus, :gpu)"
		 " ON CONFLICT (site_id, name) DO UPDATE SET ord = excluded.ord,"
		 " maker = excluded.maker, height_u = excluded.height_u,"
		 " full_depth = excluded.full_depth, depth_mm = excluded.depth_mm,"
		 " weight_kg = excluded.weight_kg, watts_nameplate = excluded.watts_nameplate,"
		 " watts_max = excluded.watts_max, watts_capped = excluded.watts_capped,"
		 " watts_measured = excluded.watts_measured, watts_origin = excluded.watts_origin,"
		 " watts_source = excluded.watts_source, psus = excluded.psus,"
		 " psus_needed = excluded.psus_needed, gpus = excluded.gpus, gpu = excluded.gpu"
		 " RETURNING id",
	[TEMPLATES_DROP] = "DELETE FROM port_templates WHERE type_id = :type",
	[TEMPLATE] = "INSERT INTO port_templates (type_id, ord, kind, names, connector)"
		     " VALUES (:type, :ord, :kind, :names, :connector)",
	[DEVICE] =
		"INSERT INTO devices (site_id, ord, name, role, type_id, rack_id, position, face,"
		" status, serial, watts_measured, watts_cap) VALUES (:site, :ord, :name, :role,"
		" :type, :rack, :position, :face, :status, :serial, :measured, :cap)"
		" ON CONFLICT (site_id, name) DO UPDATE SET ord = excluded.ord,"
		" role = excluded.role, type_id = excluded.type_id, rack_id = excluded.rack_id,"
		" position = excluded.position, face = excluded.face, status = excluded.status,"
		" serial = excluded.serial, watts_measured = excluded.watts_measured,"
		" watts_cap = excluded.watts_cap RETURNING id",
	[PORT] = "INSERT INTO ports (device_id, ord, name, kind, connector, mac)"
		 " VALUES (:device, :ord, :name, :kind, :connector, :mac)"
		 " ON CONFLICT (device_id, name) DO UPDATE SET ord = excluded.ord,"
		 " kind = excluded.kind, connector = excluded.connector, mac = excluded.mac"
		 " RETURNING id",
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
	/* marks, then sweeps of the same tables, children first */
	[MARK] = "UPDATE ports SET ord = NULL" OF_DEVICE,
	"UPDATE outlets SET ord = NULL" OF_PDU,
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

int64_t put_id(const int64_t *ids, size_t row)
{
	return row == MODEL_NONE ? 0 : ids[row];
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
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, SITE);

	query_text(&q, ":name", p->m->site);
	query_text(&q, ":about", p->m->about);
	query_text(&q, ":file", p->m->file);
	query_int(&q, ":now", clock_wall() / CLOCK_SEC);
	return query_value(&q, &p->site, err);
}

static int put_location(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, LOCATION);

	put_head(&q, p, i, p->m->locations.at[i].name);
	return query_value(&q, &p->location[i], err);
}

static int put_zone(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, ZONE);
	const struct cooling_zone *z = &p->m->zones.at[i];

	put_head(&q, p, i, z->name);
	query_text(&q, ":kind", z->kind);
	query_num(&q, ":capacity", z->capacity_w);
	return query_value(&q, &p->zone[i], err);
}

static int put_rack(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, RACK);
	const struct rack *r = &p->m->racks.at[i];

	put_head(&q, p, i, r->name);
	query_id(&q, ":location", put_id(p->location, r->location));
	query_id(&q, ":zone", put_id(p->zone, r->cooling_zone));
	query_int(&q, ":height", r->height_u);
	query_num(&q, ":depth", r->depth_mm);
	query_num(&q, ":weight", r->max_weight_kg);
	return query_value(&q, &p->rack[i], err);
}

static int put_type(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, TYPE);
	const struct device_type *t = &p->m->types.at[i];

	put_head(&q, p, i, t->name);
	query_text(&q, ":maker", t->maker);
	query_int(&q, ":height", t->height_u);
	query_int(&q, ":full", t->full_depth);
	query_num(&q, ":depth", t->depth_mm);
	query_num(&q, ":weight", t->weight_kg);
	query_num(&q, ":nameplate", t->watts[BASIS_NAMEPLATE]);
	query_num(&q, ":max", t->watts[BASIS_MAX]);
	query_num(&q, ":capped", t->watts[BASIS_CAPPED]);
	query_num(&q, ":measured", t->watts[BASIS_MEASURED]);
	query_text(&q, ":origin", model_origin_name(t->watts_origin));
	query_text(&q, ":source", t->watts_source);
	query_int(&q, ":psus", t->psus);
	query_int(&q, ":needed", t->psus_needed);
	query_int(&q, ":gpus", t->gpus);
	query_text(&q, ":gpu", t->gpu);
	return query_value(&q, &p->type[i], err);
}

static int drop_templates(struct put *p, size_t type, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, TEMPLATES_DROP);

	query_int(&q, ":type", p->type[type]);
	return query_run(&q, err);
}

static int put_template(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, TEMPLATE);
	const struct port_template *t = &p->m->templates.at[i];

	query_int(&q, ":type", put_id(p->type, t->type));
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":kind", model_port_kind_name(t->kind));
	query_text(&q, ":names", t->names);
	query_text(&q, ":connector", t->connector);
	return query_run(&q, err);
}

static int put_device(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, DEVICE);
	const struct device *d = &p->m->devices.at[i];

	put_head(&q, p, i, d->name);
	query_text(&q, ":role", d->role);
	query_id(&q, ":type", put_id(p->type, d->type));
	query_id(&q, ":rack", put_id(p->rack, d->rack));
	query_int(&q, ":position", d->position);
	query_text(&q, ":face", model_face_name(d->face));
	query_text(&q, ":status", model_status_name(d->status));
	query_text(&q, ":serial", d->serial);
	query_num(&q, ":measured", d->watts_measured);
	query_num(&q, ":cap", d->watts_cap);
	return query_value(&q, &p->device[i], err);
}

static int put_port(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, PORT);
	const struct port *port = &p->m->ports.at[i];

	query_int(&q, ":device", put_id(p->device, port->device));
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":name", port->name);
	query_text(&q, ":kind", model_port_kind_name(port->kind));
	query_text(&q, ":connector", port->type);
	query_text(&q, ":mac", port->mac);
	return query_value(&q, &p->port[i], err);
}

static int put_node(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT, SQL, NODE);
	const struct node *n = &p->m->nodes.at[i];
	int64_t id;

	put_head(&q, p, i, n->name);
	query_id(&q, ":device", put_id(p->device, n->device));
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
		rc = query_run(&q, err);
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
		rc = over_site(p, MARK, SWEEP, err);
	if (rc == 0)
		rc = each(p, m->locations.n, put_location, err);
	if (rc == 0)
		rc = each(p, m->zones.n, put_zone, err);
	if (rc == 0)
		rc = each(p, m->racks.n, put_rack, err);
	if (rc == 0)
		rc = put_feeding(p, err);
	if (rc == 0)
		rc = each(p, m->types.n, put_type, err);
	if (rc == 0)
		rc = each(p, m->types.n, drop_templates, err);
	if (rc == 0)
		rc = each(p, m->templates.n, put_template, err);
	if (rc == 0)
		rc = each(p, m->devices.n, put_device, err);
	if (rc == 0)
		rc = each(p, m->ports.n, put_port, err);
	if (rc == 0)
		rc = put_cabling(p, err);
	if (rc == 0)
		rc = each(p, m->nodes.n, put_node, err);
	if (rc == 0)
		rc = retire_nodes(p, err);
	return rc == 0 ? over_site(p, SWEEP, SQL_N, err) : rc;
}

static int64_t *ids(struct arena *a, size_t n)
{
	return arena_alloc(a, (n + 1) * sizeof(int64_t));
}

int store_put_model(struct store *s, const struct model *m, struct err *err)
{
	struct arena *a = arena_new();
	struct put p = {
		.s = s,
		.m = m,
		.location = ids(a, m->locations.n),
		.zone = ids(a, m->zones.n),
		.rack = ids(a, m->racks.n),
		.panel = ids(a, m->panels.n),
		.feed = ids(a, m->feeds.n),
		.pdu = ids(a, m->pdus.n),
		.outlet = ids(a, m->outlets.n),
		.type = ids(a, m->types.n),
		.device = ids(a, m->devices.n),
		.port = ids(a, m->ports.n),
	};
	const int rc = put_all(&p, err);

	arena_free(a);
	return rc;
}
