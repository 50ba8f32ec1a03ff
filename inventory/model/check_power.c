/* check_power - volts, amps and phases; what hangs on what; PSUs and caps of device types. */
#include "inventory/model/check_priv.h"

#include <stdio.h>
#include <string.h>

#define AMPS_MAX 6300 /* the largest frame of an air circuit breaker */

/* What feeds and panels state alike. */
struct circuit {
	enum model_noun noun;
	size_t row;
	const char *name;
	double volts, amps, max_utilization;
	unsigned phases;
	enum volts_are are;
};

/* --- one figure --- */

/* Three phases against neutral: 120, 230, 240 V. */
static bool is_to_neutral(double v)
{
	return (v >= 100 && v <= 130) || (v >= 220 && v <= 250);
}

static void check_three_phases(
	const struct model_check *c, struct model_problem *p, const struct circuit *f)
{
	const char *noun = model_noun_name(f->noun);
	const double v = f->volts;

	if (f->are == VOLTS_LN) {
		if (v >= 90 && v < 300)
			return;
		snprintf(p->hint, sizeof p->hint, "state 'volts_are: LL' if it is line to line");
		check_tell(
			c, p, "%s '%s' has %g V to neutral, expected 90 to 300", noun, f->name, v);
	} else if (f->are == VOLTS_LL ? v < 190 && v >= 100 : is_to_neutral(v)) {
		snprintf(p->hint, sizeof p->hint,
			"state it line to line: %.0f; or add 'volts_are: LN'",
			v > 200 ? (v < 235 ? 400.0 : 415.0) : 208.0);
		check_tell(c, p, "%s '%s' has three phases; %g V is the voltage of one", noun,
			f->name, v);
	} else if (v < 190 || v > 1000) {
		snprintf(p->hint, sizeof p->hint, "400 in Europe, 208 or 415 in North America");
		check_tell(c, p, "%s '%s' has %g V, expected 190 to 1000 for three phases", noun,
			f->name, v);
	}
}

static void check_volts(const struct model_check *c, const struct circuit *f)
{
	struct model_problem p = {
		.code = E_SCHEMA, .noun = f->noun, .row = f->row, .field = "volts"};
	const char *noun = model_noun_name(f->noun);

	if (isnan(f->volts)) {
		check_tell(c, &p, "%s '%s' states no volts", noun, f->name);
	} else if (f->phases == 3) {
		check_three_phases(c, &p, f);
	} else if (f->phases == 1 && f->volts >= 300) {
		snprintf(p.hint, sizeof p.hint, "state 'phases: 3', or the volts to neutral: 230");
		check_tell(c, &p, "%s '%s' has one phase; %g V is the voltage between three", noun,
			f->name, f->volts);
	} else if (f->phases == 1 && f->volts < 90) {
		check_tell(c, &p, "%s '%s' has %g V, expected 90 to 300 for one phase", noun,
			f->name, f->volts);
	}
}

/* field: "amps", "plug_amps". */
static void check_amps(
	const struct model_check *c, struct model_problem *p, const char *name, double amps)
{
	const char *noun = model_noun_name(p->noun);

	if (isnan(amps)) {
		snprintf(
			p->hint, sizeof p->hint, "state the rating of its breaker: 16, 32, 63 ...");
		check_tell(c, p, "%s '%s' states no amps", noun, name);
	} else if (amps <= 0 || amps > AMPS_MAX) {
		check_tell(c, p, "%s '%s' has %g A, expected more than 0 and at most %d", noun,
			name, amps, AMPS_MAX);
	}
}

static void check_circuit(const struct model_check *c, const struct circuit *f)
{
	struct model_problem p = {.code = E_SCHEMA, .noun = f->noun, .row = f->row};
	const char *noun = model_noun_name(f->noun);

	p.field = "phases";
	if (f->phases != 1 && f->phases != 3)
		check_tell(
			c, &p, "%s '%s' has %u phases, expected 1 or 3", noun, f->name, f->phases);
	check_volts(c, f);
	p.field = "amps";
	check_amps(c, &p, f->name, f->amps);
	p.field = "max_utilization";
	if (f->max_utilization <= 0 || f->max_utilization > 1) /* false for unset */
		check_tell(c, &p,
			"%s '%s' has a max_utilization of %g, expected more than 0 and at most 1",
			noun, f->name, f->max_utilization);
}

/* --- feeds, panels, PDUs, banks --- */

static void check_feed(const struct model_check *c, size_t row)
{
	const struct feed *f = &c->m->feeds.at[row];
	const struct circuit circuit = {NOUN_FEED, row, f->name, f->volts, f->amps,
		f->max_utilization, f->phases, f->volts_are};
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_FEED, .row = row};

	check_circuit(c, &circuit);
	p.field = "phase";
	if (f->phase && f->phases == 3 && f->phase != PHASE_ALL) {
		snprintf(p.hint, sizeof p.hint, "remove 'phase', or state 'phases: 1'");
		check_tell(c, &p, "feed '%s' has three phases, not just %s", f->name,
			MODEL_PHASES[f->phase]);
	} else if (f->phase == PHASE_ALL && f->phases == 1) {
		check_tell(c, &p, "feed '%s' has one phase and cannot be on all three", f->name);
	}
	p.code = E_SCHEMA;
	p.field = "plug_amps";
	if (model_stated(f->plug_amps))
		check_amps(c, &p, f->name, f->plug_amps);
}

