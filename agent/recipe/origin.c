/* origin - a text and its source are walked side by side until the wanted byte is reached. */
#include "agent/recipe/origin.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A position in the source. */
struct walk {
	const char *p, *end;
	unsigned line, col;
};

static bool is_tail(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void forward(struct walk *w)
{
	if (w->p >= w->end)
		return;
	if (*w->p++ == '\n') {
		w->line++;
		w->col = 1;
	} else if (w->p >= w->end || !is_tail(*w->p)) {
		w->col++;
	}
}

static void forward_to(struct walk *w, unsigned line, unsigned col)
{
	while (w->p < w->end && (w->line < line || (w->line == line && w->col < col)))
		forward(w);
}

/* True when nothing but blanks stands between here and the line's end. */
static bool at_line_end(const struct walk *w)
{
	const char *p = w->p;

	while (p < w->end && is_blank(*p))
		p++;
	return p < w->end && *p == '\n';
}

static void skip_indent(struct walk *w, unsigned indent)
{
	for (unsigned i = 0; i < indent && w->p < w->end && *w->p == ' '; i++)
		forward(w);
}

/* A folded line break is one blank in the text, or as many newlines as lines were empty. */
static const char *skip_fold_text(const char *v, const char *at)
{
	if (v < at && *v == ' ')
		return v + 1;
	while (v < at && *v == '\n')
		v++;
	return v;
}

static unsigned count_spaces(const char *p, const char *end)
{
	unsigned n = 0;

	while (p + n < end && p[n] == ' ')
		n++;
	return n;
}

/* The indentation that YAML took away, from the first line that is not empty. */
static unsigned block_indent(const struct walk *w, struct str text)
{
	const char *s = w->p, *v = text.p, *end = text.p + text.n;

	while (v < end && *v == '\n')
		v++;
	for (;;) {
		unsigned n = count_spaces(s, w->end);

		if (s + n >= w->end)
			return 0;
		if (s[n] != '\n' && s[n] != '\r') {
			unsigned kept = count_spaces(v, end);

			return n > kept ? n - kept : 0;
		}
		s = memchr(s, '\n', (size_t)(w->end - s));
		if (!s)
			return 0;
		s++;
	}
}

static void walk_block(struct walk *w, struct str text, const char *at, bool folded)
{
	unsigned indent;

	forward_to(w, w->line + 1, 1);
	indent = block_indent(w, text);
	skip_indent(w, indent);
	for (const char *v = text.p; v < at && w->p < w->end;) {
		if (*w->p == '\r')
			forward(w);
		if (w->p >= w->end || *w->p != '\n') {
			forward(w);
			v++;
			continue;
		}
		do {
			forward(w);
			skip_indent(w, indent);
		} while (folded && w->p < w->end && *w->p == '\n');
		v = folded ? skip_fold_text(v, at) : v + 1;
	}
}

static unsigned escape_length(char c)
{
	return c == 'x' ? 4 : c == 'u' ? 6 : c == 'U' ? 10 : 2;
}

/* One escape of a double-quoted scalar; returns where the text is after it. */
static const char *walk_escape(struct walk *w, const char *v, const char *at)
{
	char c = w->p + 1 < w->end ? w->p[1] : '\\';

	if (c == '\n' || c == '\r') {
		do
			forward(w);
		while (w->p < w->end && (is_blank(*w->p) || *w->p == '\n'));
		return v;
	}
	for (unsigned i = escape_length(c); i > 0; i--)
		forward(w);
	do
		v++;
	while (v < at && is_tail(*v));
	return v;
}

static void walk_flow(struct walk *w, struct str text, const char *at)
{
	char quote = *w->p == '\'' || *w->p == '"' ? *w->p : 0;

	if (quote)
		forward(w);
	for (const char *v = text.p; v < at && w->p < w->end;) {
		if (at_line_end(w)) {
			while (w->p < w->end && (is_blank(*w->p) || *w->p == '\n'))
				forward(w);
			v = skip_fold_text(v, at);
		} else if (quote == '"' && *w->p == '\\') {
			v = walk_escape(w, v, at);
		} else {
			if (quote == '\'' && *w->p == '\'')
				forward(w);
			forward(w);
			v++;
		}
	}
}

static void walk_scalar(struct walk *w, const struct origin *o, const char *at)
{
	forward_to(w, o->line, o->col);
	if (w->p >= w->end)
		return;
	if (*w->p == '|' || *w->p == '>')
		walk_block(w, o->text, at, *w->p == '>');
	else
		walk_flow(w, o->text, at);
}

static void find_place(const struct origin *o, const char *at, unsigned *line, unsigned *col)
{
	const bool scalar = o->scalar && o->source.n > 0;
	const struct str in = scalar ? o->source : o->text;
	struct walk w = {in.p, in.n > 0 ? in.p + in.n : in.p, 1, 1};

	if (scalar) {
		walk_scalar(&w, o, at);
	} else {
		w.line = o->line;
		w.col = o->col;
		while (w.p < at && w.p < w.end)
			forward(&w);
	}
	*line = w.line;
	*col = w.col;
}

static void add_excerpt(const struct origin *o, unsigned line, struct err *err)
{
	struct str rest = o->source, one;

	while (str_line(&rest, &one)) {
		if (--line == 0) {
			err_excerpt(err, one.p, one.n);
			return;
		}
	}
}

int origin_place(const struct origin *o, const char *at, struct err *err)
{
	int rc;

	if (!err)
		return -E_SYNTAX;
	rc = -(int)err->code;
	if (!o || !o->file)
		return rc;
	snprintf(err->file, sizeof err->file, "%s", o->file);
	find_place(o, at, &err->line, &err->col);
	add_excerpt(o, err->line, err);
	return rc;
}

int origin_err(
	const struct origin *o, const char *at, struct err *err, enum ec code, const char *fmt, ...)
{
	char msg[sizeof((struct err *)0)->msg];
	va_list ap;

	if (!err)
		return -(int)code;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err_set(err, code, "%s", msg);
	origin_place(o, at, err);
	return -(int)code;
}
