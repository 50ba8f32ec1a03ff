/* html_rack - one rack: figures, pictures, findings, fixes, rules that hold, inputs. */
#include "inventory/report/elevation.h"
#include "inventory/report/html_audit_priv.h"
#include "inventory/report/palette.h"
#include "inventory/report/svg.h"

#include <stdio.h>

#define COUNT(list) (unsigned)(sizeof(list) / sizeof *(list))

/* --- findings --- */

static void write_note(const struct html *h, enum text_key key, const char *value)
{
	AUTO_BUF line;

	buf_init(&line, 1u << 16);
	text_add(&line, h->lang, key, value);
	html_element(h, "p", "note", buf_text(&line));
}

/* What, in which scenario; its arithmetic, and what was assumed. */
static void write_finding(const struct html *h, const struct audit *a, const struct finding *f)
{
	char more[16];
	AUTO_BUF line;

	buf_init(&line, 1u << 16);
	view_add_what(&line, h->lang, a, f);
	buf_add_text(h->out, "<p class=\"what\"><b>");
	html_text(h, buf_text(&line));
	buf_addf(h->out, "</b>%s", line.n ? "; " : "");
	buf_clear(&line);
	text_add_loss(&line, h->lang, a, f->loss);
	html_text(h, buf_text(&line));
	buf_add_text(h->out, "</p>\n");
	if (f->text) {
		buf_clear(&line);
		phrase_add(&line, h->lang, f->text);
		html_element(h, "p", "calc", buf_text(&line));
	}
	if (f->assumes) {
		buf_clear(&line);
		phrase_add(&line, h->lang, f->assumes);
		write_note(h, TEXT_ASSUMES, buf_text(&line));
	}
	if (f->more) {
		snprintf(more, sizeof more, "%u", f->more);
		write_note(h, TEXT_MORE, more);
	}
}

/* Those of a rule with one verdict stand together; what cures them is said once. */
static void write_group(const struct html *h, const struct audit *a, size_t first, size_t n)
{
	const struct finding *f = &a->findings.at[first];
	AUTO_BUF line;

	buf_init(&line, 1u << 12);
	buf_addf(h->out, "<div class=\"finding f%u\">\n<p class=\"head\">", (unsigned)f->verdict);
	html_badge(h, f->verdict);
	buf_add_char(h->out, ' ');
	html_text(h, text_rule_title(h->lang, f->rule));
	buf_add_text(h->out, "</p>\n");
	for (size_t i = first; i < first + n; i++)
		write_finding(h, a, &a->findings.at[i]);
	buf_addf(&line, "%s: %s", text_get(h->lang, TEXT_CURES), text_rule_cure(h->lang, f->rule));
	html_element(h, "p", "note", buf_text(&line));
	buf_add_text(h->out, "</div>\n");
}

static size_t group_size(const struct audit *a, size_t first, size_t end)
{
	size_t n = 1;

	while (first + n < end && a->findings.at[first + n].rule == a->findings.at[first].rule &&
		a->findings.at[first + n].verdict == a->findings.at[first].verdict)
		n++;
	return n;
}

void html_audit_findings(const struct html *h, const struct audit *a, size_t first, size_t n)
{
	bool bad = false;

	for (unsigned verdict = AUDIT_VERDICT_N; verdict-- > AUDIT_WARN;) {
		for (size_t i = first; i < first + n;) {
			const size_t group = group_size(a, i, first + n);

			if ((unsigned)a->findings.at[i].verdict == verdict) {
				write_group(h, a, i, group);
				bad = true;
			}
			i += group;
		}
	}
	if (!bad)
		html_element(h, "p", NULL, text_get(h->lang, TEXT_NO_FINDINGS));
}

static const struct html_column PASSED[] = {{TEXT_C_RULE, NULL}, {TEXT_C_SUBJECT, NULL},
	{TEXT_C_SCENARIO, NULL}, {TEXT_C_VALUE, "num"}, {TEXT_C_ARITHMETIC, NULL}};

