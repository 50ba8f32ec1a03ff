/* report - rows of racks, nodes and runs as tables. */
#include "inventory/report/report.h"

#include "agent/base/clock.h"
#include "inventory/report/number.h"

#include <stdio.h>
#include <string.h>

#define COUNT(list) (unsigned)(sizeof(list) / sizeof *(list))

/* An empty list: a sentence, or []. True when it was empty. */
static bool print_empty(
	size_t n, enum text_key sentence, const struct report_opts *o, struct buf *out)
{
	if (n)
		return false;
	buf_addf(out, "%s\n", o->json ? "[]" : text_get(o->lang, sentence));
	return true;
}

/* --- racks --- */

enum {
	RACK_NAME,
	RACK_UNITS,
	RACK_GAP,
	RACK_DEVICES,
	RACK_KW,
	RACK_KG,
	RACK_FEEDS,
	RACK_POWER,
	RACK_REMARK
};
static const struct column RACKS[] = {
	[RACK_NAME] = {"rack", TEXT_RACK, COL_TRUNC},
	[RACK_UNITS] = {"units", TEXT_UNITS, COL_RIGHT},
	[RACK_GAP] = {"largest_gap_u", TEXT_GAP, COL_RIGHT},
	[RACK_DEVICES] = {"devices", TEXT_DEVICES, COL_RIGHT},
	[RACK_KW] = {"watts_max", TEXT_KW_MAX, COL_RIGHT},
	[RACK_KG] = {"kg", TEXT_KG, COL_RIGHT},
	[RACK_FEEDS] = {"feeds", TEXT_FEEDS, COL_WRAP},
	[RACK_POWER] = {"verdict", TEXT_POWER, 0},
	[RACK_REMARK] = {"remark", TEXT_REMARK, COL_WRAP},
};

static json_t *feed_json(const struct model *m, const struct feed_load *f)
{
	json_t *obj = json_object();

	json_put_str(obj, "feed", m->feeds.at[f->feed].name);
	json_object_set_new(
		obj, "limit_va", isnan(f->limit_va) ? json_null() : json_real(f->limit_va));
	json_object_set_new(obj, "load_va", json_real(f->load_va));
	json_object_set_new(obj, "worst_va", json_real(f->worst_va));
	if (f->worst_loss != MODEL_NONE)
		json_put_str(obj, "worst_loss", m->feeds.at[f->worst_loss].name);
	json_put_str(obj, "verdict", rack_verdict_name(f->verdict));
	return obj;
}

/* "A 62 %, B 62 %": per feed the load after the worst loss, of what it may carry. */
static void put_feeds(struct table *t, const struct model *m, const struct rack_load *l)
{
	json_t *list = json_array();
	AUTO_BUF text;

	buf_init(&text, 2048);
	vec_each(&l->feeds, const struct feed_load, f) {
		buf_addf(&text, "%s%s ", text.n ? ", " : "", m->feeds.at[f->feed].name);
		if (f->limit_va > 0)
			buf_addf(&text, "%.0f%%", 100 * f->worst_va / f->limit_va);
		else
			buf_add_char(&text, '?');
		json_array_append_new(list, feed_json(m, f));
	}
	table_value(t, RACK_FEEDS, text.n ? buf_text(&text) : "-", list);
}

static void add_remark(struct buf *out, const struct report_opts *o, enum text_key key, unsigned n)
{
	char value[16];

	if (n == 0)
		return;
	snprintf(value, sizeof value, "%u", n);
	buf_add_text(out, out->n ? ", " : "");
	text_add(out, o->lang, key, value);
}

