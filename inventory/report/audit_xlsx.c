/* audit_xlsx - the audit as a workbook: figures stay figures, so that they can be reckoned with. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/report/audit_report.h"
#include "inventory/report/palette.h"
#include "inventory/report/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xlsxwriter.h>

#define CELL_MAX 32000 /* bytes; Excel's own limit is a little above */

enum style {
	STYLE_HEAD,
	STYLE_TEXT,
	STYLE_WRAP,
	STYLE_WHOLE,
	STYLE_FIGURE,
	STYLE_SHARE,
	STYLE_VERDICT, /* and the verdicts behind it */
	STYLE_N = STYLE_VERDICT + AUDIT_VERDICT_N
};

struct book {
	lxw_workbook *book;
	lxw_worksheet *sheet;
	lxw_format *styles[STYLE_N];
	lxw_row_t row;
	lxw_col_t col;
	const struct audit_report *r;
	enum text_lang lang;
};

struct sheet_column {
	enum text_key head;
	double width;
};

static void make_styles(struct book *b)
{
	static const char *const figures[] = {
		[STYLE_WHOLE] = "#,##0", [STYLE_FIGURE] = "#,##0.00", [STYLE_SHARE] = "0%"};

	for (unsigned i = 0; i < STYLE_N; i++) {
		b->styles[i] = workbook_add_format(b->book);
		format_set_align(b->styles[i], LXW_ALIGN_VERTICAL_TOP);
	}
	format_set_bold(b->styles[STYLE_HEAD]);
	format_set_text_wrap(b->styles[STYLE_HEAD]);
	format_set_bg_color(b->styles[STYLE_HEAD], 0xe9edf0);
	format_set_bottom(b->styles[STYLE_HEAD], LXW_BORDER_THIN);
	format_set_text_wrap(b->styles[STYLE_WRAP]);
	for (unsigned i = STYLE_WHOLE; i <= STYLE_SHARE; i++)
		format_set_num_format(b->styles[i], figures[i]);
	for (unsigned v = 0; v < AUDIT_VERDICT_N; v++) {
		const struct verdict_colour c = palette_verdict(v);
		lxw_format *f = b->styles[STYLE_VERDICT + v];

		format_set_bold(f);
		format_set_font_color(f, (lxw_color_t)strtoul(c.ink + 1, NULL, 16));
		format_set_bg_color(f, (lxw_color_t)strtoul(c.tint + 1, NULL, 16));
	}
}

/* --- cells, from the left --- */

static void put_text(struct book *b, enum style style, const char *text)
{
	AUTO_BUF plain;

	buf_init(&plain, CELL_MAX);
	buf_add_printable(&plain, str_of(text));
	worksheet_write_string(b->sheet, b->row, b->col++, buf_text(&plain), b->styles[style]);
}

static void put_number(struct book *b, enum style style, double v)
{
	if (isfinite(v))
		worksheet_write_number(b->sheet, b->row, b->col, v, b->styles[style]);
	b->col++;
}

static void put_verdict(struct book *b, enum audit_verdict v)
{
	put_text(b, STYLE_VERDICT + v, text_verdict(b->lang, v));
}

static void next_row(struct book *b)
{
	b->row++;
	b->col = 0;
}

static void put_subject(struct book *b, struct audit_subject what)
{
	AUTO_BUF text;

	buf_init(&text, 1u << 12);
	text_add_subject(&text, b->lang, b->r->audit->model, what);
	put_text(b, STYLE_TEXT, buf_text(&text));
}

static void put_loss(struct book *b, struct audit_subject lost)
{
	AUTO_BUF text;

	buf_init(&text, 1u << 12);
	text_add_loss(&text, b->lang, b->r->audit, lost);
	put_text(b, STYLE_TEXT, buf_text(&text));
}

