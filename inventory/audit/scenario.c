/* scenario - marks with the number of the play tell what is touched; nothing is ever cleared. */
#include "inventory/audit/scenario.h"

#include "agent/base/mem.h"
#include "inventory/audit/formula.h"
#include "inventory/audit/limit.h"

#include <math.h>
#include <string.h>

#define TRIP_TOLERANCE 1e-9

struct sim {
	const struct graph *g;
	const struct policy *p;
	const struct demand *demands;
	enum audit_pass pass;
	double (*normal)[PHASE_N], (*now)[PHASE_N]; /* W by element and phase */
	double *rating;                             /* by element */
	double *cord_now;
	uint32_t *element_mark, *dead_mark, *cord_mark, *cord_dead, *device_mark, *queued;
	uint8_t *state; /* of touched devices: enum psu_state */
	uint32_t *rack_mark;
	struct rack_cascade *rack_now;
	uint32_t play, round; /* marks: never repeated */
	struct vec(uint32_t) touched, devices, queue, trips;
	struct sim_result r;
};

static void *rows(struct arena *a, size_t n, size_t size)
{
	return arena_alloc(a, (n + 1) * size);
}

uint32_t sim_element(const struct graph *g, struct audit_subject what)
{
	static const struct {
		enum model_noun noun;
		enum level level;
	} levels[] = {{NOUN_OUTLET, LEVEL_OUTLET}, {NOUN_BANK, LEVEL_BANK}, {NOUN_PDU, LEVEL_PDU},
		{NOUN_FEED, LEVEL_FEED}, {NOUN_PANEL, LEVEL_PANEL}, {NOUN_UPS, LEVEL_UPS}};

	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (levels[i].noun == what.noun)
			return graph_element(g, levels[i].level, what.row);
	return GRAPH_NONE;
}

struct audit_subject sim_subject(const struct graph *g, uint32_t element)
{
	static const enum model_noun nouns[LEVEL_N] = {
		NOUN_OUTLET, NOUN_BANK, NOUN_PDU, NOUN_FEED, NOUN_PANEL, NOUN_UPS};

	return (struct audit_subject){nouns[g->at[element].level], g->at[element].row};
}

/* --- loads --- */

static double sum(const double w[PHASE_N])
{
	double s = 0;

	for (unsigned i = 0; i < PHASE_N; i++)
		s += w[i];
	return s;
}

static struct element_load load_of(const struct sim *s, uint32_t i, const double w[PHASE_N])
{
	const struct element *e = &s->g->at[i];
	struct element_load l = {.watts = sum(w)};

	if (isnan(e->volts))
		return l;
	if (e->phases == 1) {
		l.amps = l.lines[0] = formula_amps(l.watts, e->volts, 1, s->p->power_factor);
		return l;
	}
	formula_lines(w, e->volts, s->p->power_factor, l.lines);
	for (uint8_t k = 0; k < 3; k++) {
		if (l.lines[k] > l.amps) {
			l.amps = l.lines[k];
			l.line = k;
		}
	}
	return l;
}

/* The first touch in a play copies the normal load. */
static void touch(struct sim *s, uint32_t e)
{
	if (s->element_mark[e] == s->play)
		return;
	s->element_mark[e] = s->play;
	memcpy(s->now[e], s->normal[e], sizeof s->now[e]);
	*vec_push(&s->touched) = e;
}

/* Adds watts of a cord to all that is above it; not to what is dark below lost (or GRAPH_NONE). */
static void add_above(struct sim *s, uint32_t cord, double watts, uint32_t lost)
{
	const struct graph *g = s->g;
	uint8_t phase = g->cord_phase[cord];
	bool dark = lost != GRAPH_NONE;

	for (uint32_t e = graph_outlet(g, cord); e != GRAPH_NONE; e = g->at[e].parent) {
		if (!dark) {
			touch(s, e);
			s->now[e][phase] += watts;
		}
		dark = dark && e != lost;
		watts *= g->at[e].gain;
		if (g->at[e].up != PHASE_UNSTATED)
			phase = g->at[e].up;
	}
}

static double normal_watts(const struct sim *s, uint32_t cord)
{
	const struct demand *d = &s->demands[s->g->cord_device[cord]];

	return d->cords ? d->watts[s->pass] / d->cords : 0;
}

