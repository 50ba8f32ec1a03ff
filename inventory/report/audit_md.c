/* audit_md - the audit as Markdown: tables by pipes, which every renderer knows. */
#include "agent/base/buf.h"
#include "inventory/report/audit_report.h"
#include "inventory/report/view.h"

#include <stdio.h>

struct md {
	struct buf *out;
	enum text_lang lang;
	const struct audit_report *r;
};

/* Text that means nothing to Markdown, on one line. */
static void add_text(const struct md *md, const char *text)
{
	AUTO_BUF plain;

	buf_init(&plain, 1u << 20);
	buf_add_printable(&plain, str_of(text));
	for (size_t i = 0; i < plain.n; i++) {
		const char c = plain.p[i];

		if (c == '<' || c == '>' || c == '&')
			buf_add_text(md->out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
		else if (c == '|' || c == '*' || c == '_' || c == '`' || c == '[' || c == ']' ||
			 c == '\\')
			buf_addf(md->out, "\\%c", c);
		else
			buf_add_char(md->out, c);
	}
}

static void heading(const struct md *md, unsigned level, const char *text)
{
	buf_addf(md->out, "\n%.*s ", (int)level, "####");
	add_text(md, text);
	buf_add_text(md->out, "\n\n");
}

static void head_row(const struct md *md, const enum text_key *heads, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_addf(md->out, "| %s ", text_get(md->lang, heads[i]));
	buf_add_text(md->out, "|\n");
	for (unsigned i = 0; i < n; i++)
		buf_add_text(md->out, "|---");
	buf_add_text(md->out, "|\n");
}

static void cell(const struct md *md, const char *text)
{
	buf_add_text(md->out, "| ");
	add_text(md, text && *text ? text : "–");
	buf_add_char(md->out, ' ');
}

static void row_end(const struct md *md)
{
	buf_add_text(md->out, "|\n");
}

static void number_cell(const struct md *md, double v, const char *unit)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	number_add_unit(&text, md->lang, v, unit);
	cell(md, buf_text(&text));
}

/* --- the site --- */

static void write_head(const struct md *md)
{
	const struct audit *a = md->r->audit;
	AUTO_BUF line;

	buf_init(&line, 1u << 16);
	buf_addf(md->out, "# %s\n\n", text_get(md->lang, TEXT_AUDIT_TITLE));
	text_add(&line, md->lang, TEXT_AUDIT_OF, a->model->site ? a->model->site : "–");
	add_text(md, buf_text(&line));
	buf_addf(md->out, ": **%s**\n\n", text_verdict(md->lang, a->verdict));
	buf_clear(&line);
	view_add_lost(&line, md->lang, a);
	if (line.n) {
		add_text(md, buf_text(&line));
		buf_add_text(md->out, "\n\n");
		buf_clear(&line);
	}
	if (md->r->when) {
		text_add(&line, md->lang, TEXT_GENERATED, md->r->when);
		buf_add_text(&line, "; ");
	}
	text_add(&line, md->lang, TEXT_FROM_POLICY, a->policy.name);
	buf_add_text(&line, "; ");
	text_add(&line, md->lang, TEXT_ON_BASIS, text_basis(md->lang, a->basis));
	add_text(md, buf_text(&line));
	buf_add_char(md->out, '\n');
}