/* A panel may state nothing; what it states must fit together. */
static void check_panel(const struct model_check *c, size_t row)
{
	const struct panel *p = &c->m->panels.at[row];
	struct circuit circuit = {NOUN_PANEL, row, p->name, p->volts, p->amps,
		model_stated(p->max_utilization) ? p->max_utilization : MODEL_UNSET, p->phases,
		VOLTS_UNSTATED};
	struct model_problem bad = {.code = E_SCHEMA, .noun = NOUN_PANEL, .row = row};

	if (!model_stated(p->volts) && p->phases == 0) {
		bad.field = "amps";
		if (model_stated(p->amps))
			check_amps(c, &bad, p->name, p->amps);
		return;
	}
	if (!model_stated(p->amps))
		circuit.amps = 1; /* need not be stated */
	if (!model_stated(p->volts))
		circuit.volts = p->phases == 3 ? 400 : 230;
	else if (p->phases == 0)
		circuit.phases = 3;
	check_circuit(c, &circuit);
}

static void check_pdu(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_SCHEMA, .noun = NOUN_PDU, .row = row, .field = "amps"};
	const struct pdu *pdu = &c->m->pdus.at[row];

	if (!isnan(pdu->amps))
		check_amps(c, &p, pdu->name, pdu->amps);
	p.code = E_CONFLICT;
	p.field = "upstream";
	if (pdu->feed != MODEL_NONE && pdu->upstream.kind != SUPPLY_NONE) {
		snprintf(p.hint, sizeof p.hint, "remove one of the two");
		check_tell(c, &p, "PDU '%s' hangs on feed '%s' and on an outlet", pdu->name,
			c->m->feeds.at[pdu->feed].name);
	}
}

static void check_bank(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_SCHEMA, .noun = NOUN_BANK, .row = row, .field = "amps"};
	const struct bank *b = &c->m->banks.at[row];

	check_amps(c, &p, b->name, model_stated(b->amps) ? b->amps : MODEL_UNSET);
}

static void check_ups(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_UPS, .row = row, .field = "kw"};
	const struct ups *u = &c->m->upses.at[row];

	if (!model_stated(u->kva) && !model_stated(u->kw)) {
		p.code = E_SCHEMA;
		snprintf(p.hint, sizeof p.hint, "state kva, kw or both");
		check_tell(c, &p, "UPS '%s' states no capacity", u->name);
	} else if (model_stated(u->kva) && u->kw > u->kva) {
		check_tell(
			c, &p, "UPS '%s' has %g kW, more than its %g kVA", u->name, u->kw, u->kva);
	}
}

void model_check_feeds(const struct model_check *c)
{
	for (size_t i = 0; i < c->m->panels.n; i++)
		check_panel(c, i);
	for (size_t i = 0; i < c->m->upses.n; i++)
		check_ups(c, i);
	for (size_t i = 0; i < c->m->feeds.n; i++)
		check_feed(c, i);
	for (size_t i = 0; i < c->m->pdus.n; i++)
		check_pdu(c, i);
	for (size_t i = 0; i < c->m->banks.n; i++)
		check_bank(c, i);
}

/* --- what hangs on what --- */

static struct supply above(const struct model *m, struct supply s)
{
	switch (s.kind) {
	case SUPPLY_PANEL:
		return m->panels.at[s.row].upstream;
	case SUPPLY_UPS:
		return m->upses.at[s.row].upstream;
	case SUPPLY_OUTLET:
		return m->pdus.at[m->outlets.at[s.row].pdu].upstream;
	default:
		return (struct supply){SUPPLY_NONE, 0};
	}
}

/* Whether going up from s comes back to the row that it began with. */
static bool comes_back(const struct model *m, struct supply s, enum supply_kind kind, size_t row)
{
	const size_t most = m->panels.n + m->upses.n + m->pdus.n + 1;

	for (size_t i = 0; i < most && s.kind != SUPPLY_NONE; i++) {
		if (kind == SUPPLY_OUTLET && s.kind == kind && m->outlets.at[s.row].pdu == row)
			return true;
		if (kind != SUPPLY_OUTLET && s.kind == kind && s.row == row)
			return true;
		s = above(m, s);
	}
	return false;
}

static void tell_loop(
	const struct model_check *c, enum model_noun noun, size_t row, const char *name)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = noun, .row = row, .field = "upstream"};

	snprintf(p.hint, sizeof p.hint, "correct the 'upstream' of one of the loop");
	check_tell(c, &p, "%s '%s' is fed by itself in the end", model_noun_name(noun), name);
}

