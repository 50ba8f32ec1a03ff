/*
 * table - cells are kept twice, as text and as JSON; libsmartcols lays the text out.
 *
 * Which column gives way on a narrow terminal is decided here: the widest that may,
 * one place at a time. The library's widths depend on the locale, so printing
 * borrows C.UTF-8 for this thread.
 */
#include "inventory/report/table.h"

#include "agent/base/arena.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"
#include "inventory/report/number.h"

#include <libsmartcols.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#define CELL_MAX  4096 /* bytes of one cell; more is cut */
#define WIDTH_MIN 40   /* of a terminal */
#define GIVE_MIN  8    /* a column that gives way keeps this much */

struct table {
	const struct column *columns;
	unsigned n;
	struct report_opts opts;
	struct arena *arena;
	struct vec(const char **) rows; /* n texts each */
	json_t *json;
};

struct table *table_new(const struct column *columns, unsigned n, const struct report_opts *o)
{
	struct table *t = xcalloc(1, sizeof *t);

	t->columns = columns;
	t->n = n;
	t->opts = *o;
	t->arena = arena_new();
	t->json = json_array();
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	vec_done(&t->rows);
	json_decref(t->json);
	arena_free(t->arena);
	free(t);
}

void table_row(struct table *t)
{
	*vec_push(&t->rows) = arena_alloc(t->arena, (t->n + 1) * sizeof(char *));
	json_array_append_new(t->json, json_object());
}

static json_t *row_object(struct table *t)
{
	return json_array_get(t->json, json_array_size(t->json) - 1);
}

static const char *printable(struct table *t, const char *text)
{
	AUTO_BUF out;

	buf_init(&out, CELL_MAX);
	buf_add_printable(&out, str_of(text));
	return arena_text(t->arena, buf_str(&out));
}

void table_extra(struct table *t, const char *key, json_t *value)
{
	json_object_set_new(row_object(t), key, value ? value : json_null());
}

void table_value(struct table *t, unsigned col, const char *text, json_t *value)
{
	t->rows.at[t->rows.n - 1][col] = text ? printable(t, text) : "";
	table_extra(t, t->columns[col].key, value);
}

void table_text(struct table *t, unsigned col, const char *text)
{
	const bool some = text && *text;

	table_value(t, col, text, NULL);
	if (some)
		json_put_str(row_object(t), t->columns[col].key, text);
}

void table_int(struct table *t, unsigned col, int64_t v)
{
	char text[32];

	snprintf(text, sizeof text, "%lld", (long long)v);
	table_value(t, col, text, json_integer(v));
}

void table_num(struct table *t, unsigned col, double v, int decimals)
{
	AUTO_BUF text;

	buf_init(&text, 64);
	if (isnan(v)) {
		table_value(t, col, "-", NULL);
		return;
	}
	number_add(&text, t->opts.lang, v, decimals);
	table_value(t, col, buf_text(&text), json_real(v));
}

/* --- fitting --- */

