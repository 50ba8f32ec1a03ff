/*
 * store_rows - rows of every noun that has a table of fields (inventory/model/field.h).
 *
 * The columns are those of the table: a dot is '_', a reference KEY_id, half units
 * KEY and KEY_half, a pair KEY_1 and KEY_2, a supply KEY_kind and KEY_ord (the place of
 * that row in the site's file: all rows of a site are written in one go), a curve
 * "x y;x y". The statements are made of the tables once per connection.
 */
#include "inventory/store/store_rows.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "inventory/store/store_batch.h"

#include <stdio.h>
#include <string.h>

#define SQL_MAX   ((size_t)16 << 10)
#define CURVE_MAX ((size_t)8 << 10)

/* owner: the column of what the rows belong to, NULL for the site. */
static const struct table {
	const char *name, *owner;
	enum model_noun of;
} TABLES[NOUN_N] = {
	[NOUN_LOCATION] = {"locations", NULL, NOUN_N},
	[NOUN_ZONE] = {"cooling_zones", NULL, NOUN_N},
	[NOUN_UNIT] = {"cooling_units", "zone_id", NOUN_ZONE},
	[NOUN_GENERATOR] = {"generators", NULL, NOUN_N},
	[NOUN_UPS] = {"upses", NULL, NOUN_N},
	[NOUN_PANEL] = {"panels", NULL, NOUN_N},
	[NOUN_RACK] = {"racks", NULL, NOUN_N},
	[NOUN_FEED] = {"feeds", NULL, NOUN_N},
	[NOUN_PDU] = {"pdus", NULL, NOUN_N},
	[NOUN_BANK] = {"banks", "pdu_id", NOUN_PDU},
	[NOUN_OUTLET] = {"outlets", "pdu_id", NOUN_PDU},
	[NOUN_TYPE] = {"device_types", NULL, NOUN_N},
	[NOUN_DEVICE] = {"devices", NULL, NOUN_N},
	[NOUN_RESERVATION] = {"reservations", NULL, NOUN_N},
	[NOUN_ROLE] = {"roles", NULL, NOUN_N},
};

/* Each refers only to rows of nouns before it. */
static const enum model_noun ORDER[] = {NOUN_LOCATION, NOUN_ZONE, NOUN_UNIT, NOUN_GENERATOR,
	NOUN_UPS, NOUN_RACK, NOUN_PANEL, NOUN_FEED, NOUN_PDU, NOUN_BANK, NOUN_OUTLET, NOUN_TYPE,
	NOUN_DEVICE, NOUN_RESERVATION, NOUN_ROLE};
#define ORDER_N (sizeof ORDER / sizeof *ORDER)

enum {
	NOTES_DROP,
	NOTE,
	NOTES
};
static const char *const SQL[] = {
	[NOTES_DROP] = "DELETE FROM fact_notes WHERE site_id = :site",
	[NOTE] = "INSERT INTO fact_notes (site_id, ord, noun, row, field, origin, confidence,"
		 " source, date) VALUES (:site, :ord, :noun, :row, :field, :origin, :confidence,"
		 " :source, :date)",
	[NOTES] = "SELECT noun, row, field, origin, confidence, source, date FROM fact_notes"
		  " WHERE site_id = :site ORDER BY ord",
};

/* --- columns --- */

/* The column or two of a field. */
struct columns {
	char name[2][48];
	unsigned n;
};

static struct columns columns_of(const struct model_field *f)
{
	static const char *const first[] = {
		[FIELD_REF] = "_id", [FIELD_PAIR] = "_1", [FIELD_SUPPLY] = "_kind"};
	const char *tail = f->kind < sizeof first / sizeof *first ? first[f->kind] : NULL;
	struct columns c = {.n = 1};
	char key[40];

	snprintf(key, sizeof key, "%s", f->key);
	for (char *p = key; *p; p++)
		if (*p == '.')
			*p = '_';
	snprintf(c.name[0], sizeof c.name[0], "%s%s", key, tail ? tail : "");
	if (f->kind == FIELD_HALF || f->kind == FIELD_PAIR || f->kind == FIELD_SUPPLY) {
		c.n = 2;
		snprintf(c.name[1], sizeof c.name[1], "%s%s", key,
			f->kind == FIELD_HALF   ? "_half"
			: f->kind == FIELD_PAIR ? "_2"
						: "_ord");
	}
	return c;
}

