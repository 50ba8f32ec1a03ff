/* elevation_bars - loads against limits: the track ends a little above the largest of both. */
#include "inventory/report/elevation_priv.h"
#include "inventory/report/palette.h"

#include <stdio.h>

#define WIDTH   730.0
#define TRACK_X 178.0
#define TRACK_W 300.0
#define ROW     19.0
#define BAR     12.0

struct bar {
	const char *label;
	double normal, worst, limit; /* worst NaN: none */
	const char *unit;
	struct feed_colour colour;
	enum audit_verdict verdict;
};

static double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static double scale_of(double limit, double most)
{
	const double top = larger(limit, most);

	return top > 0 ? TRACK_W / (1.12 * top) : 0;
}

static void draw_track(struct buf *out, double y, const struct bar *b, double scale)
{
	char attrs[192];

	svg_rect(out, (struct svg_box){TRACK_X, y, TRACK_W, BAR}, "fill=\"#eceff1\"", NULL);
	snprintf(attrs, sizeof attrs,
		"fill=\"%s\" fill-opacity=\"0.32\" stroke=\"%s\" stroke-dasharray=\"3 2\"",
		b->colour.ink, b->colour.ink);
	if (b->worst > b->normal)
		svg_rect(out, (struct svg_box){TRACK_X, y + 0.5, b->worst * scale, BAR - 1}, attrs,
			NULL);
	snprintf(attrs, sizeof attrs, "fill=\"%s\"", b->colour.ink);
	if (b->normal > 0)
		svg_rect(out, (struct svg_box){TRACK_X, y + 2, b->normal * scale, BAR - 4}, attrs,
			NULL);
	if (b->limit > 0)
		svg_line(out, TRACK_X + b->limit * scale, y - 3, TRACK_X + b->limit * scale,
			y + BAR + 3, "stroke=\"#1a1a1a\" stroke-width=\"2\"");
}

/* "15.6 → 31.0 A, 62 %"; without a loss "5.8/15.0 kW, 38 %". */
static void add_figures(struct buf *out, enum text_lang lang, const struct bar *b)
{
	const double most = larger(b->worst, b->normal);
	const int decimals = number_decimals(b->unit) > 0;

	if (b->worst > b->normal) {
		number_add(out, lang, b->normal, decimals);
		buf_add_text(out, " → ");
	}
	number_add(out, lang, most, decimals);
	if (isnan(b->worst) && b->limit > 0) {
		buf_add_char(out, '/');
		number_add(out, lang, b->limit, decimals);
	}
	buf_addf(out, "\u202f%s", number_unit(lang, b->unit));
	if (b->limit > 0) {
		buf_add_text(out, ", ");
		number_add_share(out, lang, most / b->limit);
	}
}

static void draw_bar(
	struct buf *out, enum text_lang lang, double y, const struct bar *b, double scale)
{
	const bool bad = b->verdict != AUDIT_PASS;
	char attrs[160];
	AUTO_BUF figures;
	AUTO_BUF shown;

	buf_init(&figures, 512);
	buf_init(&shown, 512);
	draw_track(out, y, b, scale);
	svg_text(out, TRACK_X - 8, y + BAR - 2, "text-anchor=\"end\"", b->label);
	add_figures(&figures, lang, b);
	if (bad)
		buf_addf(&figures, "  %s", text_verdict(lang, b->verdict));
	snprintf(attrs, sizeof attrs, "fill=\"%s\"%s",
		bad ? palette_verdict(b->verdict).ink : "#1a1a1a",
		bad ? " font-weight=\"bold\"" : "");
	svg_fit(&shown, buf_text(&figures), WIDTH - TRACK_X - TRACK_W - 10, 11);
	svg_text(out, TRACK_X + TRACK_W + 10, y + BAR - 2, attrs, buf_text(&shown));
}

/* --- feeds --- */

static unsigned rows_of(const struct view_rack *v, const struct view_feed *f)
{
	return v->report->audit->model->feeds.at[f->feed].phases == 3 ? 3 : 1;
}

