/*
 * store_part - a few racks of a large site.
 *
 * Racks, feeds and PDUs carry the number of their part. First it is found which parts
 * are needed, by the panels and UPSs above their feeds; then their rows are loaded and
 * numbered anew, since references are places in the whole site's file.
 */
#include "agent/base/buf.h"
#include "inventory/store/store_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX  64 /* more are most of the site, or so many that the whole is as quick */
#define DEPTH_MAX  32
#define WATTS_TEXT 512

enum {
	RACKS,
	FEEDS,
	CORDS,
	REACHES,
	REACH_PUT,
	COUNT
};
static const char *const SQL[] = {
	[RACKS] = "SELECT name, part FROM racks WHERE site_id = :site AND name IN"
		  " (SELECT value FROM json_each(:names))",
	[FEEDS] = "SELECT f.part, p.ord, f.upstream_kind, f.upstream_ord FROM feeds f"
		  " LEFT JOIN panels p ON p.id = f.panel_id WHERE f.site_id = :site",
	[CORDS] =
		"SELECT d.ord, p.name, p.connector, o.ord FROM pdus u"
		" CROSS JOIN outlets o ON o.pdu_id = u.id CROSS JOIN cords c ON c.outlet_id = o.id"
		" CROSS JOIN ports p ON p.id = c.port_id CROSS JOIN devices d ON d.id = p.device_id"
		" WHERE u.site_id = :site AND u.part IN (SELECT value FROM json_each(:parts))"
		" ORDER BY c.ord",
	[REACHES] = "SELECT noun, row, basis, volts, phases, watts FROM reaches"
		    " WHERE site_id = :site ORDER BY id",
	[REACH_PUT] = "INSERT INTO reaches (site_id, noun, row, basis, volts, phases, watts)"
		      " SELECT id, :noun, :row, :basis, :volts, :phases, :watts FROM sites"
		      " WHERE name = :site",
	[COUNT] = "SELECT count(*) FROM racks WHERE site_id = :site",
};

/* --- what panels and UPSs carry at most --- */

static int put_reach(struct store *s, const char *site, const struct reach *r,
	enum power_basis basis, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_PARTS, SQL, REACH_PUT);
	AUTO_BUF watts;

	buf_init(&watts, WATTS_TEXT);
	buf_addf(&watts, "%.17g", r->total[basis]);
	for (unsigned i = 0; i < PHASE_N; i++)
		buf_addf(&watts, " %.17g", r->watts[basis][i]);
	query_text(&q, ":site", site);
	query_text(&q, ":noun", r->noun == NOUN_UPS ? "upses" : "panels");
	query_int(&q, ":row", (int64_t)r->row);
	query_text(&q, ":basis", MODEL_BASES[basis]);
	query_num(&q, ":volts", r->volts);
	query_int(&q, ":phases", r->phases);
	query_text(&q, ":watts", buf_text(&watts));
	return query_run(&q, err);
}

int store_put_reach(
	struct store *s, const char *site, const struct reach *at, size_t n, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		for (unsigned basis = 0; rc == 0 && basis < BASIS_N; basis++)
			rc = put_reach(s, site, &at[i], (enum power_basis)basis, err);
	return rc;
}

/* "total w w ..."; what does not fit is as if it were boundless. */
static void read_watts(const char *text, double *total, double watts[PHASE_N])
{
	struct str rest = str_of(text), part;

	*total = INFINITY;
	for (unsigned i = 0; i < PHASE_N; i++)
		watts[i] = INFINITY;
	if (!str_next(&rest, ' ', &part) || !str_to_f64(part, total))
		return;
	for (unsigned i = 0; i < PHASE_N && str_next(&rest, ' ', &part); i++)
		if (!str_to_f64(part, &watts[i]))
			return;
}

/* --- which parts --- */

/* A panel or UPS: whether it may trip, and whether a part that is needed hangs on it. */
struct above {
	bool known, trips, hot;
};
/* Feeds by their part and what they hang on. */
struct feed_row {
	size_t part;
	struct supply up;
};

struct search {
	struct store *s;
	struct store_part_asked *asked;
	struct model *m;
	struct arena *arena;
	int64_t site;
	struct above *panels, *upses;
	struct vec(struct feed_row) feeds;
	struct vec(size_t) parts;
	struct row_ords ords[NOUN_N];
};

static bool has_part(const struct search *k, size_t part)
{
	for (size_t i = 0; i < k->parts.n; i++)
		if (k->parts.at[i] == part)
			return true;
	return false;
}

