/* html_audit - the site: verdict, racks at a glance, terms, legend, rules; racks by html_rack. */
#include "inventory/report/html_audit_priv.h"
#include "inventory/report/palette.h"

#include <stdio.h>

#define COUNT(list) (unsigned)(sizeof(list) / sizeof *(list))

static void add_counts(struct buf *out, enum text_lang lang, const struct audit *a)
{
	for (unsigned v = AUDIT_VERDICT_N; v-- > 0;)
		if (a->count[v])
			buf_addf(out, "%s%s\u00a0%u", out->n ? ", " : "",
				text_verdict(lang, (enum audit_verdict)v), a->count[v]);
}

static void write_meta(const struct html *h, const struct audit_report *r)
{
	const struct model *m = r->audit->model;
	AUTO_BUF line;

	buf_init(&line, 1u << 16);
	if (m->about) {
		html_element(h, "p", NULL, m->about);
	}
	if (r->when) {
		text_add(&line, h->lang, TEXT_GENERATED, r->when);
		buf_add_text(&line, m->file ? ", " : "");
	}
	if (m->file)
		text_add(&line, h->lang, TEXT_FILE_NAMED, m->file);
	buf_add_text(&line, line.n ? "; " : "");
	text_add(&line, h->lang, TEXT_FROM_POLICY, r->audit->policy.name);
	buf_add_text(&line, "; ");
	text_add(&line, h->lang, TEXT_ON_BASIS, text_basis(h->lang, r->audit->basis));
	html_element(h, "p", "meta", buf_text(&line));
}

static void write_head(const struct html *h, const struct audit_report *r)
{
	AUTO_BUF line;
	AUTO_BUF counts;

	buf_init(&line, 1u << 16);
	buf_init(&counts, 1u << 12);
	buf_add_text(h->out, "<header>\n");
	html_heading(h, 1, TEXT_AUDIT_TITLE);
	text_add(
		&line, h->lang, TEXT_AUDIT_OF, r->audit->model->site ? r->audit->model->site : "–");
	html_element(h, "p", "overall", buf_text(&line));
	buf_clear(&line);
	view_add_lost(&line, h->lang, r->audit);
	if (line.n)
		html_element(h, "p", "overall", buf_text(&line));
	write_meta(h, r);
	buf_clear(&line);
	add_counts(&counts, h->lang, r->audit);
	text_add(&line, h->lang, TEXT_RACKS_BY_VERDICT, buf_text(&counts));
	buf_add_text(h->out, "<p class=\"overall\">");
	html_badge(h, r->audit->verdict);
	html_text(h, buf_text(&line));
	buf_add_text(h->out, "</p>\n</header>\n");
}

/* --- racks at a glance --- */

static const struct html_column SUMMARY[] = {
	{TEXT_C_RACK, "tight"},
	{TEXT_VERDICT, NULL},
	{TEXT_C_BINDS, NULL},
	{TEXT_C_LOAD, "num"},
	{TEXT_C_HEAT, "num"},
	{TEXT_C_UNITS, "num"},
	{TEXT_C_MASS, "num"},
	{TEXT_C_DEVICES, "num"},
};

static void number_cell(const struct html *h, double v, const char *unit)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	number_add_unit(&text, h->lang, v, unit);
	html_cell(h, "num", buf_text(&text));
}

static void write_binding(const struct html *h, const struct audit *a, size_t binding)
{
	AUTO_BUF text;

	buf_init(&text, 1u << 16);
	if (binding < a->findings.n) {
		const struct finding *f = &a->findings.at[binding];

		view_add_binding(&text, h->lang, a, f);
		if (f->loss.noun < NOUN_N) {
			buf_add_text(&text, "; ");
			text_add_loss(&text, h->lang, a, f->loss);
		}
	}
	html_cell(h, NULL, buf_text(&text));
}

static void write_summary_row(
	const struct html *h, const struct audit *a, const struct audit_rack *k)
{
	const struct rack *rack = &a->model->racks.at[k->rack];
	char text[64];
	AUTO_BUF mass;

	buf_init(&mass, 256);
	html_row(h, NULL);
	buf_addf(h->out, "<td class=\"tight\"><a href=\"#rack-%zu\"><b>", k->rack + 1);
	html_text(h, rack->name);
	buf_add_text(h->out, "</b></a></td>");
	html_cell_verdict(h, k->verdict);
	write_binding(h, a, k->binding);
	number_cell(h, k->watts, "W");
	number_cell(h, k->heat_w, "W");
	snprintf(text, sizeof text, "%u/%u", k->units_used, rack->height_u);
	html_cell(h, "num", text);
	view_add_mass(&mass, h->lang, k->kg);
	html_cell(h, "num", buf_text(&mass));
	snprintf(text, sizeof text, "%u", k->devices);
	html_cell(h, "num", text);
	html_row_end(h);
}

static void write_summary(const struct html *h, const struct audit *a)
{
	buf_add_text(h->out, "<section id=\"summary\">\n");
	html_heading(h, 2, TEXT_SUMMARY);
	html_table(h, SUMMARY, COUNT(SUMMARY));
	vec_each(&a->racks, const struct audit_rack, k)
		write_summary_row(h, a, k);
	html_table_end(h);
	buf_add_text(h->out, "</section>\n");
}

