/* store_model - a site of the database as a model; a row's ord is its index there. */
#include "agent/base/buf.h"
#include "inventory/store/store_priv.h"

#include <string.h>

enum {
	SITES,
	SITE,
	LOCATIONS,
	ZONES,
	RACKS,
	PANELS,
	FEEDS,
	PDUS,
	OUTLETS,
	TYPES,
	TEMPLATES,
	DEVICES,
	PORTS,
	CORDS,
	CABLES,
	NODES
};
static const char *const SQL[] = {
	[SITES] = "SELECT name FROM sites ORDER BY name",
	[SITE] = "SELECT id, about, file FROM sites WHERE name = :name",
	[LOCATIONS] = "SELECT name FROM locations WHERE site_id = :site ORDER BY ord",
	[ZONES] = "SELECT name, kind, capacity_w FROM cooling_zones WHERE site_id = :site"
		  " ORDER BY ord",
	[RACKS] = "SELECT r.name, l.ord, z.ord, r.height_u, r.depth_mm, r.max_weight_kg"
		  " FROM racks r LEFT JOIN locations l ON l.id = r.location_id"
		  " LEFT JOIN cooling_zones z ON z.id = r.cooling_zone_id"
		  " WHERE r.site_id = :site ORDER BY r.ord",
	[PANELS] = "SELECT p.name, l.ord FROM panels p LEFT JOIN locations l"
		   " ON l.id = p.location_id WHERE p.site_id = :site ORDER BY p.ord",
	[FEEDS] = "SELECT f.name, p.ord, r.ord, f.volts, f.phases, f.amps, f.max_utilization"
		  " FROM feeds f LEFT JOIN panels p ON p.id = f.panel_id"
		  " LEFT JOIN racks r ON r.id = f.rack_id WHERE f.site_id = :site ORDER BY f.ord",
	[PDUS] = "SELECT p.name, r.ord, f.ord, p.amps FROM pdus p"
		 " LEFT JOIN racks r ON r.id = p.rack_id LEFT JOIN feeds f ON f.id = p.feed_id"
		 " WHERE p.site_id = :site ORDER BY p.ord",
	[OUTLETS] = "SELECT o.name, p.ord, o.type, o.bank, o.phase FROM outlets o"
		    " JOIN pdus p ON p.id = o.pdu_id WHERE p.site_id = :site ORDER BY o.ord",
	[TYPES] = "SELECT name, maker, height_u, full_depth, depth_mm, weight_kg,"
		  " watts_nameplate, watts_max, watts_capped, watts_measured, watts_origin,"
		  " watts_source, psus, psus_needed, gpus, gpu FROM device_types"
		  " WHERE site_id = :site ORDER BY ord",
	[TEMPLATES] = "SELECT t.ord, p.kind, p.names, p.connector FROM port_templates p"
		      " JOIN device_types t ON t.id = p.type_id WHERE t.site_id = :site"
		      " ORDER BY p.ord",
	[DEVICES] = "SELECT d.name, d.role, t.ord, r.ord, d.position, d.face, d.status, d.serial,"
		    " d.watts_measured, d.watts_cap FROM devices d"
		    " LEFT JOIN device_types t ON t.id = d.type_id"
		    " LEFT JOIN racks r ON r.id = d.rack_id WHERE d.site_id = :site ORDER BY d.ord",
	[PORTS] = "SELECT p.name, d.ord, p.kind, p.connector, p.mac FROM ports p"
		  " JOIN devices d ON d.id = p.device_id WHERE d.site_id = :site ORDER BY p.ord",
	[CORDS] = "SELECT p.ord, o.ord FROM cords c JOIN ports p ON p.id = c.port_id"
		  " JOIN devices d ON d.id = p.device_id JOIN outlets o ON o.id = c.outlet_id"
		  " WHERE d.site_id = :site ORDER BY c.ord",
	[CABLES] = "SELECT a.ord, b.ord, c.type, c.label, c.length_m FROM cables c"
		   " JOIN ports a ON a.id = c.port_a JOIN ports b ON b.id = c.port_b"
		   " JOIN devices d ON d.id = a.device_id WHERE d.site_id = :site ORDER BY c.ord",
	[NODES] = "SELECT n.name, d.ord, n.address, n.login, n.role, n.port, n.host_key, n.vars"
		  " FROM nodes n LEFT JOIN devices d ON d.id = n.device_id"
		  " WHERE n.site_id = :site AND n.ord IS NOT NULL ORDER BY n.ord",
};