static void put_remark(struct table *t, const struct model *m, const struct rack_load *l,
	const struct report_opts *o)
{
	AUTO_BUF text;
	char pdu[96];

	buf_init(&text, 2048);
	add_remark(&text, o, TEXT_DOWN, l->down);
	add_remark(&text, o, TEXT_DEGRADED, l->degraded);
	add_remark(&text, o, TEXT_NO_CORD, l->no_cord);
	add_remark(&text, o, TEXT_NO_WATTS, l->watts_unknown);
	if (l->worst_pdu != MODEL_NONE && l->worst_share > POWER_HIGH) {
		snprintf(pdu, sizeof pdu, "%.64s %.0f%%", m->pdus.at[l->worst_pdu].name,
			100 * l->worst_share);
		buf_add_text(&text, text.n ? ", " : "");
		text_add(&text, o->lang, TEXT_PDU, pdu);
	}
	if (l->too_heavy)
		buf_addf(&text, "%s%s", text.n ? ", " : "", text_get(o->lang, TEXT_TOO_HEAVY));
	add_remark(&text, o, TEXT_NO_WEIGHT, l->kg_unknown);
	table_text(t, RACK_REMARK, buf_text(&text));
}

/* What the row shows in few words, in full for programs. */
static void put_rack_facts(struct table *t, const struct rack_load *l)
{
	json_t *watts = json_object();

	for (unsigned b = 0; b < BASIS_N; b++)
		json_object_set_new(watts, MODEL_BASES[b], json_real(l->watts[b]));
	table_extra(t, "watts", watts);
	table_extra(t, "watts_unknown", json_integer(l->watts_unknown));
	table_extra(t, "units_used", json_integer(l->units_used));
	table_extra(t, "units_free", json_integer(l->units_free));
	table_extra(t, "kg_unknown", json_integer(l->kg_unknown));
	table_extra(t, "too_heavy", json_boolean(l->too_heavy));
	table_extra(t, "no_cord", json_integer(l->no_cord));
	table_extra(t, "down_on_loss", json_integer(l->down));
	table_extra(t, "degraded_on_loss", json_integer(l->degraded));
	table_extra(t, "worst_share", json_real(l->worst_share));
}

/* Watts as kW, kilograms; "+" when some of what is summed is not known. */
static void put_sum(
	struct table *t, unsigned col, double v, bool partly, const struct report_opts *o)
{
	AUTO_BUF text;

	buf_init(&text, 64);
	number_add(&text, o->lang, col == RACK_KW ? v / 1000 : v, col == RACK_KW);
	buf_add_text(&text, partly ? "+" : "");
	table_value(t, col, buf_text(&text), json_real(v));
}

static void put_rack(struct table *t, const struct model *m, const struct rack_load *l,
	const struct report_opts *o)
{
	static const enum text_key verdicts[] = {
		TEXT_LOAD_UNKNOWN, TEXT_LOAD_OK, TEXT_LOAD_HIGH, TEXT_LOAD_OVER};
	const struct rack *r = &m->racks.at[l->rack];
	char text[48];

	table_row(t);
	table_text(t, RACK_NAME, r->name);
	snprintf(text, sizeof text, "%u/%u", l->units_used, r->height_u);
	table_value(t, RACK_UNITS, text, json_integer(r->height_u));
	table_int(t, RACK_GAP, l->units_gap);
	table_int(t, RACK_DEVICES, l->devices);
	put_sum(t, RACK_KW, l->watts[BASIS_MAX], l->watts_unknown > 0, o);
	put_sum(t, RACK_KG, l->kg, l->kg_unknown > 0, o);
	put_feeds(t, m, l);
	table_value(t, RACK_POWER, text_get(o->lang, verdicts[l->verdict]),
		json_string(rack_verdict_name(l->verdict)));
	put_remark(t, m, l, o);
	put_rack_facts(t, l);
}

void report_racks(const struct model *m, const struct rack_loads *loads,
	const struct report_opts *o, struct buf *out)
{
	struct table *t;
	AUTO_BUF factor;

	buf_init(&factor, 64);
	if (print_empty(loads->n, TEXT_NO_RACKS, o, out))
		return;
	t = table_new(RACKS, COUNT(RACKS), o);
	vec_each(loads, const struct rack_load, l)
		put_rack(t, m, l, o);
	table_print(t, out);
	if (!o->json) {
		number_add(&factor, o->lang, POWER_FACTOR, 2);
		buf_addf(out, "\n%s\n", text_get(o->lang, TEXT_NOTE_FEEDS));
		text_add(out, o->lang, TEXT_NOTE_FACTOR, buf_text(&factor));
		buf_add_char(out, '\n');
	}
	table_free(t);
}

