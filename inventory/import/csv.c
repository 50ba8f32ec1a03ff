#include "inventory/import/csv.h"

#include "agent/base/buf.h"
#include "inventory/model/index.h"

#include <stdio.h>
#include <string.h>

struct reader {
	struct sources *s;
	struct str rest;
	char separator;
	unsigned line, col; /* of the next byte; line in the row of all files */
	bool broken;        /* a quote that never ends */
	struct buf cell;
};

/* One cell as it was read. end: the row ends after it. */
struct cell {
	struct str text;
	unsigned line, col;
	bool end;
};

/* --- encoding --- */

static const char *guess_encoding(struct str text)
{
	size_t pairs = 0, high = 0;

	if (str_starts(text, "PK\x03\x04"))
		return "this is a spreadsheet file; save it as CSV (UTF-8)";
	if (text.n > 1 && ((unsigned char)text.p[0] >= 0xfe || memchr(text.p, 0, text.n)))
		return "it may be UTF-16: iconv -f UTF-16 -t UTF-8 FILE > NEW";
	for (size_t i = 1; i < text.n; i++) {
		const bool a = (unsigned char)text.p[i - 1] >= 0xc0,
			   b = (unsigned char)text.p[i] >= 0xc0;

		high += b;
		pairs += a && b;
	}
	if (pairs * 2 > high) /* words of Russian letters; accents stand alone */
		return "it may be Windows-1251: iconv -f CP1251 -t UTF-8 FILE > NEW";
	return "it may be Latin-1: iconv -f CP1252 -t UTF-8 FILE > NEW";
}

bool csv_check_encoding(struct sources *s, const struct source_file *f)
{
	struct yaml_node at = {.line = f->first, .col = 1};
	struct str rest = f->text;

	if (str_is_utf8(f->text))
		return true;
	while (rest.n > 0) {
		const size_t n = *rest.p == '\0' ? 0 : str_utf8_length(rest);

		if (n == 0)
			break;
		at.col++;
		if (*rest.p == '\n') {
			at.line++;
			at.col = 1;
		}
		rest = str_from(rest, n);
	}
	source_fault(s, &at, E_SYNTAX, guess_encoding(f->text), "the text is not UTF-8");
	return false;
}

/* --- cells --- */

static void fault(struct reader *r, unsigned line, unsigned col, const char *hint, const char *msg)
{
	source_fault(
		r->s, &(struct yaml_node){.line = line, .col = col}, E_SYNTAX, hint, "%s", msg);
}

/* Moves past one character and keeps it. */
static void take(struct reader *r, bool keep)
{
	const char c = *r->rest.p;

	if (keep)
		buf_add_char(&r->cell, c);
	r->rest = str_from(r->rest, 1);
	if (c == '\n') {
		r->line++;
		r->col = 1;
	} else if (((unsigned char)c & 0xc0) != 0x80) {
		r->col++;
	}
}

/* Inside quotes, after the first one, up to the one that closes. */
static void take_quoted(struct reader *r, const struct cell *c)
{
	take(r, false);
	for (;;) {
		if (r->rest.n == 0) {
			fault(r, c->line, c->col, "close it, or double the quotes inside: \"\"",
				"the quote that opens here never closes");
			r->broken = true;
			return;
		}
		if (*r->rest.p != '"') {
			take(r, true);
		} else if (r->rest.n > 1 && r->rest.p[1] == '"') {
			take(r, false);
			take(r, true);
		} else {
			take(r, false);
			return;
		}
	}
}

static bool at_line_end(const struct reader *r)
{
	return r->rest.n == 0 || *r->rest.p == '\n' ||
	       (*r->rest.p == '\r' && (r->rest.n == 1 || r->rest.p[1] == '\n'));
}

static void end_cell(struct reader *r, struct cell *c)
{
	c->text = buf_str(&r->cell);
	c->end = at_line_end(r);
	if (!c->end) {
		take(r, false);
		return;
	}
	if (r->rest.n > 0 && *r->rest.p == '\r')
		take(r, false);
	if (r->rest.n > 0)
		take(r, false);
}