static void add_part(struct search *k, size_t part)
{
	if (part != MODEL_NONE && !has_part(k, part))
		*vec_push(&k->parts) = part;
}

static void add_json(struct buf *out, json_t *list)
{
	json_write(list, out);
	json_decref(list);
}

/* The parts of the racks asked for; false when one has none. */
static int find_racks(struct search *k, bool *all, struct err *err)
{
	AUTO_QUERY q = query_start(k->s, PART_PARTS, SQL, RACKS);
	json_t *list = json_array();
	AUTO_BUF names;
	size_t found = 0;
	int rc;

	buf_init(&names, 64u << 10);
	for (size_t i = 0; i < k->asked->n; i++)
		json_array_append_new(list, json_string(k->asked->racks[i]));
	add_json(&names, list);
	query_int(&q, ":site", k->site);
	query_text(&q, ":names", buf_text(&names));
	*all = buf_ok(&names);
	while ((rc = query_next(&q, err)) > 0) {
		const size_t part = query_get_row(&q, 1);

		*all = *all && part != MODEL_NONE;
		add_part(k, part);
		found++;
	}
	*all = *all && found > 0;
	for (size_t i = 0; i < k->asked->n; i++) /* a name twice is one row */
		for (size_t j = 0; j < i; j++)
			found += strcmp(k->asked->racks[i], k->asked->racks[j]) == 0;
	*all = *all && found >= k->asked->n;
	return rc;
}

static struct above *above_of(const struct search *k, struct supply s)
{
	if (s.kind == SUPPLY_PANEL && s.row < k->m->panels.n)
		return &k->panels[s.row];
	return s.kind == SUPPLY_UPS && s.row < k->m->upses.n ? &k->upses[s.row] : NULL;
}

static struct supply next_above(const struct search *k, struct supply s)
{
	return s.kind == SUPPLY_PANEL ? k->m->panels.at[s.row].upstream
				      : k->m->upses.at[s.row].upstream;
}

static int read_reach(struct search *k, struct err *err)
{
	AUTO_QUERY q = query_start(k->s, PART_PARTS, SQL, REACHES);
	int rc;

	query_int(&q, ":site", k->site);
	while ((rc = query_next(&q, err)) > 0) {
		const char *noun = query_get_word(&q, 0, k->arena);
		const int basis = model_word(MODEL_BASES, query_get_word(&q, 2, k->arena));
		const bool ups = strcmp(noun, "upses") == 0;
		struct reach r = {.noun = ups ? NOUN_UPS : NOUN_PANEL,
			.row = query_get_row(&q, 1),
			.volts = query_get_num(&q, 3),
			.phases = (unsigned)query_get_int(&q, 4)};
		struct above *a =
			above_of(k, (struct supply){ups ? SUPPLY_UPS : SUPPLY_PANEL, r.row});

		if (!a || basis != (int)k->asked->basis)
			continue;
		read_watts(query_get_word(&q, 5, k->arena), &r.total[basis], r.watts[basis]);
		a->trips = k->asked->trips(k->asked->ctx, k->m, &r);
		a->known = true;
	}
	return rc;
}

static int read_feeds(struct search *k, struct err *err)
{
	AUTO_QUERY q = query_start(k->s, PART_PARTS, SQL, FEEDS);
	int rc;

	query_int(&q, ":site", k->site);
	while ((rc = query_next(&q, err)) > 0) {
		const size_t panel = query_get_row(&q, 1);
		const char *kind = query_get_text(&q, 2, k->arena);
		const int up = kind ? model_word(MODEL_SUPPLIES, kind) : -1;
		struct feed_row *f = vec_push(&k->feeds);

		*f = (struct feed_row){.part = query_get_row(&q, 0)};
		if (up > 0)
			f->up = (struct supply){(enum supply_kind)up, query_get_row(&q, 3)};
		else if (panel != MODEL_NONE)
			f->up = (struct supply){SUPPLY_PANEL, panel};
	}
	return rc;
}

/* Whether something above the feed that may trip is hot; heat: make it so. */
static bool is_joined(const struct search *k, const struct feed_row *f, bool heat)
{
	struct supply s = f->up;
	bool joined = false;

	for (unsigned depth = 0; above_of(k, s) && depth < DEPTH_MAX; depth++) {
		struct above *a = above_of(k, s);

		if (a->trips) {
			a->hot = a->hot || heat;
			joined = joined || a->hot;
		}
		s = next_above(k, s);
	}
	return joined;
}