/* The site's own row has its name already. */
static size_t first_field(enum model_noun noun)
{
	return noun == NOUN_N ? 1 : 0;
}

/* --- statements --- */

/* A column's part of a statement, for all columns of the noun. */
static void each_column(enum model_noun noun, struct buf *sql, const char *format)
{
	const struct model_fields fields = model_fields_of(noun);
	unsigned n = 0;

	for (size_t i = first_field(noun); i < fields.n; i++) {
		const struct columns c = columns_of(&fields.at[i]);

		for (unsigned k = 0; k < c.n; k++, n++) {
			buf_add_text(sql, n ? ", " : "");
			if (strcmp(format, "name") == 0)
				buf_add_text(sql, c.name[k]);
			else if (strcmp(format, "?") == 0)
				buf_add_char(sql, '?');
			else if (strcmp(format, "excluded") == 0)
				buf_addf(sql, "%s = excluded.%s", c.name[k], c.name[k]);
			else
				buf_addf(sql, "%s = ?", c.name[k]);
		}
	}
}

/* A row's columns, then ord, then the owner, then the part where rows have one. */
static void batch_sql(const struct batch *b, struct buf *head, struct buf *tuple, struct buf *tail)
{
	const struct table *t = &TABLES[b->noun];
	const char *owner = t->owner ? t->owner : "site_id";
	const bool part = put_has_part(b->noun);

	buf_addf(head, "INSERT INTO %s (", t->name);
	each_column(b->noun, head, "name");
	buf_addf(head, ", ord, %s%s) VALUES ", owner, part ? ", part" : "");
	buf_add_char(tuple, '(');
	each_column(b->noun, tuple, "?");
	buf_addf(tuple, ", ?, ?%s)", part ? ", ?" : "");
	if (!b->update)
		return;
	buf_addf(tail, " ON CONFLICT (%s, name) DO UPDATE SET ", owner);
	each_column(b->noun, tail, "excluded");
	buf_addf(tail, ", ord = excluded.ord%s RETURNING id, ord",
		part ? ", part = excluded.part" : "");
}

/* The owner's ord, then the columns; references as the ord of their row. */
static void read_sql(enum model_noun noun, struct buf *sql)
{
	const struct model_fields fields = model_fields_of(noun);
	const struct table *t = noun < NOUN_N ? &TABLES[noun] : NULL;

	buf_add_text(sql, t && t->owner ? "SELECT o.ord" : "SELECT 0");
	for (size_t i = first_field(noun); i < fields.n; i++) {
		const struct model_field *f = &fields.at[i];
		const struct columns c = columns_of(f);

		if (f->kind == FIELD_REF)
			buf_addf(sql, ", (SELECT r.ord FROM %s r WHERE r.id = t.%s)",
				TABLES[f->noun].name, c.name[0]);
		else
			for (unsigned k = 0; k < c.n; k++)
				buf_addf(sql, ", t.%s", c.name[k]);
	}
	buf_add_text(sql, t ? ", t.ord" : "");
	if (!t)
		buf_add_text(sql, " FROM sites t WHERE t.id = ?");
	else if (t->owner)
		buf_addf(sql, " FROM %s o CROSS JOIN %s t ON t.%s = o.id WHERE o.site_id = ?",
			TABLES[t->of].name, t->name, t->owner);
	else
		buf_addf(sql, " FROM %s t WHERE t.site_id = ?", t->name);
}

#define PARTS "(SELECT value FROM json_each(?))"

/* Which rows of the site are in the parts; NULL: all of them. Binds the parts, once or twice. */
static const char *const IN_PARTS[NOUN_N + 1] = {
	[NOUN_RACK] = " AND t.part IN " PARTS,
	[NOUN_FEED] = " AND t.part IN " PARTS,
	[NOUN_PDU] = " AND t.part IN " PARTS,
	[NOUN_BANK] = " AND o.part IN " PARTS,
	[NOUN_OUTLET] = " AND o.part IN " PARTS,
	[NOUN_DEVICE] =
		" AND t.id IN (SELECT d.id FROM racks r CROSS JOIN devices d"
		" ON d.rack_id = r.id WHERE r.part IN " PARTS
		" UNION SELECT p.device_id FROM pdus u CROSS JOIN outlets o ON o.pdu_id = u.id"
		" CROSS JOIN cords c ON c.outlet_id = o.id CROSS JOIN ports p ON p.id = c.port_id"
		" WHERE u.part IN " PARTS ")",
	[NOUN_RESERVATION] =
		" AND t.rack_id IN (SELECT r.id FROM racks r WHERE r.part IN " PARTS ")",
};

