/* show - one rack with its elevation and feeds, or one node with its facts. */
#include "agent/base/clock.h"
#include "controller/command/help.h"
#include "controller/command/lang.h"
#include "controller/command/session.h"
#include "controller/command/show_vars.h"
#include "controller/command/table.h"
#include "inventory/audit/power.h"
#include "inventory/report/number.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX       (64u << 20)
#define FACT_LINES_MAX 8

/* A figure as text, for as long as its statement lasts. */
struct figure {
	char text[64];
};

static struct figure count(unsigned n)
{
	struct figure f;

	snprintf(f.text, sizeof f.text, "%u", n);
	return f;
}

static struct figure unit(enum text_lang lang, double v, const char *name)
{
	struct figure f;
	AUTO_BUF text;

	buf_init(&text, sizeof f.text);
	number_add_unit(&text, lang, v, name);
	snprintf(f.text, sizeof f.text, "%s", buf_text(&text));
	return f;
}

static const char *verdict(enum text_lang lang, enum rack_verdict v)
{
	static const enum text_key keys[] = {
		TEXT_LOAD_UNKNOWN, TEXT_LOAD_OK, TEXT_LOAD_HIGH, TEXT_LOAD_OVER};

	return text_get(lang, keys[v]);
}

/* All that lies in a unit, also in one of its halves or on its rear; named where it ends. */
static void unit_line(
	const struct model *m, size_t rack, unsigned u, enum text_lang lang, struct buf *out)
{
	buf_addf(out, "%3u", u);
	vec_each(&m->devices, const struct device, d) {
		const struct device_type *t = d->type == MODEL_NONE ? NULL : &m->types.at[d->type];
		const unsigned from = 2 * d->position + d->half_up;
		const unsigned to = t ? from + 2 * t->height_u + t->half_u : from;

		if (!t || d->rack != rack || d->position == 0 || from >= 2 * u + 2 || to <= 2 * u)
			continue;
		if (to > 2 * u + 2) {
			buf_add_text(out, "  |");
			continue;
		}
		buf_addf(out, "  %-16s %s%s%s", d->name, t->maker ? t->maker : "",
			t->maker ? " " : "", t->name);
		if (d->face == FACE_REAR)
			buf_addf(out, " %s", text_get(lang, TEXT_SHOW_REAR));
	}
	buf_add_char(out, '\n');
}

static const char *circuit_factor(const struct feed *f)
{
	if (f->phases != 3)
		return "";
	return f->volts_are == VOLTS_LN ? " x 3" : " x 1.732";
}

#define FEED_COLUMN 24

static void feed_line(
	const struct model *m, const struct feed_load *l, enum text_lang lang, struct buf *out)
{
	const struct feed *f = &m->feeds.at[l->feed];
	const double amps = l->limit_va / power_circuit_va(f, 1);
	AUTO_BUF sum;
	AUTO_BUF shown;

	buf_init(&sum, 1024);
	buf_init(&shown, 2048);
	buf_addf(out, "  %-11s ", f->name);
	lang_add_label(out, verdict(lang, l->verdict), FEED_COLUMN - 14);
	if (isnan(amps)) {
		buf_add_text(out, text_get(lang, TEXT_SHOW_NO_CIRCUIT));
	} else {
		buf_addf(&sum, "%.2f A x %.0f V%s = %.2f kVA", amps, f->volts, circuit_factor(f),
			l->limit_va / 1000);
		number_add_arithmetic(&shown, lang, buf_text(&sum));
		text_add(out, lang, TEXT_SHOW_AT_MOST, buf_text(&shown));
	}
	buf_addf(out, "\n%*s", FEED_COLUMN, "");
	text_add(out, lang, TEXT_SHOW_CARRIES, unit(lang, l->load_va / 1000, "kVA").text);
	if (l->worst_loss != MODEL_NONE)
		TEXT_FILL(out, lang, TEXT_SHOW_WHEN_LOST,
			unit(lang, l->worst_va / 1000, "kVA").text,
			m->feeds.at[l->worst_loss].name);
	buf_add_char(out, '\n');
}