/* A word of a closed list; the table's CHECK lets no other in. */
static unsigned word(struct query *q, int col, const char *const *words)
{
	const unsigned char *text = sqlite3_column_text(q->st, col);
	const int i = text ? model_word(words, (const char *)text) : -1;

	return i < 0 ? 0 : (unsigned)i;
}

static void load_location(struct query *q, struct model *m)
{
	vec_push(&m->locations)->name = query_get_word(q, 0, m->arena);
}

static void load_zone(struct query *q, struct model *m)
{
	*vec_push(&m->zones) = (struct cooling_zone){
		.name = query_get_word(q, 0, m->arena),
		.kind = query_get_word(q, 1, m->arena),
		.capacity_w = query_get_num(q, 2),
		.dew_point_c = MODEL_UNSET,
	};
}

static void load_rack(struct query *q, struct model *m)
{
	*vec_push(&m->racks) = (struct rack){
		.name = query_get_word(q, 0, m->arena),
		.location = query_get_row(q, 1),
		.cooling_zone = query_get_row(q, 2),
		.height_u = (unsigned)query_get_int(q, 3),
		.depth_mm = query_get_num(q, 4),
		.max_weight_kg = query_get_num(q, 5),
		.cooling.dew_point_c = MODEL_UNSET,
	};
}

static void load_panel(struct query *q, struct model *m)
{
	*vec_push(&m->panels) = (struct panel){
		.name = query_get_word(q, 0, m->arena), .location = query_get_row(q, 1)};
}

static void load_feed(struct query *q, struct model *m)
{
	*vec_push(&m->feeds) = (struct feed){
		.name = query_get_word(q, 0, m->arena),
		.panel = query_get_row(q, 1),
		.rack = query_get_row(q, 2),
		.volts = query_get_num(q, 3),
		.phases = (unsigned)query_get_int(q, 4),
		.amps = query_get_num(q, 5),
		.max_utilization = query_get_num(q, 6),
	};
}

static void load_pdu(struct query *q, struct model *m)
{
	*vec_push(&m->pdus) = (struct pdu){
		.name = query_get_word(q, 0, m->arena),
		.rack = query_get_row(q, 1),
		.feed = query_get_row(q, 2),
		.amps = query_get_num(q, 3),
	};
}

static void load_outlet(struct query *q, struct model *m)
{
	*vec_push(&m->outlets) = (struct outlet){
		.name = query_get_word(q, 0, m->arena),
		.pdu = query_get_row(q, 1),
		.type = query_get_text(q, 2, m->arena),
		.bank = (unsigned)query_get_int(q, 3),
		.phase = (unsigned)query_get_int(q, 4),
	};
}

static void load_type(struct query *q, struct model *m)
{
	struct device_type *t = vec_push(&m->types);

	*t = (struct device_type){
		.name = query_get_word(q, 0, m->arena),
		.maker = query_get_text(q, 1, m->arena),
		.height_u = (unsigned)query_get_int(q, 2),
		.full_depth = query_get_int(q, 3) != 0,
		.depth_mm = query_get_num(q, 4),
		.weight_kg = query_get_num(q, 5),
		.watts_origin = word(q, 10, MODEL_ORIGINS),
		.watts_source = query_get_text(q, 11, m->arena),
		.psus = (unsigned)query_get_int(q, 12),
		.psus_needed = (unsigned)query_get_int(q, 13),
		.gpus = (unsigned)query_get_int(q, 14),
		.gpu = query_get_text(q, 15, m->arena),
	};
	for (int basis = 0; basis < BASIS_N; basis++)
		t->watts[basis] = query_get_num(q, 6 + basis);
}

