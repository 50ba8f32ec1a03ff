/* elevation - the rack itself; elevation_rear.c adds PDUs and cords, elevation_bars.c the bars. */
#include "inventory/report/elevation.h"

#include "inventory/report/elevation_priv.h"
#include "inventory/report/palette.h"

#include <stdio.h>
#include <string.h>

#define HEIGHT_MAX 690.0
#define UNIT_MAX   16.0
#define UNIT_MIN   7.0
#define STRIPE     5.0

void elevation_make(struct elevation *e, const struct view_rack *v, enum text_lang lang,
	struct buf *out, bool rear)
{
	const unsigned units = v->rack->height_u ? v->rack->height_u : 1;
	double unit = HEIGHT_MAX / units;

	if (unit > UNIT_MAX)
		unit = UNIT_MAX;
	if (unit < UNIT_MIN)
		unit = UNIT_MIN;
	*e = (struct elevation){.v = v,
		.m = v->report->audit->model,
		.lang = lang,
		.out = out,
		.left = ELEVATION_LABELS,
		.unit = unit,
		.first_u = v->rack->first_u ? v->rack->first_u : 1,
		.units = units,
		.rear = rear};
}

double elevation_height(const struct elevation *e)
{
	return e->units * e->unit;
}

/* The y of the lower edge of a unit. */
static double floor_of(const struct elevation *e, double unit)
{
	return ELEVATION_TOP + (e->first_u + e->units - unit) * e->unit;
}

static double height_of(const struct device_type *t)
{
	return t->height_u + (t->half_u ? 0.5 : 0);
}

bool elevation_place(const struct elevation *e, size_t device, struct svg_box *out)
{
	const struct device *d = &e->m->devices.at[device];
	const double high = height_of(&e->m->types.at[d->type]);
	const double from = d->position + (d->half_up ? 0.5 : 0);

	if (d->position == 0 || high == 0 || from < e->first_u ||
		from + high > e->first_u + e->units)
		return false;
	*out = (struct svg_box){e->left, floor_of(e, from + high), ELEVATION_WIDTH, high * e->unit};
	return true;
}

/* Whether a device is seen from the side that is drawn. */
static bool visible(const struct elevation *e, const struct device *d)
{
	return e->m->types.at[d->type].full_depth || (d->face == FACE_REAR) == e->rear;
}

/* --- frame --- */

static void draw_numbers(const struct elevation *e)
{
	const unsigned every = e->unit >= 11 ? 1 : 2;
	char text[16];

	svg_group(e->out, "font-size=\"9\" fill=\"#555\" text-anchor=\"end\"");
	for (unsigned u = e->first_u; u < e->first_u + e->units; u += every) {
		snprintf(text, sizeof text, "%u", u);
		svg_text(e->out, e->left - 7, floor_of(e, u) - e->unit / 2 + 3, NULL, text);
	}
	svg_group_end(e->out);
}

static void draw_frame(const struct elevation *e)
{
	const struct svg_box inside = {
		e->left, ELEVATION_TOP, ELEVATION_WIDTH, elevation_height(e)};
	const struct svg_box frame = {inside.x - 4, inside.y - 4, inside.w + 8, inside.h + 8};

	svg_rect(e->out, frame, "fill=\"#fff\" stroke=\"#333\" stroke-width=\"2\"", NULL);
	svg_group(e->out, "stroke=\"#e3e3e3\"");
	for (unsigned u = 1; u < e->units; u++)
		svg_line(e->out, inside.x, inside.y + u * e->unit, inside.x + inside.w,
			inside.y + u * e->unit, NULL);
	svg_group_end(e->out);
	if (!e->rear)
		draw_numbers(e);
}

/* Marks the units that a box of this side takes. */
static void mark_taken(const struct elevation *e, bool *taken)
{
	vec_each(&e->v->devices, const struct view_device, d) {
		const struct device *box = &e->m->devices.at[d->device];
		const double high = height_of(&e->m->types.at[box->type]);

		for (double u = 0; u < high; u++)
			if (box->position >= e->first_u &&
				box->position + u < e->first_u + e->units)
				taken[(unsigned)(box->position + u) - e->first_u] = true;
	}
	vec_each(&e->m->reservations, const struct reservation, r)
		for (unsigned u = 0; r->rack == e->v->of->rack && u < r->height_u; u++)
			if (r->position + u >= e->first_u &&
				r->position + u < e->first_u + e->units)
				taken[r->position + u - e->first_u] = true;
}