static void spread(struct search *k)
{
	size_t before;

	do {
		before = k->parts.n;
		vec_each(&k->feeds, const struct feed_row, f)
			if (has_part(k, f->part))
				is_joined(k, f, true);
		vec_each(&k->feeds, const struct feed_row, f)
			if (k->parts.n <= PARTS_MAX && is_joined(k, f, false))
				add_part(k, f->part);
	} while (k->parts.n > before && k->parts.n <= PARTS_MAX);
}

static bool any_trips(const struct search *k, bool *known)
{
	bool any = false;

	*known = true;
	for (size_t i = 0; i < k->m->panels.n; i++) {
		any = any || k->panels[i].trips;
		*known = *known && k->panels[i].known;
	}
	for (size_t i = 0; i < k->m->upses.n; i++) {
		any = any || k->upses[i].trips;
		*known = *known && k->upses[i].known;
	}
	return any;
}

/* 1 when a part of the site will do. */
static int find_parts(struct search *k, struct err *err)
{
	bool all = false, known = false;
	int rc = find_racks(k, &all, err);

	if (rc < 0 || !all)
		return rc;
	k->panels = arena_alloc(k->arena, (k->m->panels.n + 1) * sizeof *k->panels);
	k->upses = arena_alloc(k->arena, (k->m->upses.n + 1) * sizeof *k->upses);
	rc = read_reach(k, err);
	if (rc == 0 && any_trips(k, &known)) {
		rc = read_feeds(k, err);
		spread(k);
	}
	return rc < 0 ? rc : known && k->parts.n <= PARTS_MAX;
}

/* --- their rows --- */

static const enum model_noun SOME[] = {
	NOUN_RACK, NOUN_FEED, NOUN_PDU, NOUN_BANK, NOUN_OUTLET, NOUN_DEVICE, NOUN_RESERVATION};
static const enum model_noun WHOLE[] = {NOUN_N, NOUN_LOCATION, NOUN_ZONE, NOUN_UNIT, NOUN_GENERATOR,
	NOUN_UPS, NOUN_PANEL, NOUN_TYPE};
#define LENGTH(list) (sizeof(list) / sizeof *(list))

static int compare_ords(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* The row here of a place in the site's file; MODEL_NONE when it is not here. */
static size_t row_of(const struct search *k, enum model_noun noun, size_t ord)
{
	const struct row_ords *o = &k->ords[noun];
	const size_t *at = ord == MODEL_NONE || o->n == 0
				   ? NULL
				   : bsearch(&ord, o->at, o->n, sizeof *o->at, compare_ords);

	return at ? (size_t)(at - o->at) : MODEL_NONE;
}

static bool is_some(enum model_noun noun)
{
	for (size_t i = 0; i < LENGTH(SOME); i++)
		if (SOME[i] == noun)
			return true;
	return false;
}

/* False when it referred to what is not here. */
static bool renumber_field(const struct search *k, const struct model_field *f, char *row)
{
	if (f->kind == FIELD_REF && is_some(f->noun)) {
		const size_t was = model_get_ref(f, row), is = row_of(k, f->noun, was);

		memcpy(row + f->offset, &is, sizeof is);
		return was == MODEL_NONE || is != MODEL_NONE;
	}
	if (f->kind == FIELD_SUPPLY) {
		struct supply s = model_get_supply(f, row);
		const enum model_noun noun = model_supply_noun(s.kind);

		if (s.kind == SUPPLY_NONE || !is_some(noun))
			return true;
		s.row = row_of(k, noun, s.row);
		memcpy(row + f->offset, &s, sizeof s);
		return s.row != MODEL_NONE;
	}
	return true;
}

static bool renumber(struct search *k)
{
	bool ok = true;

	for (size_t n = 0; n < LENGTH(SOME); n++) {
		const struct model_fields fields = model_fields_of(SOME[n]);

		for (size_t i = 0; i < model_rows(k->m, SOME[n]); i++)
			for (size_t f = 0; f < fields.n; f++)
				ok = renumber_field(
					     k, &fields.at[f], model_row_edit(k->m, SOME[n], i)) &&
				     ok;
	}
	vec_each(&k->m->outlets, struct outlet, o)
		o->pdu = row_of(k, NOUN_PDU, o->pdu);
	vec_each(&k->m->banks, struct bank, b)
		b->pdu = row_of(k, NOUN_PDU, b->pdu);
	return ok && rows_hold_together(k->m);
}

static int load_cords(struct search *k, const char *parts, struct err *err)
{
	AUTO_QUERY q = query_start(k->s, PART_PARTS, SQL, CORDS);
	struct model *m = k->m;
	int rc;

	query_int(&q, ":site", k->site);
	query_text(&q, ":parts", parts);
	while ((rc = query_next(&q, err)) > 0) {
		const size_t device = row_of(k, NOUN_DEVICE, query_get_row(&q, 0));
		const size_t outlet = row_of(k, NOUN_OUTLET, query_get_row(&q, 3));

		if (device == MODEL_NONE || outlet == MODEL_NONE)
			return err_set(err, E_VERIFY, "a cord leads out of its part");
		*vec_push(&m->ports) = (struct port){.name = query_get_word(&q, 1, m->arena),
			.device = device,
			.kind = PORT_POWER,
			.type = query_get_text(&q, 2, m->arena)};
		*vec_push(&m->cords) = (struct cord){.port = m->ports.n - 1, .outlet = outlet};
	}
	return rc;
}

/* Notes of rows that are not here go. */
static void sift_notes(struct search *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->m->notes.n; i++) {
		struct fact_note note = k->m->notes.at[i];
		const enum model_noun noun = (enum model_noun)note.noun;

		if (noun < NOUN_N && is_some(noun))
			note.row = row_of(k, noun, note.row);
		if (note.row < model_rows(k->m, noun))
			k->m->notes.at[n++] = note;
	}
	k->m->notes.n = n;
}