/* Heads in the first row, which stays in sight and on each printed page. */
static void open_sheet(
	struct book *b, enum text_key name, const struct sheet_column *columns, unsigned n)
{
	b->sheet = workbook_add_worksheet(b->book, text_get(b->lang, name));
	b->row = 0;
	b->col = 0;
	for (unsigned i = 0; i < n; i++) {
		worksheet_set_column(b->sheet, (lxw_col_t)i, (lxw_col_t)i, columns[i].width, NULL);
		put_text(b, STYLE_HEAD, text_get(b->lang, columns[i].head));
	}
	next_row(b);
	worksheet_freeze_panes(b->sheet, 1, 0);
	worksheet_repeat_rows(b->sheet, 0, 0);
	worksheet_set_landscape(b->sheet);
	worksheet_set_paper(b->sheet, 9);
	worksheet_fit_to_pages(b->sheet, 1, 0);
}

static void close_sheet(struct book *b, unsigned columns)
{
	if (b->row > 1)
		worksheet_autofilter(b->sheet, 0, 0, b->row - 1, (lxw_col_t)(columns - 1));
}

#define SHEET(b, name, columns) open_sheet(b, name, columns, sizeof(columns) / sizeof *(columns))
#define SHEET_END(b, columns)   close_sheet(b, sizeof(columns) / sizeof *(columns))

/* --- sheets --- */

static void write_summary(struct book *b)
{
	static const struct sheet_column columns[] = {{TEXT_C_RACK, 12}, {TEXT_VERDICT, 15},
		{TEXT_C_BINDS, 60}, {TEXT_C_LOAD_KW, 12}, {TEXT_C_HEAT_KW, 12}, {TEXT_C_UNITS, 12},
		{TEXT_C_UNITS_TOTAL, 12}, {TEXT_C_MASS_KG, 12}, {TEXT_C_DEVICES, 12}};
	const struct audit *a = b->r->audit;
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	SHEET(b, TEXT_S_SUMMARY, columns);
	vec_each(&a->racks, const struct audit_rack, k) {
		put_text(b, STYLE_TEXT, a->model->racks.at[k->rack].name);
		put_verdict(b, k->verdict);
		buf_clear(&text);
		if (k->binding < a->findings.n)
			view_add_binding(&text, b->lang, a, &a->findings.at[k->binding]);
		put_text(b, STYLE_WRAP, buf_text(&text));
		put_number(b, STYLE_FIGURE, k->watts / 1000);
		put_number(b, STYLE_FIGURE, k->heat_w / 1000);
		put_number(b, STYLE_WHOLE, k->units_used);
		put_number(b, STYLE_WHOLE, a->model->racks.at[k->rack].height_u);
		put_number(b, STYLE_FIGURE, k->kg > 0 ? k->kg : MODEL_UNSET);
		put_number(b, STYLE_WHOLE, k->devices);
		next_row(b);
	}
	SHEET_END(b, columns);
}

static void write_finding(struct book *b, const struct finding *f)
{
	const struct audit *a = b->r->audit;
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	put_text(b, STYLE_TEXT,
		f->rack == MODEL_NONE ? text_get(b->lang, TEXT_WHOLE_SITE)
				      : a->model->racks.at[f->rack].name);
	put_verdict(b, f->verdict);
	put_text(b, STYLE_WRAP, text_rule_title(b->lang, f->rule));
	put_subject(b, f->subject);
	put_text(b, STYLE_TEXT, f->line ? f->line : "");
	put_loss(b, f->loss);
	put_number(b, STYLE_FIGURE, f->value);
	put_number(b, STYLE_FIGURE, f->limit);
	put_text(b, STYLE_TEXT, f->unit ? number_unit(b->lang, f->unit) : "");
	put_number(b, STYLE_SHARE, f->limit > 0 ? f->value / f->limit : MODEL_UNSET);
	phrase_add(&text, b->lang, f->text ? f->text : "");
	put_text(b, STYLE_WRAP, buf_text(&text));
	buf_clear(&text);
	phrase_add(&text, b->lang, f->assumes ? f->assumes : "");
	put_text(b, STYLE_WRAP, buf_text(&text));
	put_text(b, STYLE_WRAP, f->verdict == AUDIT_PASS ? "" : text_rule_cure(b->lang, f->rule));
	next_row(b);
}

