/* elevation_rear - PDUs stand left and right by the order of their feeds; cords run between. */
#include "inventory/report/elevation_priv.h"
#include "inventory/report/palette.h"

#include <stdio.h>
#include <string.h>

#define STRIP      30.0 /* width of a PDU */
#define STRIP_GAP  20.0 /* with the names of the phases */
#define CHANNEL    52.0 /* where the cords run */
#define OUTLET_MAX 15.0
#define STRIPS_MAX 8 /* drawn; more are named below */

struct strip {
	size_t pdu, colour; /* MODEL_NONE: no feed of the rack */
	double x;
	bool left;
	size_t first, n; /* in outlets */
	double pitch;
	unsigned columns;
};

struct rear {
	struct elevation e;
	const struct audit *a;
	struct strip strips[STRIPS_MAX];
	unsigned n, n_left, n_right;
	struct vec(size_t) outlets;   /* by strip */
	struct vec(size_t) elsewhere; /* PDUs that are not drawn and have cords of the rack */
	double width;
};

/* --- which PDUs, and where --- */

static size_t feed_of_pdu(const struct rear *r, size_t pdu)
{
	const struct graph *g = &r->a->graph;
	uint32_t e = graph_element(g, LEVEL_PDU, pdu);

	while (e != GRAPH_NONE && g->at[e].level != LEVEL_FEED)
		e = g->at[e].parent;
	return e == GRAPH_NONE ? MODEL_NONE : g->at[e].row;
}

static void add_strip(struct rear *r, size_t pdu)
{
	struct strip *s = &r->strips[r->n];
	const size_t feed = feed_of_pdu(r, pdu);

	*s = (struct strip){.pdu = pdu,
		.colour = feed == MODEL_NONE ? MODEL_NONE : view_colour(r->e.v, feed),
		.first = r->outlets.n};
	for (size_t i = 0; i < r->e.m->outlets.n; i++)
		if (r->e.m->outlets.at[i].pdu == pdu)
			*vec_push(&r->outlets) = i;
	s->n = r->outlets.n - s->first;
	s->left = s->colour == MODEL_NONE ? r->n_left <= r->n_right : s->colour % 2 == 0;
	if (s->left)
		r->n_left++;
	else
		r->n_right++;
	r->n++;
}

static void find_strips(struct rear *r)
{
	for (size_t i = 0; i < r->e.m->pdus.n; i++)
		if (r->e.m->pdus.at[i].rack == r->e.v->of->rack && r->n < STRIPS_MAX)
			add_strip(r, i);
}

static const struct strip *strip_of(const struct rear *r, size_t pdu)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->strips[i].pdu == pdu)
			return &r->strips[i];
	return NULL;
}

static void place_strips(struct rear *r)
{
	const double left = STRIP_GAP + r->n_left * (STRIP + STRIP_GAP) - STRIP_GAP;
	double x_left = left - STRIP, x_right;

	r->e.left = left + CHANNEL;
	x_right = r->e.left + ELEVATION_WIDTH + CHANNEL;
	for (unsigned i = 0; i < r->n; i++) {
		struct strip *s = &r->strips[i];

		s->x = s->left ? x_left : x_right;
		if (s->left)
			x_left -= STRIP + STRIP_GAP;
		else
			x_right += STRIP + STRIP_GAP;
		s->columns = s->n * 9 > elevation_height(&r->e) ? 2 : 1;
		s->pitch = elevation_height(&r->e) /
			   (double)((s->n + s->columns - 1) / s->columns + (s->n == 0));
		if (s->pitch > OUTLET_MAX + 3)
			s->pitch = OUTLET_MAX + 3;
	}
	r->width = r->e.left + ELEVATION_WIDTH + CHANNEL + r->n_right * (STRIP + STRIP_GAP);
}

/* --- outlets --- */

static struct svg_box outlet_box(const struct rear *r, const struct strip *s, size_t i)
{
	const double wide = s->columns == 2 ? STRIP / 2 - 3 : OUTLET_MAX + 5;
	const double high = s->pitch - 2 > OUTLET_MAX ? OUTLET_MAX : s->pitch - 2;
	const double column = (double)(i % s->columns), row = (double)(i / s->columns);
	const double x =
		s->columns == 2 ? s->x + 2 + column * (wide + 2) : s->x + (STRIP - wide) / 2;

	(void)r;
	return (struct svg_box){x, ELEVATION_TOP + row * s->pitch + 1, wide, high};
}

static const char *phase_name(unsigned phase)
{
	return phase > 0 && phase < PHASE_N ? MODEL_PHASES[phase] : "";
}