static void write_passed_row(const struct html *h, const struct audit *a, const struct finding *f)
{
	AUTO_BUF text;

	buf_init(&text, 1u << 16);
	html_row(h, NULL);
	html_cell(h, NULL, text_rule_title(h->lang, f->rule));
	text_add_subject(&text, h->lang, a->model, f->subject);
	if (f->line)
		buf_addf(&text, " %s", f->line);
	html_cell(h, NULL, buf_text(&text));
	buf_clear(&text);
	text_add_loss(&text, h->lang, a, f->loss);
	html_cell(h, NULL, buf_text(&text));
	buf_clear(&text);
	view_add_share(&text, h->lang, f);
	html_cell(h, "num", buf_text(&text));
	buf_clear(&text);
	phrase_add(&text, h->lang, f->text ? f->text : "");
	if (f->assumes) {
		AUTO_BUF assumed;

		buf_init(&assumed, 1u << 14);
		phrase_add(&assumed, h->lang, f->assumes);
		buf_add_text(&text, text.n ? "; " : "");
		text_add(&text, h->lang, TEXT_ASSUMES, buf_text(&assumed));
	}
	html_cell(h, "calc", buf_text(&text));
	html_row_end(h);
}

void html_audit_passed(const struct html *h, const struct audit *a, size_t first, size_t n)
{
	unsigned passed = 0;

	for (size_t i = first; i < first + n; i++) {
		if (a->findings.at[i].verdict != AUDIT_PASS)
			continue;
		if (passed++ == 0) {
			html_heading(h, 3, TEXT_PASSED);
			html_table(h, PASSED, COUNT(PASSED));
		}
		write_passed_row(h, a, &a->findings.at[i]);
	}
	if (passed)
		html_table_end(h);
}

static void write_unjudged(const struct html *h, const struct view_rack *v)
{
	AUTO_BUF names;

	buf_init(&names, 1u << 14);
	for (unsigned i = 0; i < RULE_PANEL_NORMAL; i++)
		if (!v->judged[i])
			buf_addf(&names, "%s%s", names.n ? ", " : "",
				text_rule_title(h->lang, (enum audit_rule)i));
	if (names.n)
		write_note(h, TEXT_UNJUDGED, buf_text(&names));
}

static const struct html_column FIXES[] = {{TEXT_C_FIX, NULL}, {TEXT_C_AFTER, "tight"}};

static void write_fixes(const struct html *h, const struct view_rack *v)
{
	const struct audit_report *r = v->report;
	unsigned n = 0;
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	for (size_t i = 0; i < r->n_fixes; i++) {
		const struct audit_fix *f = &r->fixes[i];

		if (f->rack != v->of->rack)
			continue;
		if (n++ == 0) {
			html_heading(h, 3, TEXT_FIXES);
			html_element(h, "p", "note", text_get(h->lang, TEXT_FIXES_NOTE));
			html_table(h, FIXES, COUNT(FIXES));
		}
		html_row(h, NULL);
		buf_clear(&text);
		phrase_add(&text, h->lang, f->text);
		html_cell(h, NULL, buf_text(&text));
		html_cell_verdict(h, f->after);
		html_row_end(h);
	}
	if (n)
		html_table_end(h);
}

/* --- figures and pictures --- */

static void write_figure(const struct html *h, enum text_key what, double v, const char *unit)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	if (isnan(v))
		return;
	number_add_unit(&text, h->lang, v, unit);
	buf_add_text(h->out, "<li>");
	html_text(h, text_get(h->lang, what));
	buf_add_text(h->out, " <b>");
	html_text(h, buf_text(&text));
	buf_add_text(h->out, "</b></li>\n");
}