static void write_site_findings(const struct html *h, const struct audit *a)
{
	if (a->site_n == 0)
		return;
	buf_add_text(h->out, "<section>\n");
	html_heading(h, 2, TEXT_SITE_FINDINGS);
	html_audit_findings(h, a, a->site_first, a->site_n);
	html_audit_passed(h, a, a->site_first, a->site_n);
	buf_add_text(h->out, "</section>\n");
}

/* --- terms, legend, rules --- */

static const struct html_column TERMS[] = {
	{TEXT_C_WHAT, NULL}, {TEXT_C_VALUE, NULL}, {TEXT_C_ORIGIN, "tight"}};
static const struct html_column ASSUMED[] = {
	{TEXT_C_ASSUMED, NULL}, {TEXT_C_USED, NULL}, {TEXT_C_ORIGIN, "tight"}};

static void write_lines(
	const struct html *h, const struct html_column *columns, const struct view_lines *lines)
{
	html_table(h, columns, 3);
	vec_each(lines, const struct view_line, l) {
		html_row(h, l->assumed ? "assumed" : NULL);
		html_cell(h, NULL, l->what);
		html_cell(h, NULL, l->value);
		html_cell(h, columns[2].class, l->origin);
		html_row_end(h);
	}
	html_table_end(h);
}

static void write_terms(const struct html *h, const struct audit *a)
{
	struct arena *arena = arena_new();
	struct view_lines terms = VEC_INIT, assumed = VEC_INIT;

	view_terms(a, h->lang, arena, &terms);
	view_assumed(a, h->lang, arena, &assumed);
	buf_add_text(h->out, "<section>\n");
	html_heading(h, 2, TEXT_TERMS);
	write_lines(h, TERMS, &terms);
	if (assumed.n) {
		html_heading(h, 3, TEXT_ASSUMED_FACTS);
		html_element(h, "p", "note", text_get(h->lang, TEXT_ASSUMED_NOTE));
		write_lines(h, ASSUMED, &assumed);
	}
	buf_add_text(h->out, "</section>\n");
	vec_done(&terms);
	vec_done(&assumed);
	arena_free(arena);
}

static void write_legend(const struct html *h)
{
	buf_add_text(h->out, "<section>\n");
	html_heading(h, 2, TEXT_LEGEND);
	buf_add_text(h->out, "<table>\n<tbody>\n");
	for (unsigned v = 0; v < AUDIT_VERDICT_N; v++) {
		html_row(h, NULL);
		html_cell_verdict(h, (enum audit_verdict)v);
		html_cell(h, NULL, text_verdict_means(h->lang, (enum audit_verdict)v));
		html_row_end(h);
	}
	html_table_end(h);
	buf_add_text(h->out, "</section>\n");
}

static const struct html_column RULES[] = {{TEXT_C_RULE, NULL}, {TEXT_C_ASKS, NULL},
	{TEXT_C_FORMULA, NULL}, {TEXT_C_SOURCE, NULL}, {TEXT_C_CONFIDENCE, NULL}};

static void write_rules(const struct html *h)
{
	AUTO_BUF formula;

	buf_init(&formula, 1024);
	buf_add_text(h->out, "<section class=\"rack\">\n");
	html_heading(h, 2, TEXT_RULES);
	html_table(h, RULES, COUNT(RULES));
	for (unsigned i = 0; i < RULE_N; i++) {
		const struct audit_rule_about *about = audit_rule_about((enum audit_rule)i);

		html_row(h, NULL);
		html_cell(h, NULL, text_rule_title(h->lang, (enum audit_rule)i));
		html_cell(h, NULL, text_rule_asks(h->lang, (enum audit_rule)i));
		buf_clear(&formula);
		phrase_add(&formula, h->lang, about->formula);
		html_cell(h, "calc", buf_text(&formula));
		buf_clear(&formula);
		phrase_add_source(&formula, h->lang, about->source);
		html_cell(h, NULL, buf_text(&formula));
		html_cell(h, NULL, text_confidence(h->lang, about->confidence));
		html_row_end(h);
	}
	html_table_end(h);
	buf_add_text(h->out, "</section>\n");
}

void report_audit_html(const struct audit_report *r, enum text_lang lang, struct buf *out)
{
	const struct html h = {out, lang < LANG_N ? lang : LANG_EN};
	AUTO_BUF title;

	buf_init(&title, 1u << 12);
	buf_addf(&title, "%s: %s", r->audit->model->site ? r->audit->model->site : "",
		text_get(h.lang, TEXT_AUDIT_TITLE));
	html_begin(&h, buf_text(&title));
	write_head(&h, r);
	buf_add_text(out, "<main>\n");
	write_summary(&h, r->audit);
	write_site_findings(&h, r->audit);
	write_legend(&h);
	write_terms(&h, r->audit);
	vec_each(&r->audit->racks, const struct audit_rack, k)
		html_audit_rack(&h, r, k);
	write_rules(&h);
	buf_add_text(out, "</main>\n");
	html_end(&h);
}