static void set_cord(struct sim *s, uint32_t cord, double watts)
{
	const double was =
		s->cord_mark[cord] == s->play ? s->cord_now[cord] : normal_watts(s, cord);

	if (watts != was)
		add_above(s, cord, watts - was, GRAPH_NONE);
	s->cord_mark[cord] = s->play;
	s->cord_now[cord] = watts;
}

/* The cord goes dark with what is lost above it; nothing below that is worth a look any more. */
static void drop_cord(struct sim *s, uint32_t cord, uint32_t lost)
{
	const double was =
		s->cord_mark[cord] == s->play ? s->cord_now[cord] : normal_watts(s, cord);

	if (s->g->at[lost].parent != GRAPH_NONE)
		add_above(s, cord, -was, lost);
	s->cord_mark[cord] = s->play;
	s->cord_now[cord] = 0;
}

static void make_normal(struct sim *s)
{
	const struct graph *g = s->g;

	for (uint32_t i = 0; i < g->m->cords.n; i++) {
		double w = normal_watts(s, i);
		uint8_t phase = g->cord_phase[i];

		for (uint32_t e = graph_outlet(g, i); e != GRAPH_NONE; e = g->at[e].parent) {
			s->normal[e][phase] += w;
			w *= g->at[e].gain;
			if (g->at[e].up != PHASE_UNSTATED)
				phase = g->at[e].up;
		}
	}
	for (uint32_t e = 0; e < g->base[LEVEL_N]; e++)
		s->r.normal[e] = load_of(s, e, s->normal[e]);
}

/* --- hot spare: half of the PSUs sleep, so that one side may carry all --- */

static unsigned awake(const struct demand *d)
{
	return (d->cords + 1u) / 2;
}

/* How many of the device's cords hang on e; there are few. */
static unsigned cords_on(const struct graph *g, uint32_t device, uint32_t e)
{
	unsigned n = 0;

	for (uint32_t k = g->device_first[device]; k < g->device_first[device + 1]; k++) {
		uint32_t at = graph_outlet(g, g->device_cords[k]);

		while (at != GRAPH_NONE && at != e)
			at = g->at[at].parent;
		n += at == e;
	}
	return n;
}

static void add_awake(struct sim *s, uint32_t device, uint32_t cord)
{
	const struct graph *g = s->g;
	const struct demand *d = &s->demands[device];
	const unsigned half = awake(d);
	uint8_t phase = g->cord_phase[cord];
	double gain = 1;

	for (uint32_t e = graph_outlet(g, cord); e != GRAPH_NONE; e = g->at[e].parent) {
		const unsigned n = cords_on(g, device, e);

		if (s->element_mark[e] != s->play) {
			s->element_mark[e] = s->play;
			memcpy(s->now[e], s->normal[e], sizeof s->now[e]);
			*vec_push(&s->touched) = e;
		}
		s->now[e][phase] +=
			gain * (d->watts[s->pass] / (n > half ? n : half) - normal_watts(s, cord));
		gain *= g->at[e].gain;
		if (g->at[e].up != PHASE_UNSTATED)
			phase = g->at[e].up;
	}
}

static void add_hot_spares(struct sim *s)
{
	const struct graph *g = s->g;

	s->play++;
	s->touched.n = 0;
	for (uint32_t i = 0; i < g->m->devices.n; i++) {
		if (!s->demands[i].hot_spare || s->demands[i].cords < 2)
			continue;
		for (uint32_t k = g->device_first[i]; k < g->device_first[i + 1]; k++)
			add_awake(s, i, g->device_cords[k]);
	}
	vec_each(&s->touched, uint32_t, e) {
		const struct element_load l = load_of(s, *e, s->now[*e]);

		if (l.amps > s->r.normal[*e].amps) {
			s->r.normal[*e] = l;
			s->r.normal[*e].hot_spare = true;
		}
	}
}