static void rack_head(
	const struct model *m, const struct rack_load *l, enum text_lang lang, struct buf *out)
{
	const struct rack *r = &m->racks.at[l->rack];

	TEXT_FILL(out, lang, TEXT_SHOW_RACK, r->name, m->site, verdict(lang, l->verdict));
	buf_add_char(out, '\n');
	TEXT_FILL(out, lang, TEXT_SHOW_UNITS, count(r->height_u).text, count(l->units_used).text,
		count(l->units_free).text, count(l->units_gap).text);
	buf_add_char(out, '\n');
	text_add_count(out, lang, COUNT_DEVICES, l->devices);
	TEXT_FILL(out, lang, TEXT_SHOW_LOAD, unit(lang, l->watts[BASIS_MAX], "W").text,
		unit(lang, l->kg, "kg").text);
	if (l->kg_unknown)
		text_add(out, lang, TEXT_SHOW_NO_KG, count(l->kg_unknown).text);
	buf_add_char(out, '\n');
	if (l->watts_unknown || l->no_cord) {
		TEXT_FILL(out, lang, TEXT_SHOW_LACKS, count(l->watts_unknown).text,
			count(l->no_cord).text);
		buf_add_char(out, '\n');
	}
}

static void rack_text(
	const struct model *m, const struct rack_load *l, enum text_lang lang, struct buf *out)
{
	const struct rack *r = &m->racks.at[l->rack];
	const unsigned first = r->first_u ? r->first_u : 1;
	AUTO_BUF factor;

	buf_init(&factor, 64);
	number_add(&factor, lang, POWER_FACTOR, 2);
	rack_head(m, l, lang, out);
	buf_add_char(out, '\n');
	text_add(out, lang, TEXT_SHOW_FEEDS, buf_text(&factor));
	buf_add_char(out, '\n');
	vec_each(&l->feeds, struct feed_load, f)
		feed_line(m, f, lang, out);
	buf_addf(out, "\n  U  %s\n", text_get(lang, TEXT_SHOW_DEVICE));
	for (unsigned n = r->height_u; n > 0; n--)
		unit_line(m, l->rack, first + n - 1, lang, out);
}

static json_t *feed_json(const struct model *m, const struct feed_load *l)
{
	json_t *obj = json_object();

	json_put_str(obj, "feed", m->feeds.at[l->feed].name);
	json_put_str(obj, "verdict", rack_verdict_name(l->verdict));
	json_object_set_new(obj, "limit_va", json_real(l->limit_va));
	json_object_set_new(obj, "load_va", json_real(l->load_va));
	json_object_set_new(obj, "worst_va", json_real(l->worst_va));
	if (l->worst_loss != MODEL_NONE)
		json_put_str(obj, "worst_loss", m->feeds.at[l->worst_loss].name);
	return obj;
}

static json_t *rack_json(const struct model *m, const struct rack_load *l)
{
	const struct rack *r = &m->racks.at[l->rack];
	json_t *obj = json_object(), *feeds = json_array(), *devices = json_array();

	json_put_str(obj, "rack", r->name);
	json_put_str(obj, "site", m->site);
	json_put_str(obj, "verdict", rack_verdict_name(l->verdict));
	json_put_int(obj, "height_u", r->height_u);
	json_put_int(obj, "units_used", l->units_used);
	json_put_int(obj, "units_gap", l->units_gap);
	json_object_set_new(obj, "watts_max", json_real(l->watts[BASIS_MAX]));
	json_object_set_new(obj, "kg", json_real(l->kg));
	vec_each(&l->feeds, struct feed_load, f)
		json_array_append_new(feeds, feed_json(m, f));
	json_object_set_new(obj, "feeds", feeds);
	vec_each(&m->devices, struct device, d) {
		json_t *one;

		if (d->rack != l->rack)
			continue;
		one = json_object();
		json_put_str(one, "device", d->name);
		json_put_str(one, "type", m->types.at[d->type].name);
		json_put_int(one, "position", d->position);
		json_put_int(one, "height_u", m->types.at[d->type].height_u);
		json_array_append_new(devices, one);
	}
	json_object_set_new(obj, "devices", devices);
	return obj;
}

