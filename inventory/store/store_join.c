/*
 * store_join - cords and cables.
 *
 * They have no name; one keeps its row while both its ends stay. Those that changed
 * are deleted before the new ones are inserted, so that two cords may swap their
 * outlets in one import.
 */
#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "inventory/store/store_batch.h"

#define OF_PORT(port)                                                     \
	" WHERE " port " IN (SELECT p.id FROM ports p JOIN devices d ON " \
	"d.id = p.device_id WHERE d.site_id = :site)"

enum {
	CORDS_MARK,
	CORD_KEEP,
	CORDS_SWEEP,
	CABLES_MARK,
	CABLE_KEEP,
	CABLES_SWEEP
};
static const char *const SQL[] = {
	[CORDS_MARK] = "UPDATE cords SET ord = NULL" OF_PORT("port_id"),
	[CORD_KEEP] = "UPDATE cords SET ord = :ord WHERE port_id = :port AND outlet_id = :outlet",
	[CORDS_SWEEP] = "DELETE FROM cords" OF_PORT("port_id") " AND ord IS NULL",
	[CABLES_MARK] = "UPDATE cables SET ord = NULL" OF_PORT("port_a"),
	[CABLE_KEEP] = "UPDATE cables SET ord = :ord, type = :type, label = :label,"
		       " length_m = :length WHERE port_a = :a AND port_b = :b",
	[CABLES_SWEEP] = "DELETE FROM cables" OF_PORT("port_a") " AND ord IS NULL",
};

static int keep_cord(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_JOIN, SQL, CORD_KEEP);
	const struct cord *c = &p->m->cords.at[i];

	query_int(&q, ":port", put_id(p->ids[NOUN_PORT], c->port));
	query_int(&q, ":outlet", put_id(p->ids[NOUN_OUTLET], c->outlet));
	query_int(&q, ":ord", (int64_t)i);
	return query_run(&q, err);
}

static int keep_cable(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_JOIN, SQL, CABLE_KEEP);
	const struct cable *c = &p->m->cables.at[i];

	query_int(&q, ":a", put_id(p->ids[NOUN_PORT], c->a));
	query_int(&q, ":b", put_id(p->ids[NOUN_PORT], c->b));
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":type", c->type);
	query_text(&q, ":label", c->label);
	query_num(&q, ":length", c->length_m);
	return query_run(&q, err);
}

static void cord_sql(const struct batch *b, struct buf *head, struct buf *tuple, struct buf *tail)
{
	(void)b, (void)tail;
	buf_add_text(head, "INSERT INTO cords (port_id, outlet_id, ord) VALUES ");
	buf_add_text(tuple, "(?, ?, ?)");
}

static void bind_cord(struct put *p, const struct batch *b, struct query *q, int *col, size_t i)
{
	const struct cord *c = &p->m->cords.at[i];

	(void)b;
	query_bind_int(q, (*col)++, put_id(p->ids[NOUN_PORT], c->port));
	query_bind_int(q, (*col)++, put_id(p->ids[NOUN_OUTLET], c->outlet));
	query_bind_int(q, (*col)++, (int64_t)i);
}

static void cable_sql(const struct batch *b, struct buf *head, struct buf *tuple, struct buf *tail)
{
	(void)b, (void)tail;
	buf_add_text(
		head, "INSERT INTO cables (port_a, port_b, ord, type, label, length_m) VALUES ");
	buf_add_text(tuple, "(?, ?, ?, ?, ?, ?)");
}

static void bind_cable(struct put *p, const struct batch *b, struct query *q, int *col, size_t i)
{
	const struct cable *c = &p->m->cables.at[i];

	(void)b;
	query_bind_int(q, (*col)++, put_id(p->ids[NOUN_PORT], c->a));
	query_bind_int(q, (*col)++, put_id(p->ids[NOUN_PORT], c->b));
	query_bind_int(q, (*col)++, (int64_t)i);
	query_bind_text(q, (*col)++, c->type);
	query_bind_text(q, (*col)++, c->label);
	query_bind_num(q, (*col)++, c->length_m);
}

static int over_site(struct put *p, unsigned statement, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_JOIN, SQL, statement);

	query_int(&q, ":site", p->site);
	return query_run(&q, err);
}

/* Marks all, keeps those whose ends stay, sweeps the others, then inserts what is new. */
static int join(struct put *p, unsigned mark, struct batch *b,
	int (*keep)(struct put *, size_t, struct err *), struct err *err)
{
	const unsigned sweep = mark + 2;
	struct arena *a = arena_new();
	bool *kept = arena_alloc(a, b->n + 1);
	int rc = p->fresh ? 0 : over_site(p, mark, err);

	for (size_t i = 0; rc == 0 && !p->fresh && i < b->n; i++) {
		rc = keep(p, i, err);
		kept[i] = rc == 0 && sqlite3_changes(p->s->db) > 0;
	}
	if (rc == 0 && !p->fresh)
		rc = over_site(p, sweep, err);
	b->skip = kept;
	if (rc == 0)
		rc = put_batch(p, b, err);
	arena_free(a);
	return rc;
}

int put_joins(struct put *p, struct err *err)
{
	struct batch cords = {
		.noun = NOUN_CORD, .sql = cord_sql, .bind = bind_cord, .n = p->m->cords.n};
	struct batch cables = {
		.noun = NOUN_CABLE, .sql = cable_sql, .bind = bind_cable, .n = p->m->cables.n};
	const int rc = p->same[NOUN_CORD] ? 0 : join(p, CORDS_MARK, &cords, keep_cord, err);

	return rc == 0 ? join(p, CABLES_MARK, &cables, keep_cable, err) : rc;
}
