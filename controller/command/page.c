#include "controller/command/page.h"

#include "agent/version.h"
#include "controller/command/help.h"

#include <ctype.h>
#include <string.h>

#define WORDS_MAX ((size_t)64 << 10)

/* A character of several bytes by its number; the length of what was read. */
static size_t add_wide(struct buf *out, struct str text)
{
	const unsigned char first = (unsigned char)text.p[0];
	const size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	unsigned long code = first & (0x7fu >> n);

	for (size_t i = 1; i < n && i < text.n; i++)
		code = code << 6 | ((unsigned char)text.p[i] & 0x3fu);
	buf_addf(out, "\\[u%04lX]", code);
	return n;
}

/* Characters that roff would take for its own; a line that begins with . or ' is text too. */
static void add_plain_roff(struct buf *out, struct str text, bool *start)
{
	for (size_t i = 0; i < text.n; i++) {
		const char c = text.p[i];

		if (*start && (c == '.' || c == '\''))
			buf_add_text(out, "\\&");
		if ((unsigned char)c >= 0x80)
			i += add_wide(out, str_from(text, i)) - 1;
		else if (c == '\\')
			buf_add_text(out, "\\e");
		else if (c == '-')
			buf_add_text(out, "\\-");
		else if (c == '\'')
			buf_add_text(out, "\\(aq");
		else if (c == '`')
			buf_add_text(out, "\\(ga");
		else if (c == '^')
			buf_add_text(out, "\\(ha");
		else if (c == '~')
			buf_add_text(out, "\\(ti");
		else
			buf_add_char(out, c);
		*start = c == '\n';
	}
}

/* Words with `marks` or **marks**, which are bold. */
static void add_roff(struct buf *out, struct str text)
{
	bool start = true, bold = false;

	while (text.n > 0) {
		const size_t tick = str_find(text, '`'), star = str_find(text, '*');
		const bool stars = star < tick && star + 1 < text.n && text.p[star + 1] == '*';
		size_t at = stars ? star : tick;

		if (at == STR_NONE || at > text.n)
			at = text.n;
		add_plain_roff(out, str_first(text, at), &start);
		if (at == text.n)
			break;
		bold = !bold;
		buf_add_text(out, bold ? "\\fB" : "\\fR");
		start = false;
		text = str_from(text, at + (stars ? 2 : 1));
	}
	if (bold)
		buf_add_text(out, "\\fR");
}

void page_begin(const struct page *p, const char *name, int section, const char *about)
{
	if (!p->roff) {
		AUTO_BUF line = {0};

		buf_init(&line, WORDS_MAX);
		buf_addf(&line, "%s: %s", name, about);
		help_add_filled(p->out, buf_text(&line), 0);
		return;
	}
	buf_add_text(p->out, ".TH ");
	for (const char *c = name; *c; c++)
		buf_add_char(p->out, (char)toupper((unsigned char)*c));
	buf_addf(p->out, " %d \"\" \"stoika %s\"\n.SH NAME\n", section, STOIKA_VERSION);
	add_roff(p->out, str_of(name));
	buf_add_text(p->out, " \\- ");
	add_roff(p->out, str_of(about));
	buf_add_char(p->out, '\n');
}

void page_section(const struct page *p, const char *title)
{
	buf_add_text(p->out, p->roff ? ".SH " : "\n");
	for (const char *c = title; *c; c++)
		buf_add_char(p->out, (char)toupper((unsigned char)*c));
	buf_add_char(p->out, '\n');
}

void page_subsection(const struct page *p, const char *title)
{
	buf_addf(p->out, p->roff ? ".SS " : "\n  ");
	if (p->roff)
		add_roff(p->out, str_of(title));
	else
		buf_add_text(p->out, title);
	buf_add_char(p->out, '\n');
}

static void add_words(const struct page *p, const char *text, size_t indent)
{
	if (p->roff) {
		add_roff(p->out, str_of(text));
		buf_add_char(p->out, '\n');
		return;
	}
	for (size_t i = 0; i < indent; i++)
		buf_add_char(p->out, ' ');
	help_add_filled(p->out, text, indent);
}

void page_text(const struct page *p, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		AUTO_BUF one = {0};

		buf_init(&one, WORDS_MAX);
		buf_add(&one, text, end ? (size_t)(end - text) : strlen(text));
		if (p->roff)
			buf_add_text(p->out, ".PP\n");
		add_words(p, buf_text(&one), 2);
		text = end ? end + 2 : text + strlen(text);
		if (*text && !p->roff)
			buf_add_char(p->out, '\n');
	}
}