static void add_outlet_tip(struct buf *tip, const struct rear *r, size_t outlet)
{
	const struct outlet *o = &r->e.m->outlets.at[outlet];
	const uint32_t cord = r->a->graph.outlet_cord[outlet];
	char name[160];

	snprintf(name, sizeof name, "%.80s/%.40s", r->e.m->pdus.at[o->pdu].name, o->name);
	text_add(tip, r->e.lang, TEXT_P_OUTLET, name);
	if (o->type)
		buf_addf(tip, ", %s", o->type);
	if (o->phase)
		buf_addf(tip, ", %s", phase_name(o->phase));
	if (o->bank) {
		snprintf(name, sizeof name, "%u", o->bank);
		buf_add_text(tip, ", ");
		text_add(tip, r->e.lang, TEXT_P_BANK, name);
	}
	if (cord != GRAPH_NONE) {
		const struct port *p = &r->e.m->ports.at[r->e.m->cords.at[cord].port];

		buf_addf(tip, ": %s/%s", r->e.m->devices.at[p->device].name, p->name);
	} else {
		buf_addf(tip, ": %s", text_get(r->e.lang, TEXT_P_FREE));
	}
}

static void draw_outlet(const struct rear *r, const struct strip *s, size_t i)
{
	const size_t outlet = r->outlets.at[s->first + i];
	const struct outlet *o = &r->e.m->outlets.at[outlet];
	const struct svg_box at = outlet_box(r, s, i);
	const bool taken = r->a->graph.outlet_cord[outlet] != GRAPH_NONE;
	const char *ink = s->colour == MODEL_NONE ? "#555" : palette_feed((unsigned)s->colour).ink;
	const double size = at.h > 11 ? 9 : at.h - 2;
	char attrs[160];
	AUTO_BUF tip;

	buf_init(&tip, 4096);
	add_outlet_tip(&tip, r, outlet);
	snprintf(attrs, sizeof attrs, "fill=\"%s\" stroke=\"%s\"", taken ? ink : "#fff",
		taken ? ink : "#aaa");
	svg_rect(r->e.out, at, attrs, buf_text(&tip));
	if (size < 7 || svg_text_width(o->name, size) > at.w)
		return;
	snprintf(attrs, sizeof attrs, "font-size=\"%.1f\" text-anchor=\"middle\" fill=\"%s\"%s",
		size, taken ? "#fff" : "#666", taken ? " font-weight=\"bold\"" : "");
	svg_text(r->e.out, at.x + at.w / 2, at.y + at.h / 2 + size * 0.36, attrs, o->name);
}

/* "L1" where the outlets of a phase begin, turned, at the outer edge. */
static void draw_phases(const struct rear *r, const struct strip *s)
{
	unsigned before = 0;
	char attrs[96];

	if (s->columns > 1)
		return;
	for (size_t i = 0; i < s->n; i++) {
		const unsigned phase = r->e.m->outlets.at[r->outlets.at[s->first + i]].phase;
		const struct svg_box at = outlet_box(r, s, i);
		const double x = s->left ? s->x - 3 : s->x + STRIP + 3;

		if (phase == before)
			continue;
		before = phase;
		snprintf(attrs, sizeof attrs, "font-size=\"8.5\" fill=\"#444\" text-anchor=\"%s\"",
			s->left ? "end" : "start");
		svg_text(r->e.out, x, at.y + at.h / 2 + 3, attrs, phase_name(phase));
		svg_line(r->e.out, s->x + 1, at.y - 1, s->x + STRIP - 1, at.y - 1,
			"stroke=\"#444\" stroke-width=\"0.8\"");
	}
}

static void draw_strip(const struct rear *r, const struct strip *s)
{
	const struct svg_box at = {s->x, ELEVATION_TOP - 3, STRIP, elevation_height(&r->e) + 6};
	const char *ink = s->colour == MODEL_NONE ? "#555" : palette_feed((unsigned)s->colour).ink;
	const char *name = r->e.m->pdus.at[s->pdu].name;
	const double room = r->n_left > 1 || r->n_right > 1 ? STRIP + STRIP_GAP : CHANNEL + STRIP;
	char attrs[160];
	AUTO_BUF shown;

	buf_init(&shown, 1024);
	snprintf(attrs, sizeof attrs, "fill=\"#f6f6f6\" stroke=\"%s\" stroke-width=\"1.5\"", ink);
	svg_rect(r->e.out, at, attrs, name);
	svg_fit(&shown, name, room, 10);
	snprintf(attrs, sizeof attrs,
		"font-size=\"10\" font-weight=\"bold\" text-anchor=\"%s\" fill=\"%s\"",
		s->left ? "start" : "end", ink);
	svg_text(r->e.out, s->left ? s->x : s->x + STRIP, 13, attrs, buf_text(&shown));
	draw_phases(r, s);
	for (size_t i = 0; i < s->n; i++)
		draw_outlet(r, s, i);
}

/* --- cords --- */

/* How many cords of the device end on that side, and which of them this one is. */
static unsigned count_side(
	const struct rear *r, size_t device, bool left, uint32_t cord, unsigned *which)
{
	const struct graph *g = &r->a->graph;
	unsigned n = 0;

	for (uint32_t k = g->device_first[device]; k < g->device_first[device + 1]; k++) {
		const size_t outlet = r->e.m->cords.at[g->device_cords[k]].outlet;
		const struct strip *s = strip_of(r, r->e.m->outlets.at[outlet].pdu);

		if (!s || s->left != left)
			continue;
		if (g->device_cords[k] == cord)
			*which = n;
		n++;
	}
	return n;
}