struct sim *sim_new(struct arena *a, const struct graph *g, const struct policy *p,
	const struct demand *demands, enum audit_pass pass)
{
	struct sim *s = xcalloc(1, sizeof *s);
	const size_t n = g->base[LEVEL_N], devices = g->m->devices.n, cords = g->m->cords.n;

	*s = (struct sim){.g = g, .p = p, .demands = demands, .pass = pass};
	s->normal = rows(a, n, sizeof *s->normal);
	s->now = rows(a, n, sizeof *s->now);
	s->rating = rows(a, n, sizeof(double));
	s->cord_now = rows(a, cords, sizeof(double));
	s->element_mark = rows(a, n, sizeof(uint32_t));
	s->dead_mark = rows(a, n, sizeof(uint32_t));
	s->cord_mark = rows(a, cords, sizeof(uint32_t));
	s->cord_dead = rows(a, cords, sizeof(uint32_t));
	s->device_mark = rows(a, devices, sizeof(uint32_t));
	s->queued = rows(a, devices, sizeof(uint32_t));
	s->state = rows(a, devices, 1);
	s->rack_mark = rows(a, g->m->racks.n, sizeof(uint32_t));
	s->rack_now = rows(a, g->m->racks.n, sizeof *s->rack_now);
	s->r.normal = rows(a, n, sizeof *s->r.normal);
	s->r.by_line = rows(a, n, sizeof *s->r.by_line);
	s->r.by_watts = rows(a, n, sizeof *s->r.by_watts);
	s->r.below = rows(a, devices, sizeof *s->r.below);
	s->r.above = rows(a, devices, sizeof *s->r.above);
	s->r.cascades = rows(a, g->m->racks.n, sizeof *s->r.cascades);
	for (uint32_t e = 0; e < n; e++)
		s->rating[e] = limit_rating(g, p, e);
	make_normal(s);
	add_hot_spares(s);
	return s;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	vec_done(&s->touched);
	vec_done(&s->devices);
	vec_done(&s->queue);
	vec_done(&s->trips);
	free(s);
}

const struct sim_result *sim_results(const struct sim *s)
{
	return &s->r;
}

/* --- a play --- */

static void kill_element(struct sim *s, uint32_t e)
{
	const struct graph *g = s->g;

	s->dead_mark[e] = s->play;
	for (uint32_t k = 0; k < g->at[e].n; k++) {
		const uint32_t cord = g->below[g->at[e].first + k];
		const uint32_t device = g->cord_device[cord];

		if (s->cord_dead[cord] == s->play)
			continue;
		s->cord_dead[cord] = s->play;
		drop_cord(s, cord, e);
		if (s->queued[device] != s->round) {
			s->queued[device] = s->round;
			*vec_push(&s->queue) = device;
		}
	}
}

static unsigned alive_cords(const struct sim *s, uint32_t device)
{
	const struct graph *g = s->g;
	unsigned n = 0;

	for (uint32_t k = g->device_first[device]; k < g->device_first[device + 1]; k++)
		n += s->cord_dead[g->device_cords[k]] != s->play;
	return n;
}

static void share_again(struct sim *s, uint32_t device)
{
	const struct graph *g = s->g;
	const struct demand *d = &s->demands[device];
	const struct device_type *t = graph_type(g->m, device);
	const unsigned alive = alive_cords(s, device);
	const enum psu_state state = formula_psu_state(d->needed, d->least, alive);
	unsigned parts = alive;
	double watts = 0;

	if (s->device_mark[device] != s->play) {
		s->device_mark[device] = s->play;
		*vec_push(&s->devices) = device;
	}
	s->state[device] = (uint8_t)state;
	if (state != PSU_DOWN)
		watts = demand_after(t, d, d->watts[s->pass], alive);
	if (d->hot_spare && d->cords > 1 && awake(d) < parts)
		parts = awake(d);
	for (uint32_t k = g->device_first[device]; k < g->device_first[device + 1]; k++)
		if (s->cord_dead[g->device_cords[k]] != s->play)
			set_cord(s, g->device_cords[k], watts / parts);
}

static void share_queue(struct sim *s)
{
	vec_each(&s->queue, uint32_t, device)
		share_again(s, *device);
	s->queue.n = 0;
	s->round++;
}

static void note_fates(struct sim *s, bool above, uint32_t loss)
{
	struct device_fate *fates = above ? s->r.above : s->r.below;

	vec_each(&s->devices, uint32_t, device) {
		struct device_fate *f = &fates[*device];

		if (s->state[*device] > f->state)
			*f = (struct device_fate){.state = s->state[*device],
				.alive = (uint8_t)alive_cords(s, *device),
				.loss = loss};
	}
}

/* Whether it, or something above it, is lost. */
static bool is_dark(const struct sim *s, uint32_t e)
{
	for (; e != GRAPH_NONE; e = s->g->at[e].parent)
		if (s->dead_mark[e] == s->play)
			return true;
	return false;
}