static void terms_sql(struct buf *sql)
{
	buf_add_text(sql, "UPDATE sites SET ");
	each_column(NOUN_N, sql, "=");
	buf_add_text(sql, " WHERE id = ?");
}

static struct query start(struct store *s, enum store_part part, enum model_noun noun)
{
	AUTO_BUF sql;

	buf_init(&sql, SQL_MAX);
	if (!query_is_ready(s, part, noun)) {
		if (part == PART_ROWS_PUT)
			terms_sql(&sql);
		else
			read_sql(noun, &sql);
		if (part == PART_ROWS_SOME && IN_PARTS[noun])
			buf_add_text(&sql, IN_PARTS[noun]);
		buf_add_text(&sql, part != PART_ROWS_PUT && noun < NOUN_N ? " ORDER BY t.ord" : "");
	}
	return query_start_text(s, part, noun, buf_text(&sql));
}

/* --- writing --- */

static const char *word_of(const struct model_field *f, unsigned u)
{
	return f->words[u][0] == '-' ? NULL : f->words[u];
}

/* NULL for what is no figure. */
static void bind_num(struct query *q, int *col, double v, bool stated)
{
	query_bind_num(q, (*col)++, stated ? v : MODEL_UNSET);
}

static void bind_curve(struct query *q, int col, struct curve curve, struct arena *a)
{
	AUTO_BUF text;

	buf_init(&text, CURVE_MAX);
	for (unsigned i = 0; i < curve.n; i++)
		buf_addf(&text, "%s%.17g %.17g", i ? ";" : "", curve.at[i].x, curve.at[i].y);
	query_bind_text(q, col, curve.n ? arena_text(a, buf_str(&text)) : NULL);
}

static void bind_supply(struct query *q, int *col, struct supply s)
{
	query_bind_text(q, (*col)++, s.kind ? MODEL_SUPPLIES[s.kind] : NULL);
	if (s.kind)
		query_bind_int(q, *col, (int64_t)s.row);
	else
		query_bind_text(q, *col, NULL);
	(*col)++;
}

static const char *letter_of(const struct model_field *f, const void *row)
{
	const char letter = ((const char *)row)[f->offset];

	for (const char *const *w = f->words; *w; w++)
		if ((*w)[0] == letter)
			return *w;
	return NULL;
}

static void bind_field(
	struct put *p, struct query *q, int *col, const struct model_field *f, const void *row)
{
	switch (f->kind) {
	case FIELD_NUM:
		bind_num(q, col, model_get_num(f, row), model_row_states(f, row));
		return;
	case FIELD_UINT:
	case FIELD_BOOL:
		query_bind_int(q, (*col)++, model_get_uint(f, row));
		return;
	case FIELD_HALF:
		query_bind_int(q, (*col)++, model_get_uint(f, row));
		query_bind_int(q, (*col)++, model_get_half(f, row));
		return;
	case FIELD_ENUM:
		query_bind_text(q, (*col)++, word_of(f, model_get_uint(f, row)));
		return;
	case FIELD_CHAR:
		query_bind_text(q, (*col)++, letter_of(f, row));
		return;
	case FIELD_REF:
		query_bind_id(q, (*col)++, put_id(p->ids[f->noun], model_get_ref(f, row)));
		return;
	case FIELD_PAIR:
		bind_num(q, col, model_get_num(f, row), model_row_states(f, row));
		bind_num(q, col, model_get_second(f, row), model_row_states(f, row));
		return;
	case FIELD_CURVE:
		bind_curve(q, (*col)++, model_get_curve(f, row), p->arena);
		return;
	case FIELD_SUPPLY:
		bind_supply(q, col, model_get_supply(f, row));
		return;
	default:
		query_bind_text(q, (*col)++, model_get_text(f, row));
	}
}

