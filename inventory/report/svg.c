/* svg - numbers with one decimal at most, so that the text stays short and the same everywhere. */
#include "inventory/report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FONT "'Liberation Sans','DejaVu Sans',Arial,Helvetica,sans-serif"

void svg_escape(struct buf *out, const char *text)
{
	AUTO_BUF plain;

	buf_init(&plain, 1u << 20);
	buf_add_printable(&plain, str_of(text));
	buf_add_xml(out, buf_str(&plain));
}

static void add_number(struct buf *out, const char *before, double v)
{
	char text[48];
	size_t n;

	snprintf(text, sizeof text, "%.1f", isfinite(v) ? v : 0);
	n = strlen(text);
	if (n > 2 && text[n - 1] == '0')
		text[n - 2] = '\0';
	buf_addf(out, "%s%s", before, strcmp(text, "-0") == 0 ? "0" : text);
}

static void add_attrs(struct buf *out, const char *attrs)
{
	if (attrs && *attrs)
		buf_addf(out, " %s", attrs);
}

/* Ends an element's first tag, and the element. */
static void add_end(struct buf *out, const char *name, const char *tip)
{
	if (!tip) {
		buf_add_text(out, "/>\n");
		return;
	}
	buf_add_text(out, "><title>");
	svg_escape(out, tip);
	buf_addf(out, "</title></%s>\n", name);
}

void svg_begin(struct buf *out, double w, double h, const char *title)
{
	add_number(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", w);
	add_number(out, "\" height=\"", h);
	add_number(out, "\" viewBox=\"0 0 ", w);
	add_number(out, " ", h);
	buf_add_text(out, "\" role=\"img\" aria-label=\"");
	svg_escape(out, title);
	buf_add_text(out, "\">\n<g font-family=\"" FONT "\" font-size=\"11\" fill=\"#1a1a1a\">\n");
}

void svg_end(struct buf *out)
{
	buf_add_text(out, "</g>\n</svg>\n");
}

void svg_group(struct buf *out, const char *attrs)
{
	buf_add_text(out, "<g");
	add_attrs(out, attrs);
	buf_add_text(out, ">\n");
}

void svg_group_end(struct buf *out)
{
	buf_add_text(out, "</g>\n");
}

void svg_rect(struct buf *out, struct svg_box at, const char *attrs, const char *tip)
{
	add_number(out, "<rect x=\"", at.x);
	add_number(out, "\" y=\"", at.y);
	add_number(out, "\" width=\"", at.w > 0 ? at.w : 0);
	add_number(out, "\" height=\"", at.h > 0 ? at.h : 0);
	buf_add_char(out, '"');
	add_attrs(out, attrs);
	add_end(out, "rect", tip);
}

void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *attrs)
{
	add_number(out, "<line x1=\"", x1);
	add_number(out, "\" y1=\"", y1);
	add_number(out, "\" x2=\"", x2);
	add_number(out, "\" y2=\"", y2);
	buf_add_char(out, '"');
	add_attrs(out, attrs);
	add_end(out, "line", NULL);
}

void svg_link(struct buf *out, const double from[2], const double to[2], const char *attrs,
	const char *tip)
{
	const double middle = (from[0] + to[0]) / 2;

	add_number(out, "<path d=\"M", from[0]);
	add_number(out, " ", from[1]);
	add_number(out, "C", middle);
	add_number(out, " ", from[1]);
	add_number(out, " ", middle);
	add_number(out, " ", to[1]);
	add_number(out, " ", to[0]);
	add_number(out, " ", to[1]);
	buf_add_text(out, "\" fill=\"none\"");
	add_attrs(out, attrs);
	add_end(out, "path", tip);
}

void svg_text(struct buf *out, double x, double y, const char *attrs, const char *text)
{
	add_number(out, "<text x=\"", x);
	add_number(out, "\" y=\"", y);
	buf_add_char(out, '"');
	add_attrs(out, attrs);
	buf_add_char(out, '>');
	svg_escape(out, text);
	buf_add_text(out, "</text>\n");
}

/* A share of the font size per letter; Cyrillic and capitals are wide. */
static double letter_width(struct str letter)
{
	const char c = letter.p[0];

	if ((unsigned char)c >= 0x80)
		return 0.62;
	if (strchr("iljtfr.,:;|!'/ ()[]1-", c))
		return 0.38;
	if ((c >= 'A' && c <= 'Z') || c == 'm' || c == 'w' || c == '%')
		return 0.74;
	return 0.56;
}

/* The width of the first bytes that take at most px; *n says how many. */
static double measure(struct str s, double px, double size, size_t *n)
{
	double w = 0;

	*n = 0;
	while (*n < s.n) {
		const struct str rest = str_from(s, *n);
		const size_t len = str_utf8_length(rest);
		const double more = letter_width(rest) * size;

		if (w + more > px)
			break;
		w += more;
		*n += len ? len : 1;
	}
	return w;
}

double svg_text_width(const char *text, double size)
{
	size_t n;

	return measure(str_of(text), HUGE_VAL, size, &n);
}

void svg_fit(struct buf *out, const char *text, double px, double size)
{
	const struct str s = str_of(text);
	size_t n;

	measure(s, px, size, &n);
	if (n < s.n) {
		measure(s, px - size * 0.8, size, &n);
		buf_add_str(out, str_first(s, n));
		buf_add_text(out, "…");
	} else {
		buf_add_str(out, s);
	}
}

void svg_hatch(struct buf *out, const char *id, const char *stroke)
{
	buf_addf(out,
		"<defs><pattern id=\"%s\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" "
		"stroke=\"%s\" stroke-width=\"2\"/></pattern></defs>\n",
		id, stroke);
}
