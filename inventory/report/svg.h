/*
 * svg - drawings as text: boxes, lines, words; nothing but what racks and bars need.
 *
 * Coordinates are px. attrs are SVG attributes as they stand in the element
 * ("fill=\"#fff\""), made by the caller and not escaped; names and words are.
 */
#pragma once

#include "agent/base/buf.h"

struct svg_box {
	double x, y, w, h;
};

/* Text as XML wants it; control characters and broken UTF-8 as \xNN. */
void svg_escape(struct buf *out, const char *text);

/* title is what a screen reader says. */
void svg_begin(struct buf *out, double w, double h, const char *title);
void svg_end(struct buf *out);
void svg_group(struct buf *out, const char *attrs);
void svg_group_end(struct buf *out);
/* tip: shown when the pointer rests on it; NULL: none. */
void svg_rect(struct buf *out, struct svg_box at, const char *attrs, const char *tip);
void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *attrs);
/* A soft curve that leaves and arrives horizontally. */
void svg_link(struct buf *out, const double from[2], const double to[2], const char *attrs,
	const char *tip);
void svg_text(struct buf *out, double x, double y, const char *attrs, const char *text);
/* What fits into so many px of that font size; the end gives way to "…". */
void svg_fit(struct buf *out, const char *text, double px, double size);
double svg_text_width(const char *text, double size); /* an estimate, on the safe side */
/* A hatch to fill with: "url(#id)". */
void svg_hatch(struct buf *out, const char *id, const char *stroke);