static int64_t owner_of(const struct put *p, enum model_noun noun, size_t i)
{
	switch (noun) {
	case NOUN_OUTLET:
		return put_id(p->ids[NOUN_PDU], p->m->outlets.at[i].pdu);
	case NOUN_BANK:
		return put_id(p->ids[NOUN_PDU], p->m->banks.at[i].pdu);
	case NOUN_UNIT:
		return put_id(p->ids[NOUN_ZONE], p->m->units.at[i].zone);
	default:
		return p->site;
	}
}

static void bind_row(struct put *p, struct query *q, int *col, enum model_noun noun, size_t i)
{
	const struct model_fields fields = model_fields_of(noun);
	const void *row = model_row(p->m, noun, i);

	for (size_t k = first_field(noun); k < fields.n; k++)
		bind_field(p, q, col, &fields.at[k], row);
}

static void bind_batch(struct put *p, const struct batch *b, struct query *q, int *col, size_t i)
{
	bind_row(p, q, col, b->noun, i);
	query_bind_int(q, (*col)++, (int64_t)i);
	query_bind_id(q, (*col)++, owner_of(p, b->noun, i));
	if (put_has_part(b->noun))
		query_bind_int(q, (*col)++, (int64_t)put_part(p, b->noun, i));
}

static int put_noun(struct put *p, enum model_noun noun, struct err *err)
{
	const struct batch b = {.noun = noun,
		.sql = batch_sql,
		.bind = bind_batch,
		.n = model_rows(p->m, noun),
		.ids = p->ids[noun],
		.update = !p->fresh};

	return put_batch(p, &b, err);
}

static int put_terms(struct put *p, struct err *err)
{
	AUTO_QUERY q = start(p->s, PART_ROWS_PUT, NOUN_N);
	int col = 1;

	bind_row(p, &q, &col, NOUN_N, 0);
	query_bind_id(&q, col, p->site);
	return query_run(&q, err);
}

static int put_note(struct put *p, size_t i, struct err *err)
{
	AUTO_QUERY q = query_start(p->s, PART_ROWS, SQL, NOTE);
	const struct fact_note *n = &p->m->notes.at[i];

	query_int(&q, ":site", p->site);
	query_int(&q, ":ord", (int64_t)i);
	query_text(&q, ":noun", n->noun < NOUN_N ? TABLES[n->noun].name : "sites");
	query_int(&q, ":row", (int64_t)n->row);
	query_text(&q, ":field", n->field);
	query_text(&q, ":origin", model_origin_name(n->origin));
	query_text(&q, ":confidence", n->confidence ? MODEL_CONFIDENCES[n->confidence] : NULL);
	query_text(&q, ":source", n->source);
	query_text(&q, ":date", n->date);
	return query_run(&q, err);
}

static int put_notes(struct put *p, struct err *err)
{
	AUTO_QUERY drop = query_start(p->s, PART_ROWS, SQL, NOTES_DROP);
	int rc;

	query_int(&drop, ":site", p->site);
	rc = query_run(&drop, err);
	for (size_t i = 0; rc == 0 && i < p->m->notes.n; i++)
		rc = put_note(p, i, err);
	return rc;
}

int put_rows(struct put *p, struct err *err)
{
	int rc = put_terms(p, err);

	for (size_t n = 0; rc == 0 && n < ORDER_N; n++)
		rc = p->same[ORDER[n]] ? 0 : put_noun(p, ORDER[n], err);
	return rc == 0 ? put_notes(p, err) : rc;
}

/* --- reading --- */

static struct curve read_curve(const char *text, struct arena *a)
{
	struct str rest = str_of(text), point, x;
	struct vec(struct curve_point) points = VEC_INIT;
	struct curve curve = {NULL, 0};
	struct curve_point *at;

	while (str_next(&rest, ';', &point)) {
		struct curve_point v;

		if (!str_next(&point, ' ', &x) || !str_to_f64(x, &v.x) || !str_to_f64(point, &v.y))
			break;
		*vec_push(&points) = v;
	}
	at = arena_alloc(a, (points.n + 1) * sizeof *at);
	if (points.n > 0)
		memcpy(at, points.at, points.n * sizeof *at);
	curve.at = points.n ? at : NULL;
	curve.n = (unsigned)points.n;
	vec_done(&points);
	return curve;
}

