/*
 * store_join - cords and cables.
 *
 * They have no name; one keeps its row while both its ends stay. Those that changed
 * are deleted before the new ones are inserted, so that two cords may swap their
 * outlets in one import.
 */
#include "agent/base/arena.h"
#include "inventory/store/store_priv.h"

#define OF_PORT(port)                                                     \
	" WHERE " port " IN (SELECT p.id FROM ports p JOIN devices d ON " \
	"d.id = p.device_id WHERE d.site_id = :site)"

enum {
	CORDS_MARK,
	CORD_KEEP,
	CORDS_SWEEP,
	CORD,
	CABLES_MARK,
	CABLE_KEEP,
	CABLES_SWEEP,
	CABLE
};
static const char *const SQL[] = {
	[CORDS_MARK] = "UPDATE cords SET ord = NULL" OF_PORT("port_id"),
	[CORD_KEEP] = "UPDATE cords SET ord = :ord WHERE port_id = :port AND outlet_id = :outlet",
	[CORDS_SWEEP] = "DELETE FROM cords" OF_PORT("port_id") " AND ord IS NULL",
	[CORD] = "INSERT INTO cords (port_id, outlet_id, ord) VALUES (:port, :outlet, :ord)",
	[CABLES_MARK] = "UPDATE cables SET ord = NULL" OF_PORT("port_a"),
	[CABLE_KEEP] = "UPDATE cables SET ord = :ord, type = :type, label = :label,"
		       " length_m = :length WHERE port_a = :a AND port_b = :b",
	[CABLES_SWEEP] = "DELETE FROM cables" OF_PORT("port_a") " AND ord IS NULL",
	[CABLE] = "INSERT INTO cables (port_a, port_b, ord, type, label, length_m)"
		  " VALUES (:a, :b, :ord, :type, :label, :length)",
};

/* CORD_KEEP or CORD. */
static int write_cord(struct put *p, unsigned statement, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_JOIN, SQL, statement);
	const struct cord *c = &p->m->cords.at[i];

	query_int(&q, ":port", put_id(p->ids[NOUN_PORT], c->port));
	query_int(&q, ":outlet", put_id(p->ids[NOUN_OUTLET], c->outlet));
	query_int(&q, ":ord", (int64_t)i);
	return query_run(&q, err);
}

/* CABLE_KEEP or CABLE. */
static int write_cable(struct put *p, unsigned statement, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_JOIN, SQL, statement);
	const struct cable *c = &p->m->cables.at[i];

	query_int(&q, ":a", put_id(p->ids[NOUN_PORT], c->a));
	query_int(&q, ":b", put_id(p->ids[NOUN_PORT], c->b));
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":type", c->type);
	query_text(&q, ":label", c->label);
	query_num(&q, ":length", c->length_m);
	return query_run(&q, err);
}

static int over_site(struct put *p, unsigned statement, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_JOIN, SQL, statement);

	query_int(&q, ":site", p->site);
	return query_run(&q, err);
}

/* Cords or cables: mark and its three statements behind it in the table. */
static int join(struct put *p, unsigned mark, size_t n,
	int (*write)(struct put *, unsigned, size_t, struct err *), struct err *err)
{
	const unsigned keep = mark + 1, sweep = mark + 2, insert = mark + 3;
	struct arena *a = arena_new();
	bool *kept = arena_alloc(a, n + 1);
	int rc = over_site(p, mark, err);

	for (size_t i = 0; rc == 0 && !p->fresh && i < n; i++) {
		rc = write(p, keep, i, err);
		kept[i] = rc == 0 && sqlite3_changes(p->s->db) > 0;
	}
	if (rc == 0)
		rc = over_site(p, sweep, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!kept[i])
			rc = write(p, insert, i, err);
	arena_free(a);
	return rc;
}

int put_joins(struct put *p, struct err *err)
{
	int rc = join(p, CORDS_MARK, p->m->cords.n, write_cord, err);

	return rc == 0 ? join(p, CABLES_MARK, p->m->cables.n, write_cable, err) : rc;
}