static void load_template(struct query *q, struct model *m)
{
	*vec_push(&m->templates) = (struct port_template){
		.type = query_get_row(q, 0),
		.kind = word(q, 1, MODEL_PORT_KINDS),
		.names = query_get_word(q, 2, m->arena),
		.connector = query_get_text(q, 3, m->arena),
	};
}

static void load_device(struct query *q, struct model *m)
{
	*vec_push(&m->devices) = (struct device){
		.name = query_get_word(q, 0, m->arena),
		.role = query_get_text(q, 1, m->arena),
		.type = query_get_row(q, 2),
		.rack = query_get_row(q, 3),
		.position = (unsigned)query_get_int(q, 4),
		.face = word(q, 5, MODEL_FACES),
		.status = word(q, 6, MODEL_STATUSES),
		.serial = query_get_text(q, 7, m->arena),
		.watts_measured = query_get_num(q, 8),
		.watts_cap = query_get_num(q, 9),
	};
}

static void load_port(struct query *q, struct model *m)
{
	*vec_push(&m->ports) = (struct port){
		.name = query_get_word(q, 0, m->arena),
		.device = query_get_row(q, 1),
		.kind = word(q, 2, MODEL_PORT_KINDS),
		.type = query_get_text(q, 3, m->arena),
		.mac = query_get_text(q, 4, m->arena),
	};
}

static void load_cord(struct query *q, struct model *m)
{
	*vec_push(&m->cords) =
		(struct cord){.port = query_get_row(q, 0), .outlet = query_get_row(q, 1)};
}

static void load_cable(struct query *q, struct model *m)
{
	*vec_push(&m->cables) = (struct cable){
		.a = query_get_row(q, 0),
		.b = query_get_row(q, 1),
		.type = query_get_text(q, 2, m->arena),
		.label = query_get_text(q, 3, m->arena),
		.length_m = query_get_num(q, 4),
	};
}

static void load_node(struct query *q, struct model *m)
{
	*vec_push(&m->nodes) = (struct node){
		.name = query_get_word(q, 0, m->arena),
		.device = query_get_row(q, 1),
		.address = query_get_word(q, 2, m->arena),
		.user = query_get_text(q, 3, m->arena),
		.role = query_get_text(q, 4, m->arena),
		.port = (unsigned)query_get_int(q, 5),
		.host_key = query_get_text(q, 6, m->arena),
		.vars = query_get_word(q, 7, m->arena),
	};
}

static const struct loader {
	unsigned statement;
	void (*load)(struct query *q, struct model *m);
} LOADERS[] = {
	{LOCATIONS, load_location},
	{ZONES, load_zone},
	{RACKS, load_rack},
	{PANELS, load_panel},
	{FEEDS, load_feed},
	{PDUS, load_pdu},
	{OUTLETS, load_outlet},
	{TYPES, load_type},
	{TEMPLATES, load_template},
	{DEVICES, load_device},
	{PORTS, load_port},
	{CORDS, load_cord},
	{CABLES, load_cable},
	{NODES, load_node},
};

static int load_rows(
	struct store *s, struct model *m, int64_t site, const struct loader *l, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_MODEL, SQL, l->statement);
	int rc;

	query_int(&q, ":site", site);
	while ((rc = query_next(&q, err)) > 0)
		l->load(&q, m);
	return rc;
}

static int load_site(
	struct store *s, struct model *m, const char *name, int64_t *id, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_MODEL, SQL, SITE);
	int rc;

	query_text(&q, ":name", name);
	rc = query_next(&q, err);
	if (rc == 0) {
		err_set(err, E_NOTFOUND, "the database has no site '%s'", name);
		return err_hint(err, "bring one in with 'stoika import FILE'");
	}
	if (rc < 0)
		return rc;
	m->site = arena_strdup(m->arena, name);
	*id = query_get_int(&q, 0);
	m->about = query_get_text(&q, 1, m->arena);
	m->file = query_get_text(&q, 2, m->arena);
	return 0;
}