static int show_rack(const struct invocation *inv, const struct report_opts *o,
	const struct model *m, size_t rack)
{
	struct rack_loads loads = VEC_INIT;
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	rack_loads_make(m, BASIS_MAX, &loads);
	if (inv->json) {
		AUTO_JSON doc = rack_json(m, &loads.at[rack]);

		session_print_json(doc);
	} else {
		rack_text(m, &loads.at[rack], o->lang, &text);
		session_print_lines(&text);
	}
	rack_loads_done(&loads);
	return EXIT_OK;
}

static json_t *node_json(const struct node_row *n, json_t *facts)
{
	json_t *obj = json_object();
	char seen[24];

	clock_format(n->seen * CLOCK_SEC, seen);
	json_put_str(obj, "node", n->name);
	json_put_str(obj, "address", n->address);
	json_put_int(obj, "port", n->port);
	json_put_str(obj, "user", n->user);
	json_put_str(obj, "site", n->site);
	json_put_str(obj, "rack", n->rack);
	json_put_str(obj, "role", n->role);
	json_put_str(obj, "device_type", n->device_type);
	json_put_str(obj, "state", n->state);
	json_put_str(obj, "reason", n->reason);
	json_put_str(obj, "agent", n->agent);
	json_put_str(obj, "boot_id", n->boot_id);
	json_put_str(obj, "os", n->os);
	json_put_str(obj, "host_key", n->host_key);
	json_object_set_new(obj, "seen", n->seen ? json_string(seen) : json_null());
	json_object_set(obj, "facts", facts);
	return obj;
}

static void add_value(const json_t *value, enum text_lang lang, struct buf *out)
{
	const char *between = "";
	json_t *one;
	size_t i;

	if (json_is_string(value)) {
		buf_add_text(out, json_string_value(value));
	} else if (json_is_boolean(value)) {
		buf_add_text(out, text_get(lang, json_is_true(value) ? TEXT_YES : TEXT_NO));
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, one)
		{
			buf_add_text(out, between);
			if (json_is_string(one))
				buf_add_text(out, json_string_value(one));
			else
				json_write(one, out);
			between = " ";
		}
	} else {
		json_write(value, out);
	}
}

/* "cores 2, model Xeon, threads 2" */
static void add_fields(json_t *value, enum text_lang lang, struct buf *out)
{
	const char *key, *between = "";
	json_t *one;

	if (!json_is_object(value)) {
		add_value(value, lang, out);
		return;
	}
	json_object_foreach(value, key, one)
	{
		buf_addf(out, "%s%s ", between, key);
		add_value(one, lang, out);
		between = ", ";
	}
}

#define LABEL 10

static void fact_lines(const char *group, json_t *value, enum text_lang lang, struct buf *out)
{
	const bool many = json_is_array(value);
	const size_t n = many ? json_array_size(value) : 1;
	AUTO_BUF line = {0};

	buf_init(&line, TEXT_MAX);
	for (size_t i = 0; i < n && i < FACT_LINES_MAX; i++) {
		buf_clear(&line);
		add_fields(many ? json_array_get(value, i) : value, lang, &line);
		lang_add_label(out, i ? "" : group, LABEL);
		help_add_filled(out, buf_text(&line), LABEL);
	}
	if (n == 0) {
		lang_add_label(out, group, LABEL);
		buf_addf(out, "%s\n", text_get(lang, TEXT_SHOW_NONE));
	}
	if (n > FACT_LINES_MAX) {
		lang_add_label(out, "", LABEL);
		text_add(out, lang, TEXT_SHOW_MORE, count((unsigned)n - FACT_LINES_MAX).text);
		buf_add_char(out, '\n');
	}
}

