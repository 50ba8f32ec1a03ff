/* audit_table - for a terminal: racks as a table, then what is wrong with each, wrapped. */
#include "agent/base/buf.h"
#include "inventory/report/audit_report.h"
#include "inventory/report/view.h"

#include <stdio.h>

#define WIDTH  80 /* where the terminal's is not known, for sentences */
#define INDENT 8

struct text_out {
	struct buf *out;
	enum text_lang lang;
	unsigned width;
};

static size_t letters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

static struct str next_word(struct str *s)
{
	const size_t at = str_find(*s, ' ');
	const struct str word = str_first(*s, at);

	*s = at == STR_NONE ? (struct str){NULL, 0} : str_from(*s, at + 1);
	return word;
}

static void trim_end(struct buf *out)
{
	while (out->n && out->p[out->n - 1] == ' ')
		out->p[--out->n] = '\0';
}

/* Words of text behind label, all lines of it indented. */
static void put_lines(const struct text_out *t, size_t indent, const char *label, const char *text)
{
	AUTO_BUF plain;
	struct str rest;
	size_t at = indent, used = letters(str_of(label));

	buf_init(&plain, 1u << 16);
	buf_add_printable(&plain, str_of(text));
	rest = buf_str(&plain);
	if (used < indent) {
		buf_addf(t->out, "%s%*s", label, (int)(indent - used), "");
	} else if (used) {
		buf_addf(t->out, "%s ", label);
		at = used + 1;
	}
	while (rest.n) {
		const struct str word = next_word(&rest);
		const size_t n = letters(word);

		if (at + n > t->width && at > indent) {
			trim_end(t->out);
			buf_addf(t->out, "\n%*s", (int)indent, "");
			at = indent;
		}
		buf_add_str(t->out, word);
		at += n;
		if (rest.n && at < t->width) {
			buf_add_char(t->out, ' ');
			at++;
		}
	}
	trim_end(t->out);
	buf_add_char(t->out, '\n');
}

static void put_wrapped(const struct text_out *t, const char *label, const char *text)
{
	put_lines(t, INDENT, label, text);
}

/* --- racks --- */

enum {
	COL_RACK,
	COL_VERDICT,
	COL_KW,
	COL_HEAT,
	COL_USED,
	COL_BINDS
};
static const struct column RACKS[] = {
	[COL_RACK] = {"rack", TEXT_RACK, COL_TRUNC},
	[COL_VERDICT] = {"verdict", TEXT_VERDICT_HEAD, 0},
	[COL_KW] = {"watts", TEXT_KW_MAX, COL_RIGHT},
	[COL_HEAT] = {"heat_w", TEXT_HEAT_HEAD, COL_RIGHT},
	[COL_USED] = {"units", TEXT_UNITS, COL_RIGHT},
	[COL_BINDS] = {"binding", TEXT_BINDS_HEAD, COL_WRAP},
};

static void put_kw(struct table *t, unsigned col, enum text_lang lang, double watts)
{
	AUTO_BUF text;

	buf_init(&text, 64);
	number_add(&text, lang, watts / 1000, 1);
	table_text(t, col, buf_text(&text));
}

static void put_rack(
	struct table *t, const struct audit *a, const struct audit_rack *k, enum text_lang lang)
{
	char used[48];
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	table_row(t);
	table_text(t, COL_RACK, a->model->racks.at[k->rack].name);
	table_text(t, COL_VERDICT, text_verdict(lang, k->verdict));
	put_kw(t, COL_KW, lang, k->watts);
	put_kw(t, COL_HEAT, lang, k->heat_w);
	snprintf(used, sizeof used, "%u/%u", k->units_used, a->model->racks.at[k->rack].height_u);
	table_text(t, COL_USED, used);
	if (k->binding < a->findings.n)
		view_add_binding(&text, lang, a, &a->findings.at[k->binding]);
	table_text(t, COL_BINDS, buf_text(&text));
}

/* --- what is wrong --- */

static void put_finding(const struct text_out *t, const struct audit *a, const struct finding *f)
{
	char label[64], more[16];
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	snprintf(label, sizeof label, "  %s", text_verdict(t->lang, f->verdict));
	view_add_binding(&text, t->lang, a, f);
	if (f->loss.noun >= NOUN_N || f->loss.noun != f->subject.noun ||
		f->loss.row != f->subject.row) {
		buf_add_text(&text, "; ");
		text_add_loss(&text, t->lang, a, f->loss);
	}
	put_wrapped(t, label, buf_text(&text));
	buf_clear(&text);
	phrase_add(&text, t->lang, f->text ? f->text : "");
	if (f->assumes) {
		AUTO_BUF assumed;

		buf_init(&assumed, 1u << 12);
		phrase_add(&assumed, t->lang, f->assumes);
		buf_add_text(&text, text.n ? "; " : "");
		text_add(&text, t->lang, TEXT_ASSUMES, buf_text(&assumed));
	}
	if (f->more) {
		snprintf(more, sizeof more, "%u", f->more);
		buf_add_text(&text, "; ");
		text_add(&text, t->lang, TEXT_MORE, more);
	}
	if (text.n)
		put_wrapped(t, "", buf_text(&text));
}