/* "G1-A  400 V, 3 × 63 A; limit 50.4 A; worst: loss of feed G1-B". */
static void draw_feed_head(
	const struct view_rack *v, enum text_lang lang, struct buf *out, double y, size_t i)
{
	const struct view_feed *f = &v->feeds.at[i];
	const struct model *m = v->report->audit->model;
	const struct feed *feed = &m->feeds.at[f->feed];
	char attrs[128];
	AUTO_BUF words;
	AUTO_BUF shown;

	buf_init(&words, 4096);
	buf_init(&shown, 4096);
	svg_fit(&shown, feed->name, TRACK_X - 16, 12);
	snprintf(attrs, sizeof attrs,
		"font-size=\"12\" font-weight=\"bold\" text-anchor=\"end\" fill=\"%s\"",
		palette_feed((unsigned)i).ink);
	svg_text(out, TRACK_X - 8, y, attrs, buf_text(&shown));
	view_add_circuit(&words, lang, feed);
	buf_addf(&words, "; %s ", text_get(lang, TEXT_P_LIMIT));
	number_add(&words, lang, f->limit_worst, 1);
	buf_addf(&words, "\u202f%s", number_unit(lang, "A"));
	if (f->lost.noun < NOUN_N) {
		buf_add_text(&words, "; ");
		text_add_loss(&words, lang, v->report->audit, f->lost);
	}
	buf_clear(&shown);
	svg_fit(&shown, buf_text(&words), WIDTH - TRACK_X, 11);
	svg_text(out, TRACK_X, y, "fill=\"#333\"", buf_text(&shown));
}

static void draw_feed(
	const struct view_rack *v, enum text_lang lang, struct buf *out, double y, size_t i)
{
	static const char *const lines[] = {"L1", "L2", "L3"};
	const struct view_feed *f = &v->feeds.at[i];
	const struct policy *p = &v->report->audit->policy;
	const unsigned rows = rows_of(v, f);
	const double scale = scale_of(f->limit_worst, larger(f->worst.amps, f->normal.amps));

	draw_feed_head(v, lang, out, y + 10, i);
	for (unsigned k = 0; k < rows; k++) {
		const double normal = f->normal.lines[k], worst = f->worst.lines[k];
		struct bar b = {.label = rows == 3 ? lines[k] : "",
			.normal = normal,
			.worst = worst,
			.limit = f->limit_worst,
			.unit = "A",
			.colour = palette_feed((unsigned)i)};

		if (normal > f->limit_normal * (1 + 1e-9) || worst > f->limit_worst * (1 + 1e-9))
			b.verdict = AUDIT_FAIL;
		else if (p->near_limit > 0 && larger(worst, normal) > p->near_limit * b.limit)
			b.verdict = AUDIT_WARN;
		draw_bar(out, lang, y + 16 + k * ROW, &b, scale);
	}
}

static void draw_legend(struct buf *out, enum text_lang lang, double y)
{
	const struct svg_box normal = {TRACK_X, y + 2, 22, BAR - 4};
	const double x = TRACK_X + 40 + svg_text_width(text_get(lang, TEXT_P_NORMAL), 10);
	const double end = x + 40 + svg_text_width(text_get(lang, TEXT_P_WORST), 10);

	svg_group(out, "font-size=\"10\" fill=\"#333\"");
	svg_rect(out, normal, "fill=\"#555\"", NULL);
	svg_text(out, TRACK_X + 28, y + 10, NULL, text_get(lang, TEXT_P_NORMAL));
	svg_rect(out, (struct svg_box){x, y + 0.5, 22, BAR - 1},
		"fill=\"#555\" fill-opacity=\"0.32\" stroke=\"#555\" stroke-dasharray=\"3 2\"",
		NULL);
	svg_text(out, x + 28, y + 10, NULL, text_get(lang, TEXT_P_WORST));
	svg_line(
		out, end + 2, y - 2, end + 2, y + BAR + 2, "stroke=\"#1a1a1a\" stroke-width=\"2\"");
	svg_text(out, end + 10, y + 10, NULL, text_get(lang, TEXT_P_LIMIT));
	svg_group_end(out);
}