static void write_findings(struct book *b)
{
	static const struct sheet_column columns[] = {{TEXT_C_RACK, 12}, {TEXT_VERDICT, 15},
		{TEXT_C_RULE, 28}, {TEXT_C_SUBJECT, 24}, {TEXT_C_LINE, 7}, {TEXT_C_SCENARIO, 24},
		{TEXT_C_VALUE, 11}, {TEXT_C_LIMIT, 11}, {TEXT_C_VALUE_UNIT, 10}, {TEXT_C_SHARE, 10},
		{TEXT_C_ARITHMETIC, 70}, {TEXT_C_ASSUMED, 36}, {TEXT_CURES, 48}};

	SHEET(b, TEXT_S_FINDINGS, columns);
	vec_each(&b->r->audit->findings, const struct finding, f)
		write_finding(b, f);
	SHEET_END(b, columns);
}

static void write_load(struct book *b, uint32_t e)
{
	const struct audit *a = b->r->audit;
	const bool ups = a->graph.at[e].level == LEVEL_UPS;
	const struct element_load *normal = &a->loads.normal[e], *worst = view_worst(a, e);
	const struct element_load *most = &a->loads.by_watts[e];
	const double limit = audit_limit(a, e, true);
	const double most_w = most->watts > normal->watts ? most->watts : normal->watts;
	const uint32_t loss = ups ? most->loss : worst->loss;

	put_subject(b, sim_subject(&a->graph, e));
	put_number(b, STYLE_FIGURE, ups ? MODEL_UNSET : normal->amps);
	put_number(b, STYLE_FIGURE, ups ? MODEL_UNSET : worst->amps);
	put_number(b, STYLE_FIGURE, ups ? MODEL_UNSET : limit);
	put_number(b, STYLE_WHOLE, normal->watts);
	put_number(b, STYLE_WHOLE, most_w);
	put_number(b, STYLE_WHOLE, ups ? limit : MODEL_UNSET);
	put_number(b, STYLE_SHARE, limit > 0 ? (ups ? most_w : worst->amps) / limit : MODEL_UNSET);
	put_loss(b, loss < a->losses.n ? a->losses.at[loss] : (struct audit_subject){NOUN_N, 0});
	next_row(b);
}

static void write_loads(struct book *b)
{
	static const struct sheet_column columns[] = {{TEXT_C_ELEMENT, 28}, {TEXT_C_NORMAL_A, 13},
		{TEXT_C_WORST_A, 13}, {TEXT_C_LIMIT_A, 13}, {TEXT_C_NORMAL_W, 14},
		{TEXT_C_WORST_W, 14}, {TEXT_C_LIMIT_W, 14}, {TEXT_C_SHARE, 11},
		{TEXT_C_SCENARIO, 30}};
	const struct graph *g = &b->r->audit->graph;

	SHEET(b, TEXT_S_LOADS, columns);
	for (uint32_t e = g->base[LEVEL_N]; e-- > 0;)
		if (b->r->audit->loads.normal[e].watts > 0)
			write_load(b, e);
	SHEET_END(b, columns);
}

static void write_device(struct book *b, const struct view_rack *v, const struct view_device *d)
{
	const struct audit *a = b->r->audit;
	const struct device *box = &a->model->devices.at[d->device];
	const struct device_type *t = &a->model->types.at[box->type];
	AUTO_BUF text;

	buf_init(&text, 1u << 14);
	put_text(b, STYLE_TEXT, v->rack->name);
	put_text(b, STYLE_TEXT, box->name);
	put_verdict(b, d->verdict);
	put_text(b, STYLE_TEXT, t->name);
	put_number(b, STYLE_WHOLE, box->position ? box->position : MODEL_UNSET);
	put_number(b, STYLE_WHOLE, d->power.watts);
	view_add_origin(&text, b->lang, &d->power);
	put_text(b, STYLE_WRAP, buf_text(&text));
	put_number(b, STYLE_WHOLE, a->demands[d->device].psus);
	put_number(b, STYLE_WHOLE, a->demands[d->device].needed);
	put_number(b, STYLE_WHOLE, d->cords);
	buf_clear(&text);
	view_add_cords(&text, a, d->device);
	put_text(b, STYLE_WRAP, buf_text(&text));
	put_number(b, STYLE_FIGURE, model_stated(t->weight_kg) ? t->weight_kg : MODEL_UNSET);
	next_row(b);
}