void page_item(const struct page *p, const char *term, const char *about)
{
	if (p->roff) {
		buf_add_text(p->out, ".TP\n\\fB");
		add_roff(p->out, str_of(term));
		buf_add_text(p->out, "\\fR\n");
	} else {
		buf_addf(p->out, "  %s\n", term);
	}
	add_words(p, *about ? about : "-", 6);
}

void page_code(const struct page *p, const char *lines)
{
	struct str rest = str_of(lines), line;
	bool start = true;

	if (p->roff)
		buf_add_text(p->out, ".PP\n.RS 4\n.nf\n");
	while (str_line(&rest, &line)) {
		if (!p->roff) {
			buf_addf(p->out, "    " STR_FMT "\n", STR_ARG(line));
			continue;
		}
		start = true;
		add_plain_roff(p->out, line, &start);
		buf_add_char(p->out, '\n');
	}
	if (p->roff)
		buf_add_text(p->out, ".fi\n.RE\n");
}

/* --- markdown --- */

struct reader {
	const struct page *page;
	struct buf words, code; /* a paragraph or item, lines of code */
	bool item;
};

static void flush(struct reader *r)
{
	if (r->code.n > 0)
		page_code(r->page, buf_text(&r->code));
	if (r->words.n > 0 && r->item)
		page_item(r->page, "-", buf_text(&r->words));
	else if (r->words.n > 0)
		page_text(r->page, buf_text(&r->words));
	buf_clear(&r->code);
	buf_clear(&r->words);
	r->item = false;
}

static struct str without_blanks(struct str s)
{
	while (s.n > 0 && s.p[0] == ' ')
		s = str_from(s, 1);
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s = str_first(s, s.n - 1);
	return s;
}

/* The end of a cell: a '|' that no '\\' escapes. */
static struct str next_cell(struct str *row)
{
	size_t n = 0;
	struct str cell;

	while (n < row->n && (row->p[n] != '|' || (n > 0 && row->p[n - 1] == '\\')))
		n++;
	cell = str_first(*row, n);
	*row = n < row->n ? str_from(*row, n + 1) : str_first(*row, 0);
	return without_blanks(cell);
}

/* A row as an item: the first cell, the last one as its meaning, what is between in front. */
static void add_row(struct reader *r, struct str row)
{
	struct str rest = str_from(row, 1), first = next_cell(&rest);
	AUTO_BUF term = {0}, about = {0};

	flush(r);
	if (first.n == 0 || str_starts(first, "---") || str_is(first, "key") ||
		str_is(first, "kind") || str_is(first, "type") || str_is(first, "name") ||
		str_is(first, "function"))
		return;
	buf_init(&term, WORDS_MAX);
	buf_init(&about, WORDS_MAX);
	for (size_t i = 0; i < first.n; i++) /* terms are bold as a whole */
		if (first.p[i] != '`' && first.p[i] != '\\')
			buf_add_char(&term, first.p[i]);
	while (rest.n > 0) {
		const struct str cell = next_cell(&rest);

		if (cell.n > 0)
			buf_addf(&about, "%s" STR_FMT, about.n ? "; " : "", STR_ARG(cell));
	}
	page_item(r->page, buf_text(&term), buf_text(&about));
}

static void add_heading(struct reader *r, struct str line)
{
	AUTO_BUF title = {0};

	flush(r);
	buf_init(&title, 200);
	while (line.n > 0 && (line.p[0] == '#' || line.p[0] == ' '))
		line = str_from(line, 1);
	buf_add_str(&title, line);
	page_section(r->page, buf_text(&title));
}

static void add_line(struct reader *r, struct str line)
{
	const struct str words = without_blanks(line);

	if (str_starts(line, "#")) {
		add_heading(r, line);
	} else if (str_starts(line, "    ")) {
		if (r->words.n > 0)
			flush(r);
		buf_addf(&r->code, STR_FMT "\n", STR_ARG(str_from(line, 4)));
	} else if (words.n == 0 && r->code.n > 0) {
		buf_add_char(&r->code, '\n');
	} else if (words.n == 0) {
		flush(r);
	} else if (str_starts(line, "|")) {
		add_row(r, line);
	} else {
		if (r->code.n > 0 || str_starts(line, "- "))
			flush(r);
		r->item = r->item || str_starts(line, "- ");
		buf_addf(&r->words, "%s" STR_FMT, r->words.n ? "\n" : "",
			STR_ARG(str_starts(line, "- ") ? str_from(line, 2) : words));
	}
}

void page_markdown(const struct page *p, struct str text)
{
	struct reader r = {.page = p};
	struct str line;

	buf_init(&r.words, WORDS_MAX);
	buf_init(&r.code, WORDS_MAX);
	while (str_line(&text, &line))
		add_line(&r, line);
	flush(&r);
	buf_done(&r.words);
	buf_done(&r.code);
}