int store_sites(struct store *s, struct arena *a, const char ***names, size_t *n, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_MODEL, SQL, SITES);
	struct model_names found = VEC_INIT;
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		*vec_push(&found) = query_get_word(&q, 0, a);
	if (rc == 0) {
		*names = arena_alloc(a, (found.n + 1) * sizeof **names);
		for (size_t i = 0; i < found.n; i++)
			(*names)[i] = found.at[i];
		*n = found.n;
	}
	vec_done(&found);
	return rc;
}

/* The only site, for a caller who names none. */
static int only_site(struct store *s, struct arena *a, const char **name, struct err *err)
{
	const char **names;
	size_t n;
	const int rc = store_sites(s, a, &names, &n, err);
	AUTO_BUF list;

	buf_init(&list, 300);
	if (rc < 0)
		return rc;
	if (n == 0) {
		err_set(err, E_NOTFOUND, "the database has no site yet");
		return err_hint(err, "bring one in with 'stoika import FILE'");
	}
	for (size_t i = 0; n > 1 && i < n; i++)
		buf_addf(&list, "%s'%s'", i ? ", " : "", names[i]);
	if (n > 1)
		return err_set(
			err, E_CONFLICT, "the database has several sites: %s", buf_text(&list));
	*name = names[0];
	return 0;
}

/* A row that is there, or none. */
static bool refers(size_t row, size_t n)
{
	return row == MODEL_NONE || row < n;
}

/* Whether every index is of a row that was loaded: a damaged file must not lead out of an array. */
static bool holds_together(const struct model *m)
{
	bool ok = true;

	vec_each(&m->racks, const struct rack, r)
		ok = ok && refers(r->location, m->locations.n) &&
		     refers(r->cooling_zone, m->zones.n);
	vec_each(&m->panels, const struct panel, p)
		ok = ok && refers(p->location, m->locations.n);
	vec_each(&m->feeds, const struct feed, f)
		ok = ok && refers(f->panel, m->panels.n) && refers(f->rack, m->racks.n);
	vec_each(&m->pdus, const struct pdu, p)
		ok = ok && refers(p->rack, m->racks.n) && refers(p->feed, m->feeds.n);
	vec_each(&m->outlets, const struct outlet, o)
		ok = ok && o->pdu < m->pdus.n;
	vec_each(&m->templates, const struct port_template, t)
		ok = ok && t->type < m->types.n;
	vec_each(&m->devices, const struct device, d)
		ok = ok && refers(d->type, m->types.n) && refers(d->rack, m->racks.n);
	vec_each(&m->ports, const struct port, p)
		ok = ok && p->device < m->devices.n;
	vec_each(&m->cords, const struct cord, c)
		ok = ok && c->port < m->ports.n && c->outlet < m->outlets.n;
	vec_each(&m->cables, const struct cable, c)
		ok = ok && c->a < m->ports.n && c->b < m->ports.n;
	vec_each(&m->nodes, const struct node, n)
		ok = ok && refers(n->device, m->devices.n);
	return ok;
}

static int load_all(struct store *s, struct model *m, const char *site, struct err *err)
{
	int64_t id = 0;
	int rc = site ? 0 : only_site(s, m->arena, &site, err);

	if (rc == 0)
		rc = load_site(s, m, site, &id, err);
	for (size_t i = 0; rc == 0 && i < sizeof LOADERS / sizeof *LOADERS; i++)
		rc = load_rows(s, m, id, &LOADERS[i], err);
	if (rc == 0 && !holds_together(m)) {
		err_set(err, E_VERIFY, "the rows of site '%s' do not fit together", m->site);
		rc = err_hint(err, "import the site again, or restore a backup of '%s'", s->path);
	}
	return rc;
}

int store_load_model(struct store *s, const char *site, struct model **out, struct err *err)
{
	struct model *m = model_new();
	const bool own = store_snapshot(s);
	int rc = load_all(s, m, site, err);

	if (own)
		store_rollback(s);
	if (rc < 0) {
		model_free(m);
		return rc;
	}
	*out = m;
	return 0;
}