static bool find_outlet_box(
	const struct rear *r, const struct strip *s, size_t outlet, struct svg_box *out)
{
	for (size_t i = 0; i < s->n; i++) {
		if (r->outlets.at[s->first + i] == outlet) {
			*out = outlet_box(r, s, i);
			return true;
		}
	}
	return false;
}

static void draw_link(const struct rear *r, const struct strip *s, const double from[2],
	const double to[2], const char *tip)
{
	const struct feed_colour c = s->colour == MODEL_NONE ? (struct feed_colour){"#555", "none"}
							     : palette_feed((unsigned)s->colour);
	char attrs[160];

	snprintf(attrs, sizeof attrs, "stroke=\"%s\" stroke-width=\"1.6\" stroke-dasharray=\"%s\"",
		c.ink, c.dash);
	svg_link(r->e.out, from, to, attrs, tip);
	snprintf(attrs, sizeof attrs, "fill=\"%s\"", c.ink);
	svg_rect(r->e.out, (struct svg_box){from[0] - 2.5, from[1] - 2.5, 5, 5}, attrs, NULL);
}

/* A cord from the edge of its device to its outlet; to a PDU elsewhere it is only noted. */
static void draw_cord(struct rear *r, size_t device, struct svg_box box, uint32_t cord)
{
	const struct cord *c = &r->e.m->cords.at[cord];
	const size_t pdu = r->e.m->outlets.at[c->outlet].pdu;
	const struct strip *s = strip_of(r, pdu);
	struct svg_box outlet;
	unsigned which = 0, n;
	AUTO_BUF tip;

	buf_init(&tip, 4096);
	if (!s) {
		if (r->elsewhere.n == 0 || r->elsewhere.at[r->elsewhere.n - 1] != pdu)
			*vec_push(&r->elsewhere) = pdu;
		return;
	}
	if (!find_outlet_box(r, s, c->outlet, &outlet))
		return;
	n = count_side(r, device, s->left, cord, &which);
	buf_addf(&tip, "%s/%s → ", r->e.m->devices.at[device].name, r->e.m->ports.at[c->port].name);
	add_outlet_tip(&tip, r, c->outlet);
	draw_link(r, s,
		(const double[2]){
			s->left ? box.x : box.x + box.w, box.y + box.h * (which + 1) / (n + 1.0)},
		(const double[2]){s->left ? s->x + STRIP : s->x, outlet.y + outlet.h / 2},
		buf_text(&tip));
}

static void draw_cords(struct rear *r)
{
	const struct graph *g = &r->a->graph;
	struct svg_box box;

	vec_each(&r->e.v->devices, const struct view_device, d)
		for (uint32_t k = g->device_first[d->device];
			k < g->device_first[d->device + 1] &&
			elevation_place(&r->e, d->device, &box);
			k++)
			draw_cord(r, d->device, box, g->device_cords[k]);
}

static void draw_elsewhere(const struct rear *r)
{
	AUTO_BUF names;
	AUTO_BUF words;
	AUTO_BUF shown;

	buf_init(&names, 1u << 16);
	buf_init(&words, 1u << 16);
	buf_init(&shown, 1u << 16);
	for (size_t i = 0; i < r->elsewhere.n && names.n < 400; i++)
		if (!strstr(buf_text(&names), r->e.m->pdus.at[r->elsewhere.at[i]].name))
			buf_addf(&names, "%s%s", names.n ? ", " : "",
				r->e.m->pdus.at[r->elsewhere.at[i]].name);
	if (names.n == 0)
		return;
	text_add(&words, r->e.lang, TEXT_P_OUTSIDE, buf_text(&names));
	svg_fit(&shown, buf_text(&words), r->width - 8, 10);
	svg_text(r->e.out, 4, ELEVATION_TOP + elevation_height(&r->e) + 20, "font-size=\"10\"",
		buf_text(&shown));
}

void elevation_rear(const struct view_rack *v, enum text_lang lang, struct buf *out)
{
	struct rear r = {.a = v->report->audit};

	elevation_make(&r.e, v, lang, out, true);
	find_strips(&r);
	place_strips(&r);
	svg_begin(out, r.width, ELEVATION_TOP + elevation_height(&r.e) + 28,
		text_get(lang, TEXT_REAR));
	svg_text(out, r.e.left + ELEVATION_WIDTH / 2, 13,
		"font-size=\"12\" font-weight=\"bold\" text-anchor=\"middle\"",
		text_get(lang, TEXT_REAR));
	elevation_body(&r.e);
	draw_cords(&r);
	for (unsigned i = 0; i < r.n; i++)
		draw_strip(&r, &r.strips[i]);
	draw_elsewhere(&r);
	svg_end(out);
	vec_done(&r.outlets);
	vec_done(&r.elsewhere);
}