static void add_label(struct buf *out, enum text_lang lang, enum text_key key)
{
	lang_add_label(out, text_get(lang, key), LABEL);
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static void node_text(const struct node_row *n, json_t *facts, enum text_lang lang, struct buf *out)
{
	char seen[24];
	const char *group;
	json_t *value;

	clock_format(n->seen * CLOCK_SEC, seen);
	add_label(out, lang, TEXT_L_NODE);
	buf_addf(out, "%s (%s%s%s)\n", n->name, text_state(lang, n->state), *n->reason ? ": " : "",
		n->reason);
	add_label(out, lang, TEXT_L_ADDRESS);
	TEXT_FILL(out, lang, TEXT_SHOW_PORT, n->user, n->address, count(n->port).text);
	buf_add_char(out, '\n');
	add_label(out, lang, TEXT_L_PLACE);
	TEXT_FILL(out, lang, TEXT_SHOW_PLACE, n->site, or_dash(n->rack), or_dash(n->device_type),
		or_dash(n->role));
	buf_add_char(out, '\n');
	add_label(out, lang, TEXT_L_AGENT);
	TEXT_FILL(out, lang, TEXT_SHOW_AGENT,
		*n->agent ? n->agent : text_get(lang, TEXT_SHOW_NO_AGENT),
		*n->os ? n->os : text_get(lang, TEXT_SHOW_NO_OS),
		n->seen ? seen : text_get(lang, TEXT_NEVER));
	buf_add_char(out, '\n');
	add_label(out, lang, TEXT_L_HOST_KEY);
	buf_addf(out, "%s\n", n->host_key ? n->host_key : text_get(lang, TEXT_SHOW_NO_KEY));
	json_object_foreach(facts, group, value) fact_lines(group, value, lang, out);
}

static int show_node(const struct invocation *inv, const struct report_opts *o, struct store *s,
	const struct node_row *n, struct err *err)
{
	AUTO_JSON facts = NULL;
	AUTO_BUF text = {0};
	int rc = store_get_facts(s, n->id, &facts, err);

	if (rc < 0)
		return command_fail(inv, err);
	buf_init(&text, TEXT_MAX);
	if (inv->json) {
		AUTO_JSON doc = node_json(n, facts);

		session_print_json(doc);
	} else {
		node_text(n, facts, o->lang, &text);
		session_print_lines(&text);
	}
	return EXIT_OK;
}

static const struct node_row *find_node(const struct node_rows *rows, const char *name)
{
	vec_each(rows, struct node_row, n)
		if (strcmp(n->name, name) == 0)
			return n;
	return NULL;
}

/* Looks in every site, since rack names are unique within one only. */
static int show_in_sites(
	const struct invocation *inv, const struct report_opts *o, struct store *s, struct err *err)
{
	const char **sites = NULL;
	size_t n = 0;
	int code = -1;

	if (store_sites(s, inv->arena, &sites, &n, err) < 0)
		return command_fail(inv, err);
	for (size_t i = 0; i < n && code < 0; i++) {
		struct model *m = NULL;

		if (store_load_model(s, sites[i], &m, err) < 0)
			return command_fail(inv, err);

		const size_t rack = model_find_rack(m, inv->args[0]);

		if (rack != MODEL_NONE)
			code = show_rack(inv, o, m, rack);
		model_free(m);
	}
	if (code >= 0)
		return code;
	err_set(err, E_NOTFOUND, "there is no rack and no node '%s'", inv->args[0]);
	err_hint(err, "'stoika list racks' and 'stoika list nodes' name them");
	return command_fail(inv, err);
}

static int run(struct invocation *inv)
{
	struct node_rows rows = VEC_INIT;
	const struct node_row *node = NULL;
	struct report_opts o;
	struct store *s = NULL;
	struct err err;
	int code;

	if (lang_opts(inv, &o, &err) < 0 || session_open(inv, STORE_READ, &s, &err) < 0 ||
		store_nodes(s, inv->arena, &rows, &err) < 0)
		code = command_fail(inv, &err);
	else if ((node = find_node(&rows, inv->args[0])) != NULL && option_get(inv, "vars"))
		code = show_vars(inv, node);
	else if (node)
		code = show_node(inv, &o, s, node, &err);
	else
		code = show_in_sites(inv, &o, s, &err);
	vec_done(&rows);
	store_close(s);
	return code;
}

static const struct option OPTIONS[] = {
	LANG_OPTION,
	{"vars", 0, NULL, "of a node: what recipes are told, and where each value is from", false},
	{0},
};

const struct command COMMAND_SHOW = {
	.name = "show",
	.args = "RACK|NODE",
	.min_args = 1,
	.max_args = 1,
	.summary = "a rack with its elevation and feeds, or a node with its facts",
	.options = OPTIONS,
	.run = run,
};