static unsigned put_findings(
	const struct text_out *t, const struct audit *a, size_t first, size_t n, const char *title)
{
	unsigned bad = 0;

	for (unsigned v = AUDIT_VERDICT_N; v-- > AUDIT_WARN;) {
		for (size_t i = first; i < first + n; i++) {
			if ((unsigned)a->findings.at[i].verdict != v)
				continue;
			if (bad++ == 0)
				buf_addf(t->out, "\n%s\n", title);
			put_finding(t, a, &a->findings.at[i]);
		}
	}
	return bad;
}

static void put_fixes(const struct text_out *t, const struct audit_report *r, size_t rack)
{
	unsigned n = 0;
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	for (size_t i = 0; i < r->n_fixes; i++) {
		if (r->fixes[i].rack != rack)
			continue;
		if (n++ == 0)
			buf_addf(t->out, "  %s\n", text_get(t->lang, TEXT_FIXES));
		buf_clear(&text);
		phrase_add(&text, t->lang, r->fixes[i].text);
		buf_addf(&text, " → %s", text_verdict(t->lang, r->fixes[i].after));
		put_wrapped(t, "      -", buf_text(&text));
	}
}

/* What the table alone does not explain. */
static void put_heat_note(const struct text_out *t, const struct audit *a)
{
	vec_each(&a->racks, const struct audit_rack, k) {
		if (k->heat_w > k->watts * 1.005) {
			buf_add_char(t->out, '\n');
			put_lines(t, 0, "", text_get(t->lang, TEXT_NOTE_HEAT));
			return;
		}
	}
}

static void put_lost(const struct text_out *t, const struct audit *a)
{
	AUTO_BUF text;

	buf_init(&text, 1u << 13);
	view_add_lost(&text, t->lang, a);
	if (text.n == 0)
		return;
	put_lines(t, 0, "", buf_text(&text));
	buf_add_char(t->out, '\n');
}

static void put_terms(const struct text_out *t, const struct audit *a)
{
	AUTO_BUF text;

	buf_init(&text, 1u << 12);
	text_add(&text, t->lang, TEXT_FROM_POLICY, a->policy.name);
	buf_add_text(&text, "; ");
	text_add(&text, t->lang, TEXT_ON_BASIS, text_basis(t->lang, a->basis));
	buf_addf(&text, "; %s ", text_get(t->lang, TEXT_F_FACTOR));
	number_add(&text, t->lang, a->policy.power_factor, 2);
	if (a->policy.assumed_power_factor)
		buf_addf(&text, " (%s)", text_get(t->lang, TEXT_ASSUMED));
	buf_add_char(t->out, '\n');
	put_lines(t, 0, "", buf_text(&text));
}

/* Each fact that was assumed, and who uses it or where it is from. */
static void put_assumed(const struct text_out *t, const struct audit *a)
{
	struct arena *arena = arena_new();
	struct view_lines lines = VEC_INIT;
	char label[64];
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	view_assumed(a, t->lang, arena, &lines);
	snprintf(label, sizeof label, "%s:", text_get(t->lang, TEXT_ASSUMED));
	vec_each(&lines, const struct view_line, l) {
		buf_clear(&text);
		buf_addf(&text, "%s (%s)", l->what, l->value);
		put_wrapped(t, label, buf_text(&text));
	}
	vec_done(&lines);
	arena_free(arena);
}

static void print_audit(const struct audit_report *r, const struct report_opts *o, struct buf *out)
{
	const struct audit *a = r->audit;
	const struct text_out t = {
		out, o->lang < LANG_N ? o->lang : LANG_EN, o->width ? o->width : WIDTH};
	struct table *table = table_new(RACKS, sizeof RACKS / sizeof *RACKS, o);
	AUTO_BUF title;

	buf_init(&title, 1u << 12);
	put_lost(&t, a);
	vec_each(&a->racks, const struct audit_rack, k)
		put_rack(table, a, k, t.lang);
	table_print(table, out);
	table_free(table);
	put_heat_note(&t, a);
	put_findings(&t, a, a->site_first, a->site_n, text_get(t.lang, TEXT_SITE_FINDINGS));
	vec_each(&a->racks, const struct audit_rack, k) {
		buf_clear(&title);
		text_add(&title, t.lang, TEXT_RACK_TITLE, a->model->racks.at[k->rack].name);
		put_findings(&t, a, k->first, k->n, buf_text(&title));
		put_fixes(&t, r, k->rack);
	}
	put_terms(&t, a);
	put_assumed(&t, a);
}

void report_audit(const struct audit_report *r, const struct report_opts *o, struct buf *out)
{
	if (o->json)
		report_audit_json(r, out);
	else if (r->audit->racks.n == 0)
		buf_addf(out, "%s\n", text_get(o->lang, TEXT_NO_RACKS));
	else
		print_audit(r, o, out);
}