static int word_at(struct query *q, int col, const char *const *words)
{
	const unsigned char *text = sqlite3_column_text(q->st, col);

	return text ? model_word(words, (const char *)text) : -1;
}

static void load_word(struct query *q, int col, const struct model_field *f, char *to)
{
	const int i = word_at(q, col, f->words);
	const unsigned u = (unsigned)i;

	if (i < 0)
		return;
	if (f->kind == FIELD_WORD)
		memcpy(to, &f->words[i], sizeof f->words[i]);
	else if (f->kind == FIELD_CHAR)
		memcpy(to, f->words[i], 1);
	else
		memcpy(to, &u, sizeof u);
}

static void load_supply(struct query *q, int *col, char *to)
{
	const int kind = word_at(q, (*col)++, MODEL_SUPPLIES);
	const struct supply s = {kind > 0 ? (enum supply_kind)kind : SUPPLY_NONE,
		kind > 0 ? query_get_row(q, *col) : 0};

	(*col)++;
	memcpy(to, &s, sizeof s);
}

static void load_int(struct query *q, int col, bool is_bool, char *to)
{
	const unsigned u = (unsigned)query_get_int(q, col);
	const bool b = u != 0;

	if (sqlite3_column_type(q->st, col) == SQLITE_NULL)
		return;
	if (is_bool)
		memcpy(to, &b, sizeof b);
	else
		memcpy(to, &u, sizeof u);
}

/* Null leaves what the cleared row has. */
static void load_num(struct query *q, int col, char *to)
{
	const double v = query_get_num(q, col);

	if (!isnan(v))
		memcpy(to, &v, sizeof v);
}

static void load_field(
	struct query *q, int *col, const struct model_field *f, char *row, struct arena *a)
{
	char *to = row + f->offset;
	const char *text;
	struct curve curve;
	size_t ref;

	switch (f->kind) {
	case FIELD_NUM:
		load_num(q, (*col)++, to);
		return;
	case FIELD_PAIR:
		load_num(q, (*col)++, to);
		load_num(q, (*col)++, row + f->offset2);
		return;
	case FIELD_UINT:
	case FIELD_BOOL:
		load_int(q, (*col)++, f->kind == FIELD_BOOL, to);
		return;
	case FIELD_HALF:
		load_int(q, (*col)++, false, to);
		load_int(q, (*col)++, true, row + f->offset2);
		return;
	case FIELD_ENUM:
	case FIELD_WORD:
	case FIELD_CHAR:
		load_word(q, (*col)++, f, to);
		return;
	case FIELD_REF:
		ref = query_get_row(q, (*col)++);
		memcpy(to, &ref, sizeof ref);
		return;
	case FIELD_SUPPLY:
		load_supply(q, col, to);
		return;
	case FIELD_CURVE:
		text = query_get_text(q, (*col)++, a);
		curve = read_curve(text, a);
		memcpy(to, &curve, sizeof curve);
		return;
	default:
		text = query_get_text(q, (*col)++, a);
		memcpy(to, &text, sizeof text);
	}
}

/* What is not in the table: the owner, a bank's name. */
static void load_owner(struct query *q, struct model *m, enum model_noun noun, void *row)
{
	const size_t owner = query_get_row(q, 0);
	struct bank *bank = row;

	if (noun == NOUN_OUTLET)
		((struct outlet *)row)->pdu = owner;
	if (noun == NOUN_UNIT)
		((struct cooling_unit *)row)->zone = owner;
	if (noun == NOUN_BANK) {
		bank->pdu = owner;
		bank->name = arena_printf(m->arena, "%u", bank->number);
	}
}

/* Gives the column behind the fields: its ord. */
static int load_row(struct query *q, struct model *m, enum model_noun noun)
{
	const struct model_fields fields = model_fields_of(noun);
	void *row = noun == NOUN_N ? (void *)m : model_row_push(m, noun);
	int col = 1;

	for (size_t k = first_field(noun); k < fields.n; k++)
		load_field(q, &col, &fields.at[k], row, m->arena);
	load_owner(q, m, noun, row);
	return col;
}