static int load_parts(struct search *k, bool *ok, struct err *err)
{
	json_t *list = json_array();
	AUTO_BUF parts;
	int rc;

	buf_init(&parts, 4096);
	for (size_t i = 0; i < k->parts.n; i++)
		json_array_append_new(list, json_integer((json_int_t)k->parts.at[i]));
	add_json(&parts, list);
	rc = load_notes(k->s, k->m, k->site, err);
	for (size_t n = 0; rc == 0 && n < LENGTH(SOME); n++)
		rc = load_noun_some(
			k->s, k->m, k->site, SOME[n], buf_text(&parts), &k->ords[SOME[n]], err);
	if (rc == 0)
		rc = load_cords(k, buf_text(&parts), err);
	if (rc < 0)
		return rc;
	sift_notes(k);
	*ok = renumber(k);
	return 0;
}

static int load_whole_nouns(struct search *k, struct err *err)
{
	struct row_ords none = VEC_INIT;
	int rc = 0;

	for (size_t n = 0; rc == 0 && n < LENGTH(WHOLE); n++)
		rc = load_noun_some(k->s, k->m, k->site, WHOLE[n], NULL, &none, err);
	vec_done(&none);
	return rc;
}

static int count_racks(struct search *k, struct err *err)
{
	AUTO_QUERY q = query_start(k->s, PART_PARTS, SQL, COUNT);
	int64_t n = 0;
	int rc;

	query_int(&q, ":site", k->site);
	rc = query_value(&q, &n, err);
	k->asked->site_racks = (size_t)n;
	return rc;
}

static int search(struct search *k, bool *ok, struct err *err)
{
	const char *site = k->asked->site;
	int rc = site ? 0 : store_only_site(k->s, k->arena, &site, err);

	if (rc == 0)
		rc = store_load_head(k->s, k->m, site, &k->site, err);
	if (rc == 0)
		rc = count_racks(k, err);
	if (rc == 0)
		rc = load_whole_nouns(k, err);
	if (rc == 0)
		rc = find_parts(k, err);
	return rc > 0 ? load_parts(k, ok, err) : rc;
}

int store_load_part(
	struct store *s, struct store_part_asked *asked, struct model **out, struct err *err)
{
	struct search k = {.s = s, .asked = asked, .m = model_new(), .arena = arena_new()};
	const bool own = store_snapshot(s);
	bool ok = false;
	const int rc = search(&k, &ok, err);

	if (own)
		store_rollback(s);
	*out = rc == 0 && ok ? k.m : NULL;
	if (!*out)
		model_free(k.m);
	for (unsigned i = 0; i < NOUN_N; i++)
		vec_done(&k.ords[i]);
	vec_done(&k.feeds);
	vec_done(&k.parts);
	arena_free(k.arena);
	return rc;
}