/* --- nodes --- */

enum {
	NODE_NAME,
	NODE_ADDRESS,
	NODE_RACK,
	NODE_ROLE,
	NODE_STATE,
	NODE_OS,
	NODE_AGENT,
	NODE_SEEN,
	NODE_CONTACT
};
static const struct column NODES[] = {
	[NODE_NAME] = {"node", TEXT_NODE, 0},
	[NODE_ADDRESS] = {"address", TEXT_ADDRESS, 0},
	[NODE_RACK] = {"rack", TEXT_RACK, COL_TRUNC},
	[NODE_ROLE] = {"role", TEXT_ROLE, COL_TRUNC},
	[NODE_STATE] = {"state", TEXT_STATE, COL_WRAP},
	[NODE_OS] = {"os", TEXT_OS, COL_TRUNC},
	[NODE_AGENT] = {"agent", TEXT_AGENT, COL_TRUNC},
	[NODE_SEEN] = {"seen", TEXT_SEEN, 0},
	[NODE_CONTACT] = {"contact", TEXT_CONTACT, 0},
};

/* An IPv6 address in brackets before a port. */
static void put_address(struct table *t, const struct node_row *n)
{
	const bool bracket = n->port != 22 && strchr(n->address, ':') != NULL;
	AUTO_BUF text;

	buf_init(&text, 512);
	buf_addf(&text, "%s%s%s", bracket ? "[" : "", n->address, bracket ? "]" : "");
	if (n->port != 22)
		buf_addf(&text, ":%u", n->port);
	table_value(t, NODE_ADDRESS, buf_text(&text), json_string(n->address));
}

/* "3 min 12 s" to "3 min", "14.0 s" to "14 s": enough for how long ago. */
static void keep_first_unit(char *span)
{
	char *second = strchr(span, ' '), *point = strchr(span, '.');

	second = second ? strchr(second + 1, ' ') : NULL;
	if (second)
		*second = '\0';
	if (point)
		memmove(point, point + 2, strlen(point + 2) + 1);
}

static void put_seen(
	struct table *t, const struct node_row *n, int64_t now, const struct report_opts *o)
{
	char span[24], at[24];
	AUTO_BUF text;
	AUTO_BUF ago;

	buf_init(&text, 128);
	buf_init(&ago, 64);
	if (n->seen == 0) {
		table_value(t, NODE_SEEN, text_get(o->lang, TEXT_NEVER), NULL);
		return;
	}
	clock_format(n->seen * CLOCK_SEC, at);
	if (now <= n->seen) {
		table_value(t, NODE_SEEN, text_get(o->lang, TEXT_NOW), json_string(at));
		return;
	}
	clock_format_span((now - n->seen) * CLOCK_SEC, span);
	keep_first_unit(span);
	if (o->lang == LANG_RU)
		number_add_arithmetic(&ago, o->lang, span);
	else
		buf_add_text(&ago, span);
	text_add(&text, o->lang, TEXT_AGO, buf_text(&ago));
	table_value(t, NODE_SEEN, buf_text(&text), json_string(at));
}

static void put_node(
	struct table *t, const struct node_row *n, int64_t now, const struct report_opts *o)
{
	AUTO_BUF state;