static void check_two_sources(const struct model_check *c, size_t row)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = NOUN_FEED, .row = row, .field = "upstream"};
	const struct feed *f = &c->m->feeds.at[row];

	if (f->panel == MODEL_NONE || f->upstream.kind == SUPPLY_NONE ||
		(f->upstream.kind == SUPPLY_PANEL && f->upstream.row == f->panel))
		return;
	snprintf(p.hint, sizeof p.hint, "remove one; what feeds the panel is the panel's upstream");
	check_tell(c, &p, "feed '%s' hangs on panel '%s' and on something else", f->name,
		c->m->panels.at[f->panel].name);
}

void model_check_supplies(const struct model_check *c)
{
	const struct model *m = c->m;

	for (size_t i = 0; i < m->panels.n; i++)
		if (comes_back(m, m->panels.at[i].upstream, SUPPLY_PANEL, i))
			tell_loop(c, NOUN_PANEL, i, m->panels.at[i].name);
	for (size_t i = 0; i < m->upses.n; i++)
		if (comes_back(m, m->upses.at[i].upstream, SUPPLY_UPS, i))
			tell_loop(c, NOUN_UPS, i, m->upses.at[i].name);
	for (size_t i = 0; i < m->pdus.n; i++)
		if (comes_back(m, m->pdus.at[i].upstream, SUPPLY_OUTLET, i))
			tell_loop(c, NOUN_PDU, i, m->pdus.at[i].name);
	for (size_t i = 0; i < m->feeds.n; i++)
		check_two_sources(c, i);
}

/* --- types and caps --- */

static void check_psus(const struct model_check *c, struct model_problem *p)
{
	const struct device_type *t = &c->m->types.at[p->row];

	p->field = "psus_needed";
	if (t->psus_needed > t->psus)
		check_tell(c, p, "'%s' needs %u PSUs but has %u", t->name, t->psus_needed, t->psus);
	p->field = "psus_min";
	if (t->psus_min > t->psus) {
		check_tell(c, p, "'%s' stays up with %u PSUs but has %u", t->name, t->psus_min,
			t->psus);
	} else if (t->psus_needed && t->psus_min > t->psus_needed) {
		snprintf(p->hint, sizeof p->hint,
			"psus_needed is for full power, psus_min to stay up at all");
		check_tell(c, p, "'%s' stays up with %u PSUs but needs only %u", t->name,
			t->psus_min, t->psus_needed);
	}
}

static void check_type(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_TYPE, .row = row};
	const struct device_type *t = &c->m->types.at[row];

	check_psus(c, &p);
	p.hint[0] = '\0';
	p.field = "inlet_c";
	if (t->inlet_min_c > t->inlet_max_c)
		check_tell(c, &p, "'%s' may breathe %g to %g degrees C: backwards", t->name,
			t->inlet_min_c, t->inlet_max_c);
	p.field = "gpu_watts";
	if (model_stated(t->gpu_min_w) && model_stated(t->gpu_max_w) && t->gpu_min_w > t->gpu_max_w)
		check_tell(c, &p, "the GPUs of '%s' may take %g to %g W: backwards", t->name,
			t->gpu_min_w, t->gpu_max_w);
	else if (model_stated(t->gpu_w) &&
		 ((model_stated(t->gpu_max_w) && t->gpu_w > t->gpu_max_w) ||
			 t->gpu_w < t->gpu_min_w))
		check_tell(c, &p, "the GPUs of '%s' take %g W, outside what they may", t->name,
			t->gpu_w);
}

/* A cap outside of what the GPUs allow cannot have been set. */
static void check_cap(const struct model_check *c, size_t row)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = NOUN_DEVICE, .row = row, .field = "cap.gpu_w"};
	const struct device *d = &c->m->devices.at[row];
	const struct device_type *t = d->type == MODEL_NONE ? NULL : &c->m->types.at[d->type];

	if (!t || !model_stated(d->cap.gpu_w))
		return;
	if (t->gpus == 0)
		check_tell(c, &p, "'%s' has a GPU cap, but its type '%s' has no GPUs", d->name,
			t->name);
	else if (d->cap.gpu_w < t->gpu_min_w)
		check_tell(c, &p, "the GPUs of '%s' cannot be capped at %g W, %g W is the least",
			d->name, d->cap.gpu_w, t->gpu_min_w);
	else if (model_stated(t->gpu_max_w) && d->cap.gpu_w > t->gpu_max_w)
		check_tell(c, &p, "the GPUs of '%s' cannot be capped at %g W, they take %g W",
			d->name, d->cap.gpu_w, t->gpu_max_w);
}

void model_check_types(const struct model_check *c)
{
	for (size_t i = 0; i < c->m->types.n; i++)
		check_type(c, i);
	for (size_t i = 0; i < c->m->devices.n; i++)
		check_cap(c, i);
}
