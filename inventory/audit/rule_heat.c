/* rule_heat - heat to the air of a rack, the air it gets, its rear door. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

#define RISE_ASSUMED_C \
	12.0 /* of a server whose vendor states no airflow; fewer degrees, more air */

double audit_heat(const struct audit_run *r, uint32_t device, enum audit_pass pass)
{
	const double watts = r->d[device].watts[pass];
	const double vendor = audit_type(r, device)->heat_btu_h;
	struct power max;

	if (r->out->basis != BASIS_MEASURED || !model_stated(vendor))
		return formula_heat(watts, vendor);
	max = power_of(r->m, device, BASIS_MAX);
	return max.watts > 0 ? formula_heat(watts, vendor * fmin(1, watts / max.watts)) : watts;
}

double audit_cfm(const struct audit_run *r, uint32_t device, bool *assumed)
{
	const struct device_type *t = audit_type(r, device);
	const double density = formula_density(r->p->altitude_m);
	const double air = audit_heat(r, device, r->pass) *
			   (model_stated(t->liquid_share) ? 1 - t->liquid_share : 1);

	if (model_stated(t->cfm))
		return t->cfm / density;
	*assumed = *assumed || air > 0;
	return formula_cfm(air, RISE_ASSUMED_C * 1.8, density);
}

static const struct rack_cooling *cooling_of(const struct audit_run *r)
{
	return &r->m->racks.at[r->rack].cooling;
}

/* W of heat to the air of the rack. */
static double air_heat(const struct audit_run *r, enum audit_pass pass)
{
	double w = 0;

	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);
		const double share = audit_type(r, device)->liquid_share;

		w += audit_heat(r, device, pass) * (model_stated(share) ? 1 - share : 1);
	}
	return w;
}

/* W that the door takes at its water's temperature, 0 without one. */
static double door(const struct audit_run *r)
{
	const struct rack_cooling *c = cooling_of(r);

	return c->rdhx.n && model_stated(c->rdhx_water_c) ? formula_curve(&c->rdhx, c->rdhx_water_c)
							  : 0;
}

static struct finding about_rack(const struct audit_run *r)
{
	return (struct finding){.subject = {NOUN_RACK, r->rack}, .loss = {NOUN_N, 0}, .unit = "W"};
}

static void check_kw(struct audit_run *r)
{
	const double limit = cooling_of(r)->air_w, taken = door(r);
	const double heat = air_heat(r, r->pass);
	enum audit_verdict verdict[PASS_N];
	struct finding f = about_rack(r);

	if (!model_stated(limit))
		return;
	for (unsigned pass = 0; pass < PASS_N; pass++)
		verdict[pass] = audit_judge(formula_to_room(air_heat(r, pass), taken), limit, 0);
	f.value = formula_to_room(heat, taken);
	f.limit = limit;
	if (taken > 0)
		f.text = audit_text(r,
			"%.2f kW - %.2f kW of the door at %g C water = %.2f kW; air takes %.2f kW",
			heat / 1000, taken / 1000, cooling_of(r)->rdhx_water_c, f.value / 1000,
			limit / 1000);
	else
		f.text = audit_text(r, "%.2f kW = %.0f BTU/h = %.2f ton; air takes %.2f kW%s",
			heat / 1000, formula_btu_h(heat), formula_tons(formula_btu_h(heat)),
			limit / 1000,
			f.value > limit ? audit_text(r, "; short of %.2f kW", (heat - limit) / 1000)
					: "");
	audit_add(r, RULE_COOLING_KW, audit_both(verdict[PASS_PLAIN], verdict[PASS_CAPPED]), &f);
}

/* A door that fails leaves all of the heat to the room. */
static void check_door(struct audit_run *r)
{
	const double limit = cooling_of(r)->air_w, heat = air_heat(r, r->pass);
	struct finding f = about_rack(r);

	if (door(r) <= 0 || !model_stated(limit))
		return;
	f.value = heat;
	f.limit = limit;
	f.text = audit_text(r, "without its door %.2f kW reach the room; air takes %.2f kW",
		heat / 1000, limit / 1000);
	audit_add(r, RULE_RDHX, heat > limit ? AUDIT_WARN : AUDIT_PASS, &f);
}

static void check_cfm(struct audit_run *r)
{
	const double have = cooling_of(r)->cfm, heat = air_heat(r, r->pass);
	struct finding f = about_rack(r);
	bool assumed = false;
	double rise;

	for (uint32_t i = 0; i < audit_devices(r); i++)
		f.value += audit_cfm(r, audit_device(r, i), &assumed);
	if (!model_stated(have) || f.value <= 0)
		return;
	f.unit = "CFM";
	f.limit = have;
	if (assumed)
		f.assumes = "a rise of 12 C where no airflow is stated";
	rise = formula_rise_c(heat, f.value);
	if (f.value > have)
		f.text = audit_text(r,
			"boxes move %.0f CFM, the rack gets %.0f: short of %.0f, inlets warm up; "
			"%.1f C rise instead of %.1f C, which takes %.2f of %.2f kW",
			f.value, have, f.value - have, formula_rise_c(heat, have), rise,
			formula_removable(have, rise) / 1000, heat / 1000);
	else
		f.text = audit_text(r, "boxes move %.0f CFM, the rack gets %.0f; %.1f C rise",
			f.value, have, rise);
	audit_add(r, RULE_COOLING_CFM, audit_judge(f.value, have, 0), &f);
}

void rule_heat(struct audit_run *r)
{
	check_kw(r);
	check_door(r);
	check_cfm(r);
}