/* Places on a terminal: code points, as no wide ones are expected. */
static size_t places(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/* The bytes of the first n places. */
static size_t bytes_of(struct str s, size_t n)
{
	size_t i = 0;

	for (; i < s.n; i++)
		if (((unsigned char)s.p[i] & 0xc0) != 0x80 && n-- == 0)
			break;
	return i;
}

static const char *cell(const struct table *t, size_t row, unsigned col)
{
	const char *text = t->rows.at[row][col];

	return text ? text : "";
}

static void natural_widths(const struct table *t, size_t *widths)
{
	for (unsigned c = 0; c < t->n; c++) {
		widths[c] = places(str_of(text_get(t->opts.lang, t->columns[c].head)));
		for (size_t r = 0; r < t->rows.n; r++) {
			const size_t n = places(str_of(cell(t, r, c)));

			if (n > widths[c])
				widths[c] = n;
		}
	}
}

static void fit(const struct table *t, size_t *widths)
{
	const size_t most = t->opts.width < WIDTH_MIN ? WIDTH_MIN : t->opts.width;
	size_t total = t->n ? t->n - 1 : 0;

	for (unsigned c = 0; c < t->n; c++)
		total += widths[c];
	for (; total > most; total--) {
		unsigned give = t->n;

		for (unsigned c = 0; c < t->n; c++)
			if (t->columns[c].flags & (COL_TRUNC | COL_WRAP) && widths[c] > GIVE_MIN &&
				(give == t->n || widths[c] > widths[give]))
				give = c;
		if (give == t->n)
			return;
		widths[give]--;
	}
}

/* Behind a blank, a comma, a hyphen; not in "10,5". */
static bool may_break(struct str s, size_t at)
{
	const char before = s.p[at - 1], after = s.p[at];

	return before == ' ' || before == '-' || (before == ',' && !(after >= '0' && after <= '9'));
}

/* The bytes of the first line when s is wrapped. */
static size_t line_bytes(struct str s, size_t width)
{
	const size_t most = bytes_of(s, width);

	if (most == s.n)
		return s.n;
	if (s.p[most] == ' ')
		return most;
	for (size_t i = most; i > 1; i--)
		if (may_break(s, i))
			return i;
	return most;
}

static void wrap(struct buf *out, struct str text, size_t width)
{
	while (places(text) > width) {
		const size_t n = line_bytes(text, width);

		buf_add_str(out, str_trim(str_first(text, n)));
		buf_add_char(out, '\n');
		text = str_trim(str_from(text, n));
	}
	buf_add_str(out, text);
}

static void add_fitted(struct buf *out, const struct column *c, struct str text, size_t width)
{
	if (places(text) <= width || !(c->flags & (COL_TRUNC | COL_WRAP))) {
		buf_add_str(out, text);
	} else if (c->flags & COL_WRAP) {
		wrap(out, text, width);
	} else {
		buf_add_str(out, str_first(text, bytes_of(text, width - 1)));
		buf_add_text(out, "\u2026");
	}
}

/* --- printing --- */

static void set_cell(
	const struct table *t, struct libscols_line *line, size_t row, unsigned col, size_t width)
{
	AUTO_BUF text;

	buf_init(&text, 2 * CELL_MAX);
	add_fitted(&text, &t->columns[col], str_of(cell(t, row, col)), width);
	scols_line_set_data(line, col, buf_text(&text));
}

static void add_columns(const struct table *t, struct libscols_table *tb)
{
	for (unsigned c = 0; c < t->n; c++) {
		const int flags = (t->columns[c].flags & COL_RIGHT ? SCOLS_FL_RIGHT : 0) |
				  (t->columns[c].flags & COL_WRAP ? SCOLS_FL_WRAP : 0);
		struct libscols_column *column = scols_table_new_column(
			tb, text_get(t->opts.lang, t->columns[c].head), 0, flags);

		if (column && flags & SCOLS_FL_WRAP) {
			/* lines end where we ended them */
			scols_column_set_safechars(column, "\n");
			scols_column_set_wrapfunc(
				column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
		}
	}
}

static struct libscols_table *lay_out(const struct table *t)
{
	struct libscols_table *tb = scols_new_table();
	size_t *widths = arena_alloc(t->arena, (t->n + 1) * sizeof *widths);

	if (!tb)
		return NULL;
	natural_widths(t, widths);
	if (t->opts.width)
		fit(t, widths);
	scols_table_enable_noencoding(tb, 1); /* cells are printable already */
	scols_table_set_termforce(tb, SCOLS_TERMFORCE_NEVER);
	add_columns(t, tb);
	for (size_t r = 0; r < t->rows.n; r++) {
		struct libscols_line *line = scols_table_new_line(tb, NULL);

		for (unsigned c = 0; line && c < t->n; c++)
			set_cell(t, line, r, c, widths[c]);
	}
	return tb;
}

/* Without the blanks that fill the last column of some lines. */
static void add_trimmed(struct buf *out, struct str text)
{
	struct str line;

	while (str_line(&text, &line)) {
		while (line.n && line.p[line.n - 1] == ' ')
			line.n--;
		buf_add_str(out, line);
		buf_add_char(out, '\n');
	}
}

static void print_text(const struct table *t, struct buf *out)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	const locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
	struct libscols_table *tb = lay_out(t);
	char *text = NULL;

	if (tb && scols_print_table_to_string(tb, &text) == 0 && text)
		add_trimmed(out, str_of(text));
	free(text);
	scols_unref_table(tb);
	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
}

void table_print(struct table *t, struct buf *out)
{
	if (!t->opts.json) {
		print_text(t, out);
		return;
	}
	json_write_pretty(t->json, out);
	if (out->n && out->p[out->n - 1] != '\n')
		buf_add_char(out, '\n');
}