static void write_summary(const struct md *md)
{
	static const enum text_key heads[] = {TEXT_C_RACK, TEXT_VERDICT, TEXT_C_BINDS, TEXT_C_LOAD,
		TEXT_C_HEAT, TEXT_C_UNITS, TEXT_C_MASS};
	const struct audit *a = md->r->audit;
	char units[64];
	AUTO_BUF text;

	buf_init(&text, 1u << 16);
	heading(md, 2, text_get(md->lang, TEXT_SUMMARY));
	head_row(md, heads, sizeof heads / sizeof *heads);
	vec_each(&a->racks, const struct audit_rack, k) {
		const struct rack *rack = &a->model->racks.at[k->rack];

		cell(md, rack->name);
		cell(md, text_verdict(md->lang, k->verdict));
		buf_clear(&text);
		if (k->binding < a->findings.n)
			view_add_binding(&text, md->lang, a, &a->findings.at[k->binding]);
		cell(md, buf_text(&text));
		number_cell(md, k->watts, "W");
		number_cell(md, k->heat_w, "W");
		snprintf(units, sizeof units, "%u/%u", k->units_used, rack->height_u);
		cell(md, units);
		buf_clear(&text);
		view_add_mass(&text, md->lang, k->kg);
		cell(md, buf_text(&text));
		row_end(md);
	}
}

static void write_lines(const struct md *md, const enum text_key *heads, const struct view_lines *l)
{
	head_row(md, heads, 3);
	vec_each(l, const struct view_line, line) {
		cell(md, line->what);
		cell(md, line->value);
		cell(md, line->origin);
		row_end(md);
	}
}

static void write_terms(const struct md *md)
{
	static const enum text_key terms_heads[] = {TEXT_C_WHAT, TEXT_C_VALUE, TEXT_C_ORIGIN};
	static const enum text_key assumed_heads[] = {TEXT_C_ASSUMED, TEXT_C_USED, TEXT_C_ORIGIN};
	struct arena *arena = arena_new();
	struct view_lines terms = VEC_INIT, assumed = VEC_INIT;

	view_terms(md->r->audit, md->lang, arena, &terms);
	view_assumed(md->r->audit, md->lang, arena, &assumed);
	heading(md, 2, text_get(md->lang, TEXT_TERMS));
	write_lines(md, terms_heads, &terms);
	if (assumed.n) {
		heading(md, 3, text_get(md->lang, TEXT_ASSUMED_FACTS));
		write_lines(md, assumed_heads, &assumed);
	}
	vec_done(&terms);
	vec_done(&assumed);
	arena_free(arena);
}

/* --- findings --- */

static void write_finding(const struct md *md, const struct finding *f)
{
	const struct audit *a = md->r->audit;
	AUTO_BUF text;

	buf_init(&text, 1u << 16);
	cell(md, text_verdict(md->lang, f->verdict));
	view_add_binding(&text, md->lang, a, f);
	cell(md, buf_text(&text));
	buf_clear(&text);
	text_add_loss(&text, md->lang, a, f->loss);
	cell(md, buf_text(&text));
	buf_clear(&text);
	phrase_add(&text, md->lang, f->text ? f->text : "");
	if (f->assumes) {
		AUTO_BUF assumed;

		buf_init(&assumed, 1u << 14);
		phrase_add(&assumed, md->lang, f->assumes);
		buf_add_text(&text, text.n ? "; " : "");
		text_add(&text, md->lang, TEXT_ASSUMES, buf_text(&assumed));
	}
	cell(md, buf_text(&text));
	row_end(md);
}

/* The worst first, those that pass last. */
static void write_findings(const struct md *md, size_t first, size_t n)
{
	static const enum text_key heads[] = {
		TEXT_VERDICT, TEXT_C_RULE, TEXT_C_SCENARIO, TEXT_C_ARITHMETIC};

	if (n == 0)
		return;
	head_row(md, heads, sizeof heads / sizeof *heads);
	for (unsigned v = AUDIT_VERDICT_N; v-- > 0;)
		for (size_t i = first; i < first + n; i++)
			if ((unsigned)md->r->audit->findings.at[i].verdict == v)
				write_finding(md, &md->r->audit->findings.at[i]);
}