static void write_figures(const struct html *h, const struct audit_rack *k)
{
	buf_add_text(h->out, "<ul class=\"figures\">\n");
	write_figure(h, TEXT_F_LOAD, k->watts, "W");
	write_figure(h, TEXT_F_HEAT, k->heat_w, "W");
	if (k->liquid_w > 0) {
		write_figure(h, TEXT_F_TO_AIR, k->room_w, "W");
		write_figure(h, TEXT_F_TO_LIQUID, k->liquid_w, "W");
	}
	write_figure(h, TEXT_F_AIR, k->cfm > 0 ? k->cfm : MODEL_UNSET, "CFM");
	write_figure(h, TEXT_F_UNITS, k->units_used, "U");
	write_figure(h, TEXT_F_GAP, k->units_gap, "U");
	write_figure(h, TEXT_F_MASS, k->kg > 0 ? k->kg : MODEL_UNSET, "kg");
	write_figure(h, TEXT_F_FLOOR, k->floor_kpa, "kPa");
	write_figure(h, TEXT_F_DEVICES, k->devices, "");
	buf_add_text(h->out, "</ul>\n");
}

/* What the cords' colours and dashes mean. */
static void write_cord_keys(const struct html *h, const struct view_rack *v)
{
	AUTO_BUF words;

	buf_init(&words, 1u << 12);
	if (v->feeds.n == 0)
		return;
	buf_add_text(h->out, "<ul class=\"keys\">\n");
	for (size_t i = 0; i < v->feeds.n; i++) {
		const struct feed_colour c = palette_feed((unsigned)i);

		buf_clear(&words);
		text_add(&words, h->lang, TEXT_P_CORD,
			v->report->audit->model->feeds.at[v->feeds.at[i].feed].name);
		buf_addf(h->out,
			"<li><svg width=\"34\" height=\"8\" aria-hidden=\"true\"><line x1=\"1\" "
			"y1=\"4\" x2=\"33\" y2=\"4\" stroke=\"%s\" stroke-width=\"3\" "
			"stroke-dasharray=\"%s\"/></svg>",
			c.ink, c.dash);
		html_text(h, buf_text(&words));
		buf_add_text(h->out, "</li>\n");
	}
	buf_add_text(h->out, "</ul>\n");
}

static void write_pictures(const struct html *h, const struct view_rack *v)
{
	buf_add_text(h->out, "<div class=\"pictures\">\n<figure>\n");
	elevation_front(v, h->lang, h->out);
	buf_add_text(h->out, "</figure>\n<figure>\n");
	elevation_rear(v, h->lang, h->out);
	buf_add_text(h->out, "</figure>\n</div>\n");
	write_cord_keys(h, v);
	html_heading(h, 3, TEXT_LOADS);
	buf_add_text(h->out, "<figure>\n");
	elevation_loads(v, h->lang, h->out);
	buf_add_text(h->out, "</figure>\n");
	html_heading(h, 3, TEXT_HEAT);
	buf_add_text(h->out, "<figure>\n");
	elevation_heat(v, h->lang, h->out);
	buf_add_text(h->out, "</figure>\n");
}

/* --- inputs --- */

static const struct html_column DEVICES[] = {{TEXT_C_DEVICE, NULL}, {TEXT_C_UNIT, "num"},
	{TEXT_C_TYPE, "tight"}, {TEXT_C_WATTS, "num"}, {TEXT_C_ORIGIN, NULL}, {TEXT_C_PSUS, "num"},
	{TEXT_C_CORDS, NULL}};

static void write_device(
	const struct html *h, const struct view_rack *v, const struct view_device *d)
{
	const struct audit *a = v->report->audit;
	const struct device *box = &a->model->devices.at[d->device];
	const struct demand *demand = &a->demands[d->device];
	const bool assumed = d->power.origin == ORIGIN_ASSUMED || isnan(d->power.watts);
	char text[64];
	AUTO_BUF words;

	buf_init(&words, 1u << 16);
	html_row(h, assumed ? "assumed" : NULL);
	html_cell(h, NULL, box->name);
	snprintf(text, sizeof text, box->half_up ? "%u.5" : "%u", box->position);
	html_cell(h, "num", box->position ? text : NULL);
	html_cell(h, "tight", a->model->types.at[box->type].name);
	number_add_unit(&words, h->lang, d->power.watts, "W");
	html_cell(h, "num", buf_text(&words));
	buf_clear(&words);
	view_add_origin(&words, h->lang, &d->power);
	html_cell(h, "long", buf_text(&words));
	snprintf(text, sizeof text, "%u, %u%s", demand->psus, demand->needed,
		demand->assumed_needed ? " *" : "");
	html_cell(h, "num", demand->psus ? text : NULL);
	buf_clear(&words);
	view_add_cords(&words, a, d->device);
	html_cell(h, "long", buf_text(&words));
	html_row_end(h);
}