/* The text is the reader's until the next cell. */
static void read_cell(struct reader *r, struct cell *c)
{
	bool told = false;

	buf_clear(&r->cell);
	*c = (struct cell){.line = r->line, .col = r->col};
	if (r->rest.n > 0 && *r->rest.p == '"')
		take_quoted(r, c);
	while (!r->broken && !at_line_end(r) && *r->rest.p != r->separator) {
		if (*r->rest.p == '"' && !told) {
			fault(r, r->line, r->col,
				"put the cell in quotes and double those inside: \"\"",
				"a quote inside a cell that is not quoted");
			told = true;
		}
		take(r, true);
	}
	if (!buf_ok(&r->cell)) {
		source_fault(r->s, &(struct yaml_node){.line = c->line, .col = c->col}, E_LIMIT,
			NULL, "the cell is longer than %d bytes", CSV_CELL_MAX);
		buf_clear(&r->cell);
	}
	end_cell(r, c);
}

static struct yaml_node *cell_node(struct reader *r, const struct cell *c)
{
	struct yaml_node at = {.line = c->line, .col = c->col};

	return tree_text(r->s, &at, str_trim(c->text));
}

/* --- rows --- */

/* The separator that the header has most of, outside quotes; a comma when it has none. */
static char find_separator(struct str text)
{
	static const char all[] = ",;\t";
	size_t n[3] = {0}, best = 0;
	bool quoted = false;

	for (size_t i = 0; i < text.n && (quoted || text.p[i] != '\n'); i++) {
		const char *hit = memchr(all, text.p[i], 3);

		quoted = text.p[i] == '"' ? !quoted : quoted;
		if (hit && !quoted)
			n[hit - all]++;
	}
	for (size_t i = 1; i < 3; i++)
		best = n[i] > n[best] ? i : best;
	return all[best];
}

static bool read_header(struct reader *r, struct yaml_node *columns)
{
	struct model_index *seen = model_index_new();
	struct cell c;
	bool good = true;

	do {
		struct yaml_node *name;
		char number[24];

		read_cell(r, &c);
		name = cell_node(r, &c);
		snprintf(number, sizeof number, "column %u", columns->n + 1);
		if (name && name->text.n == 0)
			name->text = arena_str(r->s->arena, str_of(number));
		tree_add(r->s, columns, name);
		if (!name || columns->n > CSV_COLUMNS_MAX) {
			source_fault(r->s, columns, E_LIMIT, NULL, "more than %d columns",
				CSV_COLUMNS_MAX);
			good = false;
		} else if (model_index_put(seen, NOUN_N, 0, name->text.p, 0) != MODEL_NONE) {
			source_fault(r->s, name, E_EXISTS, "rename or remove one of the two",
				"the column '%.80s' is there twice", name->text.p);
		}
	} while (good && !c.end && !r->broken);
	model_index_free(seen);
	return good && !r->broken;
}

static void judge_width(struct reader *r, const struct yaml_node *row, unsigned n, unsigned width)
{
	if (n != width)
		source_fault(r->s, row, E_SYNTAX, "quote cells that hold the separator",
			"the row has %u cells, the header has %u", n, width);
}

/* One row into the list; nothing of a blank line. */
static bool read_row(struct reader *r, const struct yaml_node *columns, struct yaml_node *rows)
{
	struct yaml_node *row = tree_new(r->s, YAML_MAP, r->line, 1);
	unsigned n = 0;
	struct cell c;

	do {
		read_cell(r, &c);
		if (n < columns->n && str_trim(c.text).n > 0)
			tree_put_key(r->s, row, columns->item[n], cell_node(r, &c));
		n++;
	} while (!c.end && !r->broken);
	if (!row || r->broken)
		return false;
	if (n == 1 && row->n == 0)
		return true;
	judge_width(r, row, n, columns->n);
	if (rows->n >= CSV_ROWS_MAX) {
		source_fault(
			r->s, row, E_LIMIT, "split the file", "more than %d rows", CSV_ROWS_MAX);
		return false;
	}
	tree_add(r->s, rows, row);
	return true;
}

bool csv_read(struct sources *s, const struct source_file *f, char separator,
	struct yaml_node **rows, struct yaml_node **columns)
{
	struct reader r = {.s = s, .rest = f->text, .line = f->first, .col = 1};
	struct yaml_node *header = tree_new(s, YAML_LIST, f->first, 1);
	bool good = true;

	*rows = tree_new(s, YAML_LIST, f->first, 1);
	if (columns)
		*columns = header;
	if (!header || !*rows || !csv_check_encoding(s, f))
		return false;
	if (str_starts(r.rest, "\xef\xbb\xbf"))
		r.rest = str_from(r.rest, 3);
	buf_init(&r.cell, CSV_CELL_MAX);
	r.separator = separator ? separator : find_separator(r.rest);
	good = read_header(&r, header);
	while (good && r.rest.n > 0)
		good = read_row(&r, header, *rows);
	buf_done(&r.cell);
	return good;
}