static void write_devices(struct book *b)
{
	static const struct sheet_column columns[] = {{TEXT_C_RACK, 12}, {TEXT_C_DEVICE, 16},
		{TEXT_VERDICT, 15}, {TEXT_C_TYPE, 22}, {TEXT_C_UNIT, 8}, {TEXT_C_WATTS_W, 12},
		{TEXT_C_ORIGIN, 44}, {TEXT_C_PSU_COUNT, 8}, {TEXT_C_NEEDED, 10},
		{TEXT_C_CORD_COUNT, 9}, {TEXT_C_CORDS, 44}, {TEXT_C_MASS_KG, 10}};

	SHEET(b, TEXT_S_DEVICES, columns);
	vec_each(&b->r->audit->racks, const struct audit_rack, k) {
		struct view_rack v;

		view_rack_make(b->r, k, &v);
		vec_each(&v.devices, const struct view_device, d)
			write_device(b, &v, d);
		view_rack_done(&v);
	}
	SHEET_END(b, columns);
}

static void write_lines(struct book *b, const struct view_lines *lines)
{
	vec_each(lines, const struct view_line, l) {
		put_text(b, STYLE_WRAP, l->what);
		put_text(b, STYLE_WRAP, l->value);
		put_text(b, STYLE_WRAP, l->origin);
		next_row(b);
	}
}

static void write_assumptions(struct book *b)
{
	static const struct sheet_column columns[] = {
		{TEXT_C_WHAT, 60}, {TEXT_C_VALUE, 60}, {TEXT_C_ORIGIN, 24}};
	struct arena *arena = arena_new();
	struct view_lines terms = VEC_INIT, assumed = VEC_INIT;

	view_terms(b->r->audit, b->lang, arena, &terms);
	view_assumed(b->r->audit, b->lang, arena, &assumed);
	SHEET(b, TEXT_S_ASSUMPTIONS, columns);
	write_lines(b, &terms);
	write_lines(b, &assumed);
	vec_done(&terms);
	vec_done(&assumed);
	arena_free(arena);
}

static int write_book(
	const struct audit_report *r, enum text_lang lang, const char *path, struct err *err)
{
	struct book b = {
		.book = workbook_new(path), .r = r, .lang = lang < LANG_N ? lang : LANG_EN};
	lxw_error rc;

	if (!b.book)
		return err_set(err, E_INTERNAL, "cannot begin the workbook '%s'", path);
	make_styles(&b);
	write_summary(&b);
	write_findings(&b);
	write_loads(&b);
	write_devices(&b);
	write_assumptions(&b);
	errno = 0;
	rc = workbook_close(b.book);
	if (rc == LXW_NO_ERROR)
		return 0;
	if (errno)
		return err_sys(err, errno, "cannot write '%s'", path);
	return err_set(err, E_IO, "cannot write '%s': %s", path, lxw_strerror(rc));
}

/* The library prints what it cannot open: try before it does. */
static int try_create(const char *path, struct err *err)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd < 0 ? err_sys(err, errno, "cannot create '%s'", path) : 0;
}

int report_audit_xlsx(
	const struct audit_report *r, enum text_lang lang, const char *path, struct err *err)
{
	char *part = xasprintf("%s.part", path);
	int rc = try_create(part, err);

	if (rc == 0)
		rc = write_book(r, lang, part, err);
	if (rc == 0 && rename(part, path) < 0)
		rc = err_sys(err, errno, "cannot name '%s'", path);
	if (rc < 0)
		unlink(part);
	free(part);
	return rc;
}