static void write_feeds(const struct md *md, const struct view_rack *v)
{
	static const enum text_key heads[] = {TEXT_C_FEED, TEXT_C_VOLTS, TEXT_C_LIMIT,
		TEXT_C_NORMAL, TEXT_C_WORST, TEXT_C_SCENARIO, TEXT_C_SHARE};
	const struct model *m = md->r->audit->model;
	AUTO_BUF text;

	buf_init(&text, 1u << 12);
	heading(md, 3, text_get(md->lang, TEXT_LOADS));
	head_row(md, heads, sizeof heads / sizeof *heads);
	vec_each(&v->feeds, const struct view_feed, f) {
		cell(md, m->feeds.at[f->feed].name);
		buf_clear(&text);
		view_add_circuit(&text, md->lang, &m->feeds.at[f->feed]);
		cell(md, buf_text(&text));
		number_cell(md, f->limit_worst, "A");
		number_cell(md, f->normal.amps, "A");
		number_cell(md, f->worst.amps, "A");
		buf_clear(&text);
		text_add_loss(&text, md->lang, md->r->audit, f->lost);
		cell(md, buf_text(&text));
		buf_clear(&text);
		number_add_share(&text, md->lang, f->worst.amps / f->limit_worst);
		cell(md, buf_text(&text));
		row_end(md);
	}
}

static void write_fixes(const struct md *md, size_t rack)
{
	unsigned n = 0;
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	for (size_t i = 0; i < md->r->n_fixes; i++) {
		const struct audit_fix *f = &md->r->fixes[i];

		if (f->rack != rack)
			continue;
		if (n++ == 0)
			heading(md, 3, text_get(md->lang, TEXT_FIXES));
		buf_clear(&text);
		phrase_add(&text, md->lang, f->text);
		buf_add_text(md->out, "- ");
		add_text(md, buf_text(&text));
		buf_addf(md->out, " → **%s**\n", text_verdict(md->lang, f->after));
	}
}

static void write_devices(const struct md *md, const struct view_rack *v)
{
	static const enum text_key heads[] = {
		TEXT_C_DEVICE, TEXT_C_UNIT, TEXT_C_TYPE, TEXT_C_WATTS, TEXT_C_ORIGIN, TEXT_C_CORDS};
	const struct audit *a = md->r->audit;
	char unit[32];
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	heading(md, 3, text_get(md->lang, TEXT_INPUTS));
	head_row(md, heads, sizeof heads / sizeof *heads);
	vec_each(&v->devices, const struct view_device, d) {
		const struct device *box = &a->model->devices.at[d->device];

		cell(md, box->name);
		snprintf(unit, sizeof unit, box->half_up ? "%u.5" : "%u", box->position);
		cell(md, box->position ? unit : NULL);
		cell(md, a->model->types.at[box->type].name);
		number_cell(md, d->power.watts, "W");
		buf_clear(&text);
		view_add_origin(&text, md->lang, &d->power);
		cell(md, buf_text(&text));
		buf_clear(&text);
		view_add_cords(&text, a, d->device);
		cell(md, buf_text(&text));
		row_end(md);
	}
}

static void write_rack(const struct md *md, const struct audit_rack *k)
{
	struct view_rack v;
	AUTO_BUF title;

	buf_init(&title, 1u << 12);
	view_rack_make(md->r, k, &v);
	text_add(&title, md->lang, TEXT_RACK_TITLE, v.rack->name);
	buf_addf(&title, ": %s", text_verdict(md->lang, k->verdict));
	heading(md, 2, buf_text(&title));
	write_findings(md, k->first, k->n);
	write_fixes(md, k->rack);
	write_feeds(md, &v);
	write_devices(md, &v);
	view_rack_done(&v);
}

void report_audit_md(const struct audit_report *r, enum text_lang lang, struct buf *out)
{
	const struct md md = {out, lang < LANG_N ? lang : LANG_EN, r};

	write_head(&md);
	write_summary(&md);
	if (r->audit->site_n) {
		heading(&md, 2, text_get(md.lang, TEXT_SITE_FINDINGS));
		write_findings(&md, r->audit->site_first, r->audit->site_n);
	}
	write_terms(&md);
	vec_each(&r->audit->racks, const struct audit_rack, k)
		write_rack(&md, k);
}
