/* view - looked up from the audit once per rack; nothing is computed that a rule has computed. */
#include "inventory/report/view.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "inventory/audit/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t view_cord_feed(const struct audit *a, size_t cord)
{
	const uint32_t e = graph_feed(&a->graph, (uint32_t)cord);

	return e == GRAPH_NONE ? MODEL_NONE : a->graph.at[e].row;
}

const struct element_load *view_worst(const struct audit *a, uint32_t element)
{
	const struct element_load *normal = &a->loads.normal[element];
	const struct element_load *worst = &a->loads.by_line[element];

	return worst->amps > normal->amps ? worst : normal;
}

/* --- racks --- */

/* Which feeds reach the rack: by cords, or because they are said to be its own. */
static bool *mark_feeds(const struct audit *a, const struct audit_rack *of)
{
	const struct graph *g = &a->graph;
	bool *marks = xcalloc(a->model->feeds.n + 1, sizeof *marks);

	for (size_t i = 0; i < a->model->feeds.n; i++)
		marks[i] = a->model->feeds.at[i].rack == of->rack;
	for (uint32_t i = g->rack_first[of->rack]; i < g->rack_first[of->rack + 1]; i++) {
		const uint32_t d = g->rack_devices[i];

		for (uint32_t k = g->device_first[d]; k < g->device_first[d + 1]; k++) {
			const size_t feed = view_cord_feed(a, g->device_cords[k]);

			if (feed != MODEL_NONE)
				marks[feed] = true;
		}
	}
	return marks;
}

static enum audit_verdict judge(const struct audit *a, const struct view_feed *f)
{
	const double near = a->policy.near_limit;

	if (f->normal.amps > f->limit_normal * (1 + 1e-9) ||
		f->worst.amps > f->limit_worst * (1 + 1e-9))
		return AUDIT_FAIL;
	return near > 0 && f->worst.amps > near * f->limit_worst ? AUDIT_WARN : AUDIT_PASS;
}

static void add_feeds(struct view_rack *v)
{
	const struct audit *a = v->report->audit;
	bool *marks = mark_feeds(a, v->of);

	for (size_t i = 0; i < a->model->feeds.n; i++) {
		struct view_feed f = {
			.feed = i, .element = graph_element(&a->graph, LEVEL_FEED, i)};

		if (!marks[i])
			continue;
		f.limit_normal = audit_limit(a, f.element, false);
		f.limit_worst = audit_limit(a, f.element, true);
		f.normal = a->loads.normal[f.element];
		f.worst = *view_worst(a, f.element);
		f.lost = a->losses.n > f.worst.loss ? a->losses.at[f.worst.loss]
						    : (struct audit_subject){NOUN_N, 0};
		f.verdict = judge(a, &f);
		*vec_push(&v->feeds) = f;
	}
	free(marks);
}

/* What findings do not list one by one; a common cause above is worth a warning, as in rule_psu. */
static enum audit_verdict fate(const struct audit *a, size_t device)
{
	const uint8_t below = a->loads.below[device].state, above = a->loads.above[device].state;
	const bool down = below == PSU_DOWN || above == PSU_DOWN;

	if (below == PSU_FULL && above == PSU_FULL)
		return AUDIT_PASS;
	if (a->demands[device].cords > 1)
		return below == PSU_DOWN || (down && a->n_lost) ? AUDIT_FAIL : AUDIT_WARN;
	return down && a->model->devices.at[device].single_ok ? AUDIT_PASS : AUDIT_WARN;
}

static enum audit_verdict verdict_of(const struct view_rack *v, size_t device)
{
	const struct audit *a = v->report->audit;
	enum audit_verdict worst = fate(a, device);

	for (size_t i = v->of->first; i < v->of->first + v->of->n; i++) {
		const struct finding *f = &a->findings.at[i];

		if (f->subject.noun == NOUN_DEVICE && f->subject.row == device &&
			f->verdict > worst)
			worst = f->verdict;
	}
	return worst;
}

static int from_top(const void *a, const void *b)
{
	const struct view_device *x = a, *y = b;

	return (x->device > y->device) - (x->device < y->device);
}

/* The same, when positions are known: insertion, racks are small. */
static void sort_by_position(struct view_rack *v)
{
	const struct model *m = v->report->audit->model;

	vec_sort(&v->devices, from_top);
	for (size_t i = 1; i < v->devices.n; i++) {
		const struct view_device moved = v->devices.at[i];
		const unsigned at = m->devices.at[moved.device].position;
		size_t k = i;

		while (k > 0 && m->devices.at[v->devices.at[k - 1].device].position < at) {
			v->devices.at[k] = v->devices.at[k - 1];
			k--;
		}
		v->devices.at[k] = moved;
	}
}

static void add_devices(struct view_rack *v)
{
	const struct audit *a = v->report->audit;
	const struct graph *g = &a->graph;

	for (uint32_t i = g->rack_first[v->of->rack]; i < g->rack_first[v->of->rack + 1]; i++) {
		const uint32_t d = g->rack_devices[i];

		*vec_push(&v->devices) = (struct view_device){.device = d,
			.verdict = verdict_of(v, d),
			.power = power_of(a->model, d, a->basis),
			.cords = g->device_first[d + 1] - g->device_first[d]};
	}
	sort_by_position(v);
}

void view_rack_make(
	const struct audit_report *r, const struct audit_rack *of, struct view_rack *out)
{
	*out = (struct view_rack){
		.report = r, .of = of, .rack = &r->audit->model->racks.at[of->rack]};
	add_feeds(out);
	add_devices(out);
	for (size_t i = of->first; i < of->first + of->n; i++) {
		const struct finding *f = &r->audit->findings.at[i];

		out->judged[f->rule] = true;
		if (f->verdict > out->rules[f->rule])
			out->rules[f->rule] = f->verdict;
	}
}