/* "9 U free" in each run of two and more. */
static void draw_free(const struct elevation *e)
{
	bool taken[256] = {false};
	char text[64];

	mark_taken(e, taken);
	svg_group(e->out, "font-size=\"9\" fill=\"#767676\" text-anchor=\"middle\"");
	for (unsigned u = 0, run = 0; u <= e->units && u < 256; u++) {
		if (u < e->units && !taken[u]) {
			run++;
			continue;
		}
		if (run >= 2) {
			snprintf(text, sizeof text, "%u\u202fU %s", run,
				text_get(e->lang, TEXT_P_FREE));
			svg_text(e->out, e->left + ELEVATION_WIDTH / 2,
				floor_of(e, e->first_u + u - run / 2.0) + 3, NULL, text);
		}
		run = 0;
	}
	svg_group_end(e->out);
}

static void draw_reservation(
	const struct elevation *e, const struct reservation *r, const char *hatch)
{
	const struct svg_box at = {e->left, floor_of(e, r->position + r->height_u), ELEVATION_WIDTH,
		r->height_u * e->unit};
	char attrs[128];
	AUTO_BUF words;
	AUTO_BUF shown;

	buf_init(&words, 4096);
	buf_init(&shown, 4096);
	text_add(&words, e->lang, TEXT_P_RESERVED, r->who ? r->who : r->name);
	snprintf(attrs, sizeof attrs, "fill=\"url(#%s)\" stroke=\"#777\" stroke-dasharray=\"4 2\"",
		hatch);
	svg_rect(e->out, at, attrs, buf_text(&words));
	svg_fit(&shown, buf_text(&words), at.w - 40, 10);
	svg_rect(e->out,
		(struct svg_box){
			at.x + at.w / 2 - (at.w - 40) / 2, at.y + at.h / 2 - 6, at.w - 40, 12},
		"fill=\"#fff\" fill-opacity=\"0.85\"", NULL);
	svg_text(e->out, at.x + at.w / 2, at.y + at.h / 2 + 3.5,
		"font-size=\"10\" text-anchor=\"middle\"", buf_text(&shown));
}

/* --- boxes --- */

static void add_tip(struct buf *tip, const struct elevation *e, const struct view_device *d)
{
	const struct device *box = &e->m->devices.at[d->device];

	buf_addf(tip, "%s, %s, U%u: ", box->name, e->m->types.at[box->type].name, box->position);
	if (isnan(d->power.watts))
		buf_add_text(tip, text_get(e->lang, TEXT_NOT_STATED));
	else
		number_add_unit(tip, e->lang, d->power.watts, "W");
	buf_addf(tip, " (%s), %s", text_origin(e->lang, d->power.origin),
		text_verdict(e->lang, d->verdict));
	if (!visible(e, box))
		buf_addf(tip, ", %s", text_get(e->lang, TEXT_P_BEHIND));
}

/* Name and type at the left, the verdict's word at the right when it is no PASS. */
static void draw_words(const struct elevation *e, const struct view_device *d, struct svg_box at)
{
	const struct device *box = &e->m->devices.at[d->device];
	const bool bad = d->verdict != AUDIT_PASS;
	const char *word = text_verdict(e->lang, d->verdict);
	const double size = at.h < 12 ? 8 : at.h < 15 ? 9.5 : 10.5;
	const double taken = bad ? svg_text_width(word, 8.5) + 10 : 0;
	const double base = at.y + (at.h < 2 * e->unit ? at.h / 2 : 9) + size * 0.35;
	char attrs[160];
	AUTO_BUF words;
	AUTO_BUF shown;

	buf_init(&words, 4096);
	buf_init(&shown, 4096);
	buf_addf(&words, "%s · %s", box->name, e->m->types.at[box->type].name);
	svg_fit(&shown, buf_text(&words), at.w - STRIPE - 12 - taken, size);
	snprintf(attrs, sizeof attrs, "font-size=\"%.1f\"", size);
	svg_text(e->out, at.x + STRIPE + 5, base, attrs, buf_text(&shown));
	if (bad) {
		snprintf(attrs, sizeof attrs,
			"font-size=\"8.5\" font-weight=\"bold\" text-anchor=\"end\" fill=\"%s\"",
			palette_verdict(d->verdict).ink);
		svg_text(e->out, at.x + at.w - 5, base, attrs, word);
	}
	if (at.h < 2 * e->unit)
		return;
	buf_clear(&shown);
	number_add_unit(&shown, e->lang, d->power.watts, "W");
	svg_text(e->out, at.x + STRIPE + 5, base + 12, "font-size=\"9.5\" fill=\"#333\"",
		buf_text(&shown));
}