static void note_loads(struct sim *s, uint32_t loss)
{
	vec_each(&s->touched, uint32_t, e) {
		const bool totals = s->g->at[*e].level != LEVEL_OUTLET; /* one line: the same */
		struct element_load l = load_of(s, *e, s->now[*e]);
		const bool line = l.amps > s->r.by_line[*e].amps;
		const bool total = totals && l.watts > s->r.by_watts[*e].watts;

		if ((!line && !total) || is_dark(s, *e))
			continue;
		l.loss = loss;
		if (line)
			s->r.by_line[*e] = l;
		if (total)
			s->r.by_watts[*e] = l;
	}
}

static double strain(const struct sim *s, uint32_t e, const double w[PHASE_N])
{
	const struct element_load l = load_of(s, e, w);

	return s->g->at[e].level == LEVEL_UPS ? l.watts : l.amps;
}

/* Those of the lowest level that are above their rating, for breakers near the load trip first. */
static void find_trips(struct sim *s, const uint32_t *at, size_t n)
{
	enum level lowest = LEVEL_N;

	s->trips.n = 0;
	for (size_t i = 0; i < n; i++) {
		const uint32_t e = at[i];
		const enum level level = s->g->at[e].level;

		if (isnan(s->rating[e]) || level > lowest ||
			!(strain(s, e, s->now[e]) > s->rating[e] + TRIP_TOLERANCE) || is_dark(s, e))
			continue;
		if (level < lowest)
			s->trips.n = 0;
		lowest = level;
		*vec_push(&s->trips) = e;
	}
}

static void touch_overloaded(struct sim *s)
{
	for (uint32_t e = 0; e < s->g->base[LEVEL_N]; e++) {
		if (isnan(s->rating[e]) ||
			!(strain(s, e, s->normal[e]) > s->rating[e] + TRIP_TOLERANCE))
			continue;
		touch(s, e);
	}
}

static void note_rack(struct sim *s, uint32_t device, const struct rack_cascade *how)
{
	const size_t rack = s->g->m->devices.at[device].rack;

	if (rack == MODEL_NONE)
		return;
	if (s->rack_mark[rack] != s->play) {
		s->rack_mark[rack] = s->play;
		s->rack_now[rack] = *how;
	}
	s->rack_now[rack].devices++;
	if (s->rack_now[rack].devices > s->r.cascades[rack].devices)
		s->r.cascades[rack] = s->rack_now[rack];
}

/* Follows the trips to the end. before: the states after the loss itself, by place in devices. */
static void follow_trips(struct sim *s, uint32_t loss)
{
	struct rack_cascade how = {.loss = loss, .first = GRAPH_NONE};
	struct vec(uint8_t) before = VEC_INIT;

	vec_each(&s->devices, uint32_t, device)
		*vec_push(&before) = s->state[*device];
	for (find_trips(s, s->touched.at, s->touched.n); s->trips.n > 0;
		find_trips(s, s->touched.at, s->touched.n)) {
		if (how.first == GRAPH_NONE) {
			how.first = s->trips.at[0];
			how.amps = strain(s, how.first, s->now[how.first]);
		}
		how.trips += (unsigned)s->trips.n;
		vec_each(&s->trips, uint32_t, e)
			kill_element(s, *e);
		share_queue(s);
	}
	for (size_t i = 0; how.trips && i < s->devices.n; i++)
		if (s->state[s->devices.at[i]] == PSU_DOWN &&
			(i >= before.n || before.at[i] != PSU_DOWN))
			note_rack(s, s->devices.at[i], &how);
	vec_done(&before);
}

void sim_play(struct sim *s, const struct audit_subject *lost, size_t n, uint32_t loss)
{
	bool above = n == 1; /* several at once are no common cause */

	s->play++;
	s->round++;
	s->touched.n = s->devices.n = s->queue.n = 0;
	for (size_t i = 0; i < n; i++) {
		const uint32_t e = sim_element(s->g, lost[i]);

		if (e == GRAPH_NONE)
			continue;
		above = above && s->g->at[e].level >= LEVEL_PANEL;
		kill_element(s, e);
	}
	share_queue(s);
	if (n == 0)
		touch_overloaded(s);
	else
		note_loads(s, loss);
	note_fates(s, above, loss);
	follow_trips(s, loss);
}