static int load_noun(
	struct store *s, struct model *m, int64_t site, enum model_noun noun, struct err *err)
{
	AUTO_QUERY q = start(s, PART_ROWS_LOAD, noun);
	int rc;

	query_bind_id(&q, 1, site);
	while ((rc = query_next(&q, err)) > 0)
		load_row(&q, m, noun);
	return rc;
}

int load_noun_some(struct store *s, struct model *m, int64_t site, enum model_noun noun,
	const char *parts, struct row_ords *ords, struct err *err)
{
	AUTO_QUERY q = start(s, PART_ROWS_SOME, noun);
	int rc;

	query_bind_id(&q, 1, site);
	for (int i = 2; IN_PARTS[noun] && i <= sqlite3_bind_parameter_count(q.st); i++)
		query_bind_text(&q, i, parts);
	while ((rc = query_next(&q, err)) > 0) {
		const int col = load_row(&q, m, noun);

		if (noun < NOUN_N)
			*vec_push(ords) = query_get_row(&q, col);
	}
	return rc;
}

static unsigned noun_of(const char *table)
{
	for (unsigned i = 0; i < NOUN_N; i++)
		if (TABLES[i].name && strcmp(TABLES[i].name, table) == 0)
			return i;
	return NOUN_N;
}

int load_notes(struct store *s, struct model *m, int64_t site, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_ROWS, SQL, NOTES);
	int rc;

	query_int(&q, ":site", site);
	while ((rc = query_next(&q, err)) > 0) {
		const int origin = word_at(&q, 3, MODEL_ORIGINS);
		const int confidence = word_at(&q, 4, MODEL_CONFIDENCES);

		*vec_push(&m->notes) = (struct fact_note){
			.noun = noun_of(query_get_word(&q, 0, m->arena)),
			.row = (size_t)query_get_int(&q, 1),
			.field = query_get_word(&q, 2, m->arena),
			.origin = origin < 0 ? ORIGIN_ASSUMED : (enum fact_origin)origin,
			.confidence =
				confidence < 0 ? CONFIDENCE_UNSTATED : (enum confidence)confidence,
			.source = query_get_text(&q, 5, m->arena),
			.date = query_get_text(&q, 6, m->arena),
		};
	}
	return rc;
}

int load_rows_all(struct store *s, struct model *m, int64_t site, struct err *err)
{
	int rc = load_noun(s, m, site, NOUN_N, err);

	for (size_t n = 0; rc == 0 && n < ORDER_N; n++)
		rc = load_noun(s, m, site, ORDER[n], err);
	return rc == 0 ? load_notes(s, m, site, err) : rc;
}

/* --- trust --- */

static bool field_holds(const struct model *m, const struct model_field *f, const void *row)
{
	if (f->kind == FIELD_REF) {
		const size_t at = model_get_ref(f, row);

		return at == MODEL_NONE ? !f->required || f->noun != NOUN_RACK
					: at < model_rows(m, f->noun);
	}
	if (f->kind == FIELD_SUPPLY) {
		const struct supply s = model_get_supply(f, row);

		return s.kind == SUPPLY_NONE || s.row < model_rows(m, model_supply_noun(s.kind));
	}
	return true;
}

bool rows_hold_together(const struct model *m)
{
	bool ok = true;

	for (size_t n = 0; n < ORDER_N; n++) {
		const struct model_fields fields = model_fields_of(ORDER[n]);

		for (size_t i = 0; ok && i < model_rows(m, ORDER[n]); i++)
			for (size_t k = 0; k < fields.n; k++)
				ok = ok && field_holds(m, &fields.at[k], model_row(m, ORDER[n], i));
	}
	vec_each(&m->outlets, const struct outlet, o)
		ok = ok && o->pdu < m->pdus.n;
	vec_each(&m->banks, const struct bank, b)
		ok = ok && b->pdu < m->pdus.n;
	vec_each(&m->units, const struct cooling_unit, u)
		ok = ok && u->zone < m->zones.n;
	vec_each(&m->notes, const struct fact_note, note)
		ok = ok && note->row < model_rows(m, (enum model_noun)note->noun);
	return ok;
}