/* What stands on the other side: its name alone, so that cords to it make sense. */
static void draw_hidden(const struct elevation *e, const struct view_device *d, struct svg_box at)
{
	AUTO_BUF shown;

	buf_init(&shown, 4096);
	svg_fit(&shown, e->m->devices.at[d->device].name, at.w - 20, 9);
	svg_text(e->out, at.x + at.w / 2, at.y + at.h / 2 + 3,
		"font-size=\"9\" fill=\"#666\" text-anchor=\"middle\"", buf_text(&shown));
}

static void draw_box(const struct elevation *e, const struct view_device *d)
{
	const struct verdict_colour colour = palette_verdict(d->verdict);
	const bool seen = visible(e, &e->m->devices.at[d->device]);
	struct svg_box at;
	char attrs[128];
	AUTO_BUF tip;

	buf_init(&tip, 4096);
	if (!elevation_place(e, d->device, &at))
		return;
	at.y += 0.5;
	at.h -= 1;
	add_tip(&tip, e, d);
	snprintf(attrs, sizeof attrs, "fill=\"%s\" stroke=\"%s\"%s",
		!seen                      ? "none"
		: d->verdict == AUDIT_PASS ? "#eef1f4"
					   : colour.tint,
		!seen                      ? "#999"
		: d->verdict == AUDIT_PASS ? "#7d8894"
					   : colour.ink,
		seen ? "" : " stroke-dasharray=\"3 3\"");
	svg_rect(e->out, at, attrs, buf_text(&tip));
	snprintf(attrs, sizeof attrs, "fill=\"%s\"", colour.ink);
	if (seen) {
		svg_rect(e->out, (struct svg_box){at.x, at.y, STRIPE, at.h}, attrs, NULL);
		draw_words(e, d, at);
	} else {
		draw_hidden(e, d, at);
	}
}

static bool is_kept(const struct elevation *e, const struct reservation *r)
{
	return r->rack == e->v->of->rack && r->position >= e->first_u &&
	       r->position + r->height_u <= e->first_u + e->units;
}

/* The hatch's id is the picture's own: a page holds many. */
static void draw_reservations(const struct elevation *e)
{
	char hatch[48] = "";

	vec_each(&e->m->reservations, const struct reservation, r) {
		if (!is_kept(e, r))
			continue;
		if (!*hatch) {
			snprintf(hatch, sizeof hatch, "kept-%zu-%s", e->v->of->rack,
				e->rear ? "rear" : "front");
			svg_hatch(e->out, hatch, "#b9b9b9");
		}
		draw_reservation(e, r, hatch);
	}
}

void elevation_body(const struct elevation *e)
{
	draw_frame(e);
	draw_free(e);
	draw_reservations(e);
	vec_each(&e->v->devices, const struct view_device, d)
		draw_box(e, d);
}

/* What stands nowhere, by name. */
static void draw_unplaced(const struct elevation *e)
{
	AUTO_BUF names;
	AUTO_BUF words;
	AUTO_BUF shown;
	struct svg_box at;

	buf_init(&names, 1u << 16);
	buf_init(&words, 1u << 16);
	buf_init(&shown, 1u << 16);
	vec_each(&e->v->devices, const struct view_device, d)
		if (!elevation_place(e, d->device, &at))
			buf_addf(&names, "%s%s", names.n ? ", " : "",
				e->m->devices.at[d->device].name);
	if (names.n == 0)
		return;
	text_add(&words, e->lang, TEXT_P_NO_POSITION, buf_text(&names));
	svg_fit(&shown, buf_text(&words), ELEVATION_WIDTH + ELEVATION_LABELS, 10);
	svg_text(e->out, 2, ELEVATION_TOP + elevation_height(e) + 20, "font-size=\"10\"",
		buf_text(&shown));
}

void elevation_front(const struct view_rack *v, enum text_lang lang, struct buf *out)
{
	struct elevation e;

	elevation_make(&e, v, lang, out, false);
	svg_begin(out, ELEVATION_LABELS + ELEVATION_WIDTH + 8,
		ELEVATION_TOP + elevation_height(&e) + 28, text_get(lang, TEXT_FRONT));
	svg_text(out, e.left + ELEVATION_WIDTH / 2, 13,
		"font-size=\"12\" font-weight=\"bold\" text-anchor=\"middle\"",
		text_get(lang, TEXT_FRONT));
	elevation_body(&e);
	draw_unplaced(&e);
	svg_end(out);
}
