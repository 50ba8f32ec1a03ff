/*
 * view - an audit as reports show it: per rack its feeds with loads and limits, the worst
 * verdict of each rule and device; per site the terms and what was assumed. No layout.
 */
#pragma once

#include "inventory/report/audit_report.h"
#include "inventory/report/phrase.h"

struct view_feed {
	size_t feed;
	uint32_t element;
	double limit_normal, limit_worst; /* A; NaN: none */
	struct element_load normal, worst;
	struct audit_subject lost; /* what makes it worst */
	enum audit_verdict verdict;
};

/* A box of the rack. */
struct view_device {
	size_t device;
	enum audit_verdict verdict;
	struct power power;
	unsigned cords;
};

struct view_rack {
	const struct audit_report *report;
	const struct audit_rack *of;
	const struct rack *rack;
	struct vec(struct view_feed) feeds; /* that reach it, in the model's order: its colours */
	struct vec(struct view_device) devices; /* from the top */
	enum audit_verdict rules[RULE_N];
	bool judged[RULE_N];
};

/* A line of the terms or of what was assumed. */
struct view_line {
	const char *what, *value, *origin;
	bool assumed;
};
struct view_lines vec(struct view_line);

void view_rack_make(
	const struct audit_report *r, const struct audit_rack *of, struct view_rack *out);
void view_rack_done(struct view_rack *v);
/* The colour of a feed in this rack; PALETTE_FEEDS and more never, MODEL_NONE: none. */
size_t view_colour(const struct view_rack *v, size_t feed);
/* The row of the feed above a cord, MODEL_NONE when none is. */
size_t view_cord_feed(const struct audit *a, size_t cord);
/* The first finding of that rule in the rack, NULL when it was not judged. */
const struct finding *view_find(const struct view_rack *v, enum audit_rule rule);
/* The load after the worst loss, which is the normal one when none makes it worse. */
const struct element_load *view_worst(const struct audit *a, uint32_t element);

/* Policy and conventions, each with where it is from. Texts in a. */
void view_terms(
	const struct audit *of, enum text_lang lang, struct arena *a, struct view_lines *out);
/* Facts that were assumed, and where they count. */
void view_assumed(
	const struct audit *of, enum text_lang lang, struct arena *a, struct view_lines *out);

/* "feed G1-A L1, 62.0 A, limit 50.4 A"; of the rack itself only the figures. */
void view_add_what(
	struct buf *out, enum text_lang lang, const struct audit *a, const struct finding *f);
/* The same behind the rule's title; for summaries. */
void view_add_binding(
	struct buf *out, enum text_lang lang, const struct audit *a, const struct finding *f);
/* Rules whose limit is the least that is needed, not the most that is allowed. */
bool view_is_least(enum audit_rule rule);
/* "62 %" of the limit, "3/4 PSU". */
void view_add_share(struct buf *out, enum text_lang lang, const struct finding *f);
/* "62.0 A, limit 50.4 A"; nothing when the finding has no figures. */
void view_add_figures(struct buf *out, enum text_lang lang, const struct finding *f);
/* "400 V · 3 × 63 A". */
void view_add_circuit(struct buf *out, enum text_lang lang, const struct feed *f);
/* "G1-A/1, G1-B/1" by feed, in the order of cords. */
void view_add_cords(struct buf *out, const struct audit *a, size_t device);
/* "820 kg"; a rack of which nothing states a weight weighs 0. */
void view_add_mass(struct buf *out, enum text_lang lang, double kg);
/* "with panel main, UPS B lost: 5 of 7 devices down"; nothing when no loss was asked for. */
void view_add_lost(struct buf *out, enum text_lang lang, const struct audit *a);
/* "catalogue: DGX H100 guide", "measured", "assumed: ...". */
void view_add_origin(struct buf *out, enum text_lang lang, const struct power *p);