static const struct html_column FEEDS[] = {{TEXT_C_FEED, NULL}, {TEXT_C_VOLTS, NULL},
	{TEXT_C_LIMIT, "num"}, {TEXT_C_NORMAL, "num"}, {TEXT_C_WORST, "num"},
	{TEXT_C_SCENARIO, NULL}, {TEXT_C_SHARE, "num"}};

static void amps_cell(const struct html *h, double v)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	number_add_unit(&text, h->lang, v, "A");
	html_cell(h, "num", buf_text(&text));
}

static void write_feed(const struct html *h, const struct view_rack *v, const struct view_feed *f)
{
	const struct feed *feed = &v->report->audit->model->feeds.at[f->feed];
	AUTO_BUF words;

	buf_init(&words, 1u << 14);
	html_row(h, NULL);
	html_cell(h, NULL, feed->name);
	view_add_circuit(&words, h->lang, feed);
	html_cell(h, "tight", buf_text(&words));
	amps_cell(h, f->limit_worst);
	amps_cell(h, f->normal.amps);
	amps_cell(h, f->worst.amps);
	buf_clear(&words);
	text_add_loss(&words, h->lang, v->report->audit, f->lost);
	html_cell(h, NULL, buf_text(&words));
	buf_clear(&words);
	number_add_share(&words, h->lang, f->worst.amps / f->limit_worst);
	html_cell(h, "num", buf_text(&words));
	html_row_end(h);
}

static void write_inputs(const struct html *h, const struct view_rack *v)
{
	html_heading(h, 3, TEXT_INPUTS);
	if (v->feeds.n) {
		html_table(h, FEEDS, COUNT(FEEDS));
		vec_each(&v->feeds, const struct view_feed, f)
			write_feed(h, v, f);
		html_table_end(h);
	}
	if (v->devices.n == 0)
		return;
	html_table(h, DEVICES, COUNT(DEVICES));
	vec_each(&v->devices, const struct view_device, d)
		write_device(h, v, d);
	html_table_end(h);
}

static void write_title(const struct html *h, const struct view_rack *v)
{
	AUTO_BUF title;

	buf_init(&title, 1u << 12);
	text_add(&title, h->lang, TEXT_RACK_TITLE, v->rack->name);
	buf_addf(h->out, "<section class=\"rack\" id=\"rack-%zu\">\n<h2>", v->of->rack + 1);
	html_text(h, buf_text(&title));
	buf_add_char(h->out, ' ');
	html_badge(h, v->of->verdict);
	buf_add_text(h->out, "</h2>\n<p class=\"back\"><a href=\"#summary\">");
	html_text(h, text_get(h->lang, TEXT_BACK));
	buf_add_text(h->out, "</a></p>\n");
}

void html_audit_rack(
	const struct html *h, const struct audit_report *r, const struct audit_rack *of)
{
	struct view_rack v;

	view_rack_make(r, of, &v);
	write_title(h, &v);
	write_figures(h, of);
	write_pictures(h, &v);
	html_heading(h, 3, TEXT_FINDINGS);
	html_audit_findings(h, r->audit, of->first, of->n);
	write_fixes(h, &v);
	html_audit_passed(h, r->audit, of->first, of->n);
	write_unjudged(h, &v);
	write_inputs(h, &v);
	buf_add_text(h->out, "</section>\n");
	view_rack_done(&v);
}