void view_rack_done(struct view_rack *v)
{
	if (!v)
		return;
	vec_done(&v->feeds);
	vec_done(&v->devices);
}

size_t view_colour(const struct view_rack *v, size_t feed)
{
	for (size_t i = 0; i < v->feeds.n; i++)
		if (v->feeds.at[i].feed == feed)
			return i;
	return MODEL_NONE;
}

const struct finding *view_find(const struct view_rack *v, enum audit_rule rule)
{
	for (size_t i = v->of->first; i < v->of->first + v->of->n; i++)
		if (v->report->audit->findings.at[i].rule == rule)
			return &v->report->audit->findings.at[i];
	return NULL;
}

/* --- words --- */

bool view_is_least(enum audit_rule rule)
{
	return rule == RULE_PSU_DOWN || rule == RULE_PSU_DEGRADED || rule == RULE_SINGLE_CORD ||
	       rule == RULE_CORDS || rule == RULE_DEW_POINT || rule == RULE_RIDE_THROUGH;
}

void view_add_share(struct buf *out, enum text_lang lang, const struct finding *f)
{
	const char *unit = f->unit ? f->unit : "";

	if (isnan(f->value) || isnan(f->limit) || f->limit == 0) {
		number_add_unit(out, lang, f->value, unit);
	} else if (view_is_least(f->rule)) {
		number_add(out, lang, f->value, number_decimals(unit));
		buf_add_char(out, '/');
		number_add_unit(out, lang, f->limit, unit);
	} else {
		number_add_share(out, lang, f->value / f->limit);
	}
}

void view_add_figures(struct buf *out, enum text_lang lang, const struct finding *f)
{
	AUTO_BUF value;

	buf_init(&value, 256);
	if (isnan(f->value))
		return;
	number_add_unit(&value, lang, f->value, f->unit);
	if (isnan(f->limit)) {
		buf_add_str(out, buf_str(&value));
		return;
	}
	text_add(out, lang, view_is_least(f->rule) ? TEXT_NEEDED_OF : TEXT_LIMIT_OF,
		buf_text(&value));
	number_add_unit(out, lang, f->limit, f->unit);
}

void view_add_what(
	struct buf *out, enum text_lang lang, const struct audit *a, const struct finding *f)
{
	AUTO_BUF figures;

	buf_init(&figures, 256);
	view_add_figures(&figures, lang, f);
	if (f->subject.noun < NOUN_N && f->subject.noun != NOUN_RACK) {
		text_add_subject(out, lang, a->model, f->subject);
		buf_addf(out, "%s%s%s", f->line ? " " : "", f->line ? f->line : "",
			figures.n ? ", " : "");
	}
	buf_add_str(out, buf_str(&figures));
}

void view_add_binding(
	struct buf *out, enum text_lang lang, const struct audit *a, const struct finding *f)
{
	AUTO_BUF what;
	const bool own = f->subject.noun >= NOUN_N || f->subject.noun == NOUN_RACK;

	buf_init(&what, 1u << 14);
	view_add_what(&what, lang, a, f);
	buf_add_text(out, text_rule_title(lang, f->rule));
	if (what.n)
		buf_addf(out, "%s%s", own ? ", " : ": ", buf_text(&what));
}

void view_add_circuit(struct buf *out, enum text_lang lang, const struct feed *f)
{
	number_add(out, lang, f->volts, 0);
	buf_addf(out, "\u202f%s, %u\u202f×\u202f", number_unit(lang, "V"), f->phases);
	number_add(out, lang, f->amps, 0);
	buf_addf(out, "\u202f%s", number_unit(lang, "A"));
}

void view_add_cords(struct buf *out, const struct audit *a, size_t device)
{
	const struct graph *g = &a->graph;
	const struct model *m = a->model;

	for (uint32_t k = g->device_first[device]; k < g->device_first[device + 1]; k++) {
		const struct cord *c = &m->cords.at[g->device_cords[k]];
		const struct outlet *o = &m->outlets.at[c->outlet];

		buf_addf(out, "%s%s/%s", k > g->device_first[device] ? ", " : "",
			m->pdus.at[o->pdu].name, o->name);
	}
}

void view_add_mass(struct buf *out, enum text_lang lang, double kg)
{
	if (kg > 0)
		number_add_unit(out, lang, kg, "kg");
	else
		buf_add_text(out, text_get(lang, TEXT_NOT_STATED));
}

void view_add_lost(struct buf *out, enum text_lang lang, const struct audit *a)
{
	char number[16];
	AUTO_BUF names;
	AUTO_BUF share;

	buf_init(&names, 1u << 12);
	buf_init(&share, 256);
	if (a->n_lost == 0)
		return;
	for (size_t i = 0; i < a->n_lost; i++) {
		buf_add_text(&names, i ? ", " : "");
		text_add_subject(&names, lang, a->model, a->lost[i]);
	}
	text_add(out, lang, TEXT_WITH_LOST, buf_text(&names));
	snprintf(number, sizeof number, "%u", a->down);
	text_add(&share, lang, TEXT_LOST_OF, number);
	buf_addf(&share, "%u", a->devices);
	text_add(out, lang, TEXT_LOST_DOWN, buf_text(&share));
}

void view_add_origin(struct buf *out, enum text_lang lang, const struct power *p)
{
	if (isnan(p->watts))
		buf_add_text(out, text_get(lang, TEXT_NOT_STATED));
	else if (p->basis == BASIS_MEASURED)
		buf_add_text(out, text_basis(lang, BASIS_MEASURED));
	else
		buf_add_text(out, text_origin(lang, p->origin));
	if (p->source)
		buf_addf(out, ": %s", p->source);
}