	buf_init(&state, 1024);
	table_row(t);
	table_text(t, NODE_NAME, n->name);
	put_address(t, n);
	table_text(t, NODE_RACK, n->rack);
	table_text(t, NODE_ROLE, n->role);
	buf_addf(
		&state, "%s%s%s", text_state(o->lang, n->state), *n->reason ? ": " : "", n->reason);
	table_value(t, NODE_STATE, buf_text(&state), json_string(n->state));
	table_text(t, NODE_OS, n->os);
	table_text(t, NODE_AGENT, n->agent);
	put_seen(t, n, now, o);
	table_value(t, NODE_CONTACT, n->missed ? text_get(o->lang, TEXT_UNREACHABLE) : "",
		n->missed     ? json_string("unreachable")
		: n->seen > 0 ? json_string("reached")
			      : NULL);
	table_extra(t, "device_type", *n->device_type ? json_string(n->device_type) : NULL);
	table_extra(t, "site", json_string(n->site));
	table_extra(t, "port", json_integer(n->port));
	table_extra(t, "user", json_string(n->user));
	table_extra(t, "reason", *n->reason ? json_string(n->reason) : NULL);
	table_extra(t, "boot_id", *n->boot_id ? json_string(n->boot_id) : NULL);
	table_extra(t, "pinned", json_boolean(n->host_key != NULL));
}

void report_nodes(
	const struct node_rows *rows, int64_t now, const struct report_opts *o, struct buf *out)
{
	struct table *t;

	if (print_empty(rows->n, TEXT_NO_NODES, o, out))
		return;
	t = table_new(NODES, COUNT(NODES), o);
	vec_each(rows, const struct node_row, n)
		put_node(t, n, now, o);
	table_print(t, out);
	table_free(t);
}

/* --- runs --- */

enum {
	RUN_ID,
	RUN_MODE,
	RUN_RECIPES,
	RUN_NODES,
	RUN_STARTED,
	RUN_TOOK,
	RUN_RESULT
};
static const struct column RUNS[] = {
	[RUN_ID] = {"run", TEXT_RUN, 0},
	[RUN_MODE] = {"mode", TEXT_MODE, 0},
	[RUN_RECIPES] = {"recipes", TEXT_RECIPES, COL_TRUNC},
	[RUN_NODES] = {"nodes", TEXT_NODES, COL_TRUNC},
	[RUN_STARTED] = {"started", TEXT_STARTED, 0},
	[RUN_TOOK] = {"took_ms", TEXT_TOOK, COL_RIGHT},
	[RUN_RESULT] = {"results", TEXT_RESULT, COL_WRAP},
};

/* A moment as all JSON of ours has it; NULL: it was not yet. */
static json_t *time_json(int64_t wall)
{
	char at[24];

	if (wall == 0)
		return NULL;
	clock_format(wall, at);
	return json_string(at);
}

static void put_times(
	struct table *t, const struct run_row *r, int64_t now, const struct report_opts *o)
{
	const int64_t end = r->ended ? r->ended : now * CLOCK_SEC;
	char at[24], shown[24], span[24];
	AUTO_BUF took;

	buf_init(&took, 64);
	clock_format(r->started, at);
	snprintf(shown, sizeof shown, "%.10s %.5s", at, strlen(at) > 11 ? at + 11 : "");
	table_value(t, RUN_STARTED, shown, json_string(at));
	clock_format_span(end > r->started ? end - r->started : 0, span);
	if (o->lang == LANG_RU)
		number_add_arithmetic(&took, o->lang, span);
	else
		buf_add_text(&took, span);
	table_value(t, RUN_TOOK, buf_text(&took),
		r->ended ? json_integer((r->ended - r->started) / CLOCK_MS) : NULL);
}

/* "14 ok, 2 failed"; before it how the run stands, when that is not plain from them. */
static void put_results(struct table *t, const struct run_row *r, const struct report_opts *o)
{
	const bool plain = strcmp(r->state, "done") == 0 || strcmp(r->state, "failed") == 0;
	const bool plan = strcmp(r->mode, "plan") == 0 || strcmp(r->mode, "check") == 0;
	AUTO_BUF text;

	buf_init(&text, 512);
	buf_add_text(&text, plain ? "" : text_state(o->lang, r->state));
	for (unsigned i = 0; i < RESULT_N; i++) {
		const char *word =
			plan && i == RESULT_CHANGED ? "differs" : result_name((enum step_result)i);

		if (r->counts.n[i])
			buf_addf(&text, "%s%u %s", text.n ? ", " : "", r->counts.n[i],
				text_state(o->lang, word));
	}
	table_value(t, RUN_RESULT, text.n ? buf_text(&text) : text_state(o->lang, r->state),
		result_counts_json(&r->counts));
}