void elevation_loads(const struct view_rack *v, enum text_lang lang, struct buf *out)
{
	double high = 24, y = 24;

	for (size_t i = 0; i < v->feeds.n; i++)
		high += 24 + ROW * rows_of(v, &v->feeds.at[i]);
	svg_begin(out, WIDTH, high + (v->feeds.n == 0 ? 20 : 0), text_get(lang, TEXT_LOADS));
	if (v->feeds.n == 0)
		svg_text(out, 2, 20, NULL, text_get(lang, TEXT_P_NO_FEEDS));
	else
		draw_legend(out, lang, 4);
	for (size_t i = 0; i < v->feeds.n; i++) {
		draw_feed(v, lang, out, y, i);
		y += 24 + ROW * rows_of(v, &v->feeds.at[i]);
	}
	svg_end(out);
}

/* --- heat --- */

static const enum audit_rule HEAT[] = {
	RULE_COOLING_KW, RULE_LIQUID_KW, RULE_COOLING_CFM, RULE_LIQUID_FLOW};
#define HEAT_N (sizeof HEAT / sizeof *HEAT)

static void draw_finding(struct buf *out, enum text_lang lang, double y, const struct finding *f)
{
	const bool watts = f->unit && *f->unit == 'W';
	const double k = watts ? 0.001 : 1;
	AUTO_BUF label;
	struct bar b = {.normal = f->value * k,
		.worst = MODEL_UNSET,
		.limit = f->limit * k,
		.unit = watts     ? "kW"
			: f->unit ? f->unit
				  : "",
		.colour = {"#8c4a2f", "none"},
		.verdict = f->verdict};

	buf_init(&label, 512);
	svg_fit(&label, text_rule_title(lang, f->rule), TRACK_X - 12, 11);
	b.label = buf_text(&label);
	draw_bar(out, lang, y, &b, scale_of(b.limit, b.normal));
}

/* No rule could judge it: what is known, and that there is no limit. */
static void draw_heat_alone(
	const struct view_rack *v, enum text_lang lang, struct buf *out, double y)
{
	AUTO_BUF words;

	buf_init(&words, 512);
	buf_addf(&words, "%s ", text_get(lang, TEXT_F_HEAT));
	number_add_unit(&words, lang, v->of->heat_w, "W");
	buf_addf(&words, "; %s", text_get(lang, TEXT_P_NO_LIMIT));
	svg_text(out, 2, y + BAR - 2, NULL, buf_text(&words));
}

/* The zone that cools the rack, when the site's findings have it. */
static const struct finding *find_zone(const struct view_rack *v)
{
	const struct audit *a = v->report->audit;

	for (size_t i = a->site_first; i < a->site_first + a->site_n; i++)
		if (a->findings.at[i].rule == RULE_ZONE_KW &&
			a->findings.at[i].subject.row == v->rack->cooling_zone)
			return &a->findings.at[i];
	return NULL;
}

void elevation_heat(const struct view_rack *v, enum text_lang lang, struct buf *out)
{
	const struct finding *shown[HEAT_N + 1];
	double y = 8;
	unsigned n = 0;

	for (size_t i = 0; i < HEAT_N; i++)
		if ((shown[n] = view_find(v, HEAT[i])) != NULL)
			n++;
	if ((shown[n] = find_zone(v)) != NULL)
		n++;
	svg_begin(out, WIDTH, 10 + ROW * (n ? n : 1), text_get(lang, TEXT_HEAT));
	if (n == 0)
		draw_heat_alone(v, lang, out, y);
	for (size_t i = 0; i < n; i++, y += ROW)
		draw_finding(out, lang, y, shown[i]);
	svg_end(out);
}
