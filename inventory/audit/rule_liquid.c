/* rule_liquid - the liquid share of a rack's heat, the water for it, the dew point. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

#define DEW_MARGIN_C   2.0
#define RISE_ASSUMED_C 10.0

static const struct rack_cooling *cooling_of(const struct audit_run *r)
{
	return &r->m->racks.at[r->rack].cooling;
}

static const struct cooling_zone *zone_of(const struct audit_run *r)
{
	const size_t zone = r->m->racks.at[r->rack].cooling_zone;

	return zone == MODEL_NONE ? NULL : &r->m->zones.at[zone];
}

static double liquid_heat(const struct audit_run *r, enum audit_pass pass)
{
	double w = 0;

	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const double share = audit_type(r, audit_device(r, i))->liquid_share;

		if (model_stated(share))
			w += share * audit_heat(r, audit_device(r, i), pass);
	}
	return w;
}

static void check_kw(struct audit_run *r)
{
	const double limit = cooling_of(r)->liquid_w, heat = liquid_heat(r, r->pass);
	struct finding f = {
		.subject = {NOUN_RACK, r->rack}, .loss = {NOUN_N, 0}, .unit = "W", .value = heat};

	if (heat <= 0)
		return;
	f.limit = limit;
	if (!model_stated(limit)) {
		f.limit = MODEL_UNSET;
		f.text = audit_text(r, "%.2f kW go into liquid, and the rack's loop is not stated",
			heat / 1000);
		audit_add(r, RULE_LIQUID_KW, AUDIT_WARN, &f);
		return;
	}
	f.text = audit_text(
		r, "%.2f kW go into liquid; the loop takes %.2f kW", heat / 1000, limit / 1000);
	audit_add(r, RULE_LIQUID_KW,
		audit_both(audit_judge(liquid_heat(r, PASS_PLAIN), limit, 0),
			audit_judge(heat, limit, 0)),
		&f);
}

static void check_flow(struct audit_run *r)
{
	const struct rack_cooling *c = cooling_of(r);
	const double heat = liquid_heat(r, r->pass);
	const double rise = model_stated(c->liquid_rise_c) ? c->liquid_rise_c : RISE_ASSUMED_C;
	struct finding f = {.subject = {NOUN_RACK, r->rack}, .loss = {NOUN_N, 0}, .unit = "l/min"};

	if (heat <= 0 || !model_stated(c->liquid_lpm))
		return;
	f.value = formula_lpm(heat, rise);
	f.limit = c->liquid_lpm;
	f.assumes = model_stated(c->liquid_rise_c) ? NULL : "a rise of 10 C";
	f.text = audit_text(r, "14.33 x %.2f kW / %g C = %.1f l/min; the loop brings %.1f",
		heat / 1000, rise, f.value, f.limit);
	audit_add(r, RULE_LIQUID_FLOW, audit_judge(f.value, f.limit, 0), &f);
}

static void check_dew_point(struct audit_run *r)
{
	const struct rack_cooling *c = cooling_of(r);
	const struct cooling_zone *zone = zone_of(r);
	const double own = model_stated(c->dew_point_c) ? c->dew_point_c : MODEL_UNSET;
	const double dew = isnan(own) && zone ? zone->dew_point_c : own;
	double water = MODEL_UNSET;
	struct finding f = {.subject = {NOUN_RACK, r->rack}, .loss = {NOUN_N, 0}, .unit = "C"};

	if (c->rdhx.n && model_stated(c->rdhx_water_c))
		water = c->rdhx_water_c;
	if (model_stated(c->liquid_supply_c))
		water = isnan(water) ? c->liquid_supply_c : fmin(water, c->liquid_supply_c);
	if (isnan(dew) || isnan(water))
		return;
	f.value = water;
	f.limit = dew + DEW_MARGIN_C;
	f.text = audit_text(
		r, "water of %g C; a dew point of %g C asks for %g C", water, dew, f.limit);
	audit_add(r, RULE_DEW_POINT, water < f.limit ? AUDIT_FAIL : AUDIT_PASS, &f);
}

void rule_liquid(struct audit_run *r)
{
	check_kw(r);
	check_flow(r);
	check_dew_point(r);
}