static void put_run(
	struct table *t, const struct run_row *r, int64_t now, const struct report_opts *o)
{
	table_row(t);
	table_text(t, RUN_ID, r->id);
	table_value(t, RUN_MODE, text_state(o->lang, r->mode), json_string(r->mode));
	table_text(t, RUN_RECIPES, r->recipes);
	table_text(t, RUN_NODES, r->nodes);
	put_times(t, r, now, o);
	put_results(t, r, o);
	table_extra(t, "state", json_string(r->state));
	table_extra(t, "by", json_string(r->by));
	table_extra(t, "ended", time_json(r->ended));
	table_extra(t, "n_nodes", json_integer(r->n_nodes));
	table_extra(
		t, "plan_hash", r->plan_hash && *r->plan_hash ? json_string(r->plan_hash) : NULL);
	table_extra(t, "bundle", r->bundle && *r->bundle ? json_string(r->bundle) : NULL);
}

void report_runs(const struct run_rows *rows, const struct run_standing *standings, int64_t now,
	const struct report_opts *o, struct buf *out)
{
	struct table *t;

	if (print_empty(rows->n, TEXT_NO_RUNS, o, out))
		return;
	t = table_new(RUNS, COUNT(RUNS), o);
	for (size_t i = 0; i < rows->n; i++) {
		put_run(t, &rows->at[i], now, o);
		if (standings && standings[i].text)
			table_value(
				t, RUN_RESULT, standings[i].text, json_incref(standings[i].counts));
	}
	table_print(t, out);
	table_free(t);
}

/* --- versions --- */

enum {
	VERSION_AT,
	VERSION_SITE,
	VERSION_BY,
	VERSION_SIZE,
	VERSION_SHA,
	VERSION_SOURCE
};
static const struct column VERSIONS[] = {
	[VERSION_AT] = {"imported", TEXT_IMPORTED, 0},
	[VERSION_SITE] = {"site", TEXT_SITE, COL_TRUNC},
	[VERSION_BY] = {"by", TEXT_BY, COL_TRUNC},
	[VERSION_SIZE] = {"bytes", TEXT_SIZE, COL_RIGHT},
	[VERSION_SHA] = {"sha256", TEXT_SHA, 0},
	[VERSION_SOURCE] = {"source", TEXT_SOURCE, COL_TRUNC},
};

/* 1.2 kB, 5.8 MB: enough to see that a file grew. */
static void put_size(struct table *t, size_t bytes, const struct report_opts *o)
{
	const double v = (double)bytes;
	AUTO_BUF text;

	buf_init(&text, 64);
	number_add(&text, o->lang, v < 1e6 ? v / 1e3 : v / 1e6, 1);
	buf_addf(&text, "\u00a0%s",
		v < 1e6 ? text_get(o->lang, TEXT_KILOBYTES) : text_get(o->lang, TEXT_MEGABYTES));
	table_value(t, VERSION_SIZE, buf_text(&text), json_integer((json_int_t)bytes));
}

void report_versions(
	const struct store_versions *rows, const struct report_opts *o, struct buf *out)
{
	struct table *t;

	if (print_empty(rows->n, TEXT_NO_VERSIONS, o, out))
		return;
	t = table_new(VERSIONS, COUNT(VERSIONS), o);
	vec_each(rows, const struct store_version, v) {
		char at[24], sha[16];

		clock_format(v->at, at);
		snprintf(sha, sizeof sha, "%.12s", v->sha256);
		table_row(t);
		table_value(t, VERSION_AT, at, json_string(at));
		table_text(t, VERSION_SITE, v->site);
		table_text(t, VERSION_BY, v->by);
		put_size(t, v->bytes, o);
		table_value(t, VERSION_SHA, sha, json_string(v->sha256));
		table_text(t, VERSION_SOURCE, v->source);
	}
	table_print(t, out);
	table_free(t);
}
