/* rule_envelope - the temperature at the inlets against what each device allows. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

static double least(double a, double b)
{
	if (isnan(a))
		return b;
	return isnan(b) ? a : fmin(a, b);
}

/* min(class max at the site's height, the device's own); NaN when neither is stated. */
static double max_of(const struct audit_run *r, uint32_t device)
{
	const struct device_type *t = audit_type(r, device);

	return least(model_stated(t->inlet_max_c) ? t->inlet_max_c : NAN,
		formula_class_max_at(t->ashrae, r->p->altitude_m));
}

static double cold_aisle(const struct audit_run *r)
{
	const struct rack *rack = &r->m->racks.at[r->rack];

	if (model_stated(rack->cooling.cold_aisle_c))
		return rack->cooling.cold_aisle_c;
	return rack->cooling_zone == MODEL_NONE ? NAN
						: r->m->zones.at[rack->cooling_zone].cold_aisle_c;
}

/* The device that sets the rack's limit, MODEL_NONE when none states one. */
static size_t strictest(const struct audit_run *r, double *limit)
{
	size_t who = MODEL_NONE;

	*limit = NAN;
	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const double max = max_of(r, audit_device(r, i));

		if (!isnan(max) && (isnan(*limit) || max < *limit)) {
			*limit = max;
			who = audit_device(r, i);
		}
	}
	return who;
}

static double recommended(const struct audit_run *r)
{
	double t = NAN;

	for (uint32_t i = 0; i < audit_devices(r); i++)
		t = least(t, formula_class_recommended(audit_type(r, audit_device(r, i))->ashrae));
	return t;
}

/* The highest of the devices' lowest inlet temperatures, NaN when none states one. */
static double coldest(const struct audit_run *r)
{
	double t = NAN;

	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const double min = audit_type(r, audit_device(r, i))->inlet_min_c;

		if (model_stated(min) && (isnan(t) || min > t))
			t = min;
	}
	return t;
}

static void check_aisle(struct audit_run *r)
{
	const double t = cold_aisle(r), wanted = recommended(r), min = coldest(r);
	double limit;
	const size_t who = strictest(r, &limit);
	struct finding f = {.loss = {NOUN_N, 0}, .unit = "C", .value = t};
	enum audit_verdict verdict;

	if (!model_stated(t) || who == MODEL_NONE)
		return;
	f.subject = (struct audit_subject){NOUN_DEVICE, who};
	f.limit = limit;
	verdict = audit_judge(t, limit, 0);
	if (t < min)
		verdict = AUDIT_FAIL;
	if (verdict == AUDIT_PASS && t > wanted)
		verdict = AUDIT_WARN;
	f.text = audit_text(r, "cold aisle %g C; '%s' allows %g C%s", t, r->m->devices.at[who].name,
		limit,
		t < min      ? audit_text(r, ", and %g C is asked for at least", min)
		: t > wanted ? audit_text(r, ", recommended are %g C", wanted)
			     : "");
	audit_add(r, RULE_INLET_TEMP, verdict, &f);
}

static void say_sensor(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const double t = r->m->devices.at[c->at].inlet_c, max = max_of(r, c->at);

	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "C";
	f->value = t;
	f->limit = max;
	f->text = audit_text(r, "its inlet reads %g C; it allows %g C", t, max);
}

static void check_sensors(struct audit_run *r)
{
	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);
		const double t = r->m->devices.at[device].inlet_c, max = max_of(r, device);
		const double wanted = formula_class_recommended(audit_type(r, device)->ashrae);
		enum audit_verdict verdict = audit_judge(t, max, 0);

		if (!model_stated(t) || isnan(max))
			continue;
		if (verdict == AUDIT_PASS && t > wanted)
			verdict = AUDIT_WARN;
		audit_offer(r, device, verdict, t / max);
	}
	audit_list(r, RULE_SENSOR, say_sensor);
}

void rule_envelope(struct audit_run *r)
{
	check_aisle(r);
	check_sensors(r);
}
