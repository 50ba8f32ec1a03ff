/* store_model - a site of the database as a model; a row's ord is its index there. */
#include "agent/base/buf.h"
#include "inventory/store/store_rows.h"

#include <string.h>

enum {
	SITES,
	SITE,
	TEMPLATES,
	PORTS,
	CORDS,
	CABLES,
	NODES
};
static const char *const SQL[] = {
	[SITES] = "SELECT name FROM sites ORDER BY name",
	[SITE] = "SELECT id, file FROM sites WHERE name = :name",
	[TEMPLATES] = "SELECT t.ord, p.kind, p.names, p.connector FROM port_templates p"
		      " JOIN device_types t ON t.id = p.type_id WHERE t.site_id = :site"
		      " ORDER BY p.ord",
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

static void load_template(struct query *q, struct model *m)
{
	*vec_push(&m->templates) = (struct port_template){
		.type = query_get_row(q, 0),
		.kind = word(q, 1, MODEL_PORT_KINDS),
		.names = query_get_word(q, 2, m->arena),
		.connector = query_get_text(q, 3, m->arena),
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
	{TEMPLATES, load_template},
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

static void add_names(struct buf *out, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s'%s'", i ? ", " : "", names[i]);
}

static int no_such_site(struct store *s, struct arena *a, const char *name, struct err *err)
{
	const char **names = NULL;
	size_t n = 0;
	const int rc = store_sites(s, a, &names, &n, err);
	AUTO_BUF list;

	buf_init(&list, 200);
	if (rc < 0)
		return rc;
	add_names(&list, names, n);
	err_set(err, E_NOTFOUND, "the database has no site '%s'", name);
	if (n == 0)
		return err_hint(err, "bring one in with 'stoika import FILE'");
	return err_hint(err, "it has %s", buf_text(&list));
}

int store_load_head(
	struct store *s, struct model *m, const char *name, int64_t *id, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_MODEL, SQL, SITE);
	int rc;

	query_text(&q, ":name", name);
	rc = query_next(&q, err);
	if (rc == 0)
		return no_such_site(s, m->arena, name, err);
	if (rc < 0)
		return rc;
	m->site = arena_strdup(m->arena, name);
	*id = query_get_int(&q, 0);
	m->file = query_get_text(&q, 1, m->arena);
	return 0;
}

int store_only_site(struct store *s, struct arena *a, const char **name, struct err *err)
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
	add_names(&list, names, n);
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
	bool ok = rows_hold_together(m);

	vec_each(&m->templates, const struct port_template, t)
		ok = ok && t->type < m->types.n;
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
	int rc = site ? 0 : store_only_site(s, m->arena, &site, err);

	if (rc == 0)
		rc = store_load_head(s, m, site, &id, err);
	if (rc == 0)
		rc = load_rows_all(s, m, id, err);
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
