/*
 * store_put_power - what feeds and what joins: panels to outlets, cords and cables.
 *
 * Cords and cables have no name; one keeps its row while both its ends stay. Those
 * that changed are deleted before the new ones are inserted, so that two cords may
 * swap their outlets in one import.
 */
#include "agent/base/arena.h"
#include "inventory/store/store_priv.h"

#define OF_PORT(port)                                                     \
	" WHERE " port " IN (SELECT p.id FROM ports p JOIN devices d ON " \
	"d.id = p.device_id WHERE d.site_id = :site)"

enum {
	PANEL,
	FEED,
	PDU,
	OUTLET,
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
	[PANEL] = "INSERT INTO panels (site_id, ord, name, location_id)"
		  " VALUES (:site, :ord, :name, :location) ON CONFLICT (site_id, name)"
		  " DO UPDATE SET ord = excluded.ord, location_id = excluded.location_id"
		  " RETURNING id",
	[FEED] = "INSERT INTO feeds (site_id, ord, name, panel_id, rack_id, volts, phases, amps,"
		 " max_utilization) VALUES (:site, :ord, :name, :panel, :rack, :volts, :phases,"
		 " :amps, :utilization) ON CONFLICT (site_id, name) DO UPDATE SET"
		 " ord = excluded.ord, panel_id = excluded.panel_id, rack_id = excluded.rack_id,"
		 " volts = excluded.volts, phases = excluded.phases, amps = excluded.amps,"
		 " max_utilization = excluded.max_utilization RETURNING id",
	[PDU] = "INSERT INTO pdus (site_id, ord, name, rack_id, feed_id, amps)"
		" VALUES (:site, :ord, :name, :rack, :feed, :amps) ON CONFLICT (site_id, name)"
		" DO UPDATE SET ord = excluded.ord, rack_id = excluded.rack_id,"
		" feed_id = excluded.feed_id, amps = excluded.amps RETURNING id",
	[OUTLET] = "INSERT INTO outlets (pdu_id, ord, name, type, bank, phase)"
		   " VALUES (:pdu, :ord, :name, :type, :bank, :phase) ON CONFLICT (pdu_id, name)"
		   " DO UPDATE SET ord = excluded.ord, type = excluded.type,"
		   " bank = excluded.bank, phase = excluded.phase RETURNING id",
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

static void put_head(struct query *q, const struct put *p, size_t ord, const char *name)
{
	query_int(q, ":site", p->site);
	query_int(q, ":ord", (int64_t)ord);
	query_text(q, ":name", name);
}

static int put_panel(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT_POWER, SQL, PANEL);
	const struct panel *panel = &p->m->panels.at[i];

	put_head(&q, p, i, panel->name);
	query_id(&q, ":location", put_id(p->location, panel->location));
	return query_value(&q, &p->panel[i], err);
}

static int put_feed(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT_POWER, SQL, FEED);
	const struct feed *f = &p->m->feeds.at[i];

	put_head(&q, p, i, f->name);
	query_id(&q, ":panel", put_id(p->panel, f->panel));
	query_id(&q, ":rack", put_id(p->rack, f->rack));
	query_num(&q, ":volts", f->volts);
	query_int(&q, ":phases", f->phases);
	query_num(&q, ":amps", f->amps);
	query_num(&q, ":utilization", f->max_utilization);
	return query_value(&q, &p->feed[i], err);
}

static int put_pdu(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT_POWER, SQL, PDU);
	const struct pdu *pdu = &p->m->pdus.at[i];

	put_head(&q, p, i, pdu->name);
	query_id(&q, ":rack", put_id(p->rack, pdu->rack));
	query_id(&q, ":feed", put_id(p->feed, pdu->feed));
	query_num(&q, ":amps", pdu->amps);
	return query_value(&q, &p->pdu[i], err);
}

static int put_outlet(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT_POWER, SQL, OUTLET);
	const struct outlet *o = &p->m->outlets.at[i];

	query_int(&q, ":pdu", put_id(p->pdu, o->pdu));
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":name", o->name);
	query_text(&q, ":type", o->type);
	query_int(&q, ":bank", o->bank);
	query_int(&q, ":phase", o->phase);
	return query_value(&q, &p->outlet[i], err);
}

/* CORD_KEEP or CORD. */
static int write_cord(struct put *p, unsigned statement, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT_POWER, SQL, statement);
	const struct cord *c = &p->m->cords.at[i];

	query_int(&q, ":port", put_id(p->port, c->port));
	query_int(&q, ":outlet", put_id(p->outlet, c->outlet));
	query_int(&q, ":ord", (int64_t)i);
	return query_run(&q, err);
}

/* CABLE_KEEP or CABLE. */
static int write_cable(struct put *p, unsigned statement, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT_POWER, SQL, statement);
	const struct cable *c = &p->m->cables.at[i];

	query_int(&q, ":a", put_id(p->port, c->a));
	query_int(&q, ":b", put_id(p->port, c->b));
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":type", c->type);
	query_text(&q, ":label", c->label);
	query_num(&q, ":length", c->length_m);
	return query_run(&q, err);
}

static int over_site(struct put *p, unsigned statement, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_PUT_POWER, SQL, statement);

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

	for (size_t i = 0; rc == 0 && i < n; i++) {
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

int put_feeding(struct put *p, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->m->panels.n; i++)
		rc = put_panel(p, i, err);
	for (size_t i = 0; rc == 0 && i < p->m->feeds.n; i++)
		rc = put_feed(p, i, err);
	for (size_t i = 0; rc == 0 && i < p->m->pdus.n; i++)
		rc = put_pdu(p, i, err);
	for (size_t i = 0; rc == 0 && i < p->m->outlets.n; i++)
		rc = put_outlet(p, i, err);
	return rc;
}

int put_cabling(struct put *p, struct err *err)
{
	int rc = join(p, CORDS_MARK, p->m->cords.n, write_cord, err);

	return rc == 0 ? join(p, CABLES_MARK, p->m->cables.n, write_cable, err) : rc;
}
