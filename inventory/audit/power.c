/* power - watts of a device by basis, and what a circuit may carry. */
#include "inventory/audit/power.h"

#include "inventory/audit/formula.h"

/* Of PSUs at half load, for what a cap saves at their inlets. */
#define ETA_LOAD    0.5
#define ETA_ASSUMED 0.96

/* What to look at for each basis, in this order; BASIS_N ends. */
static const enum power_basis ORDER[BASIS_N][BASIS_N + 1] = {
	[BASIS_NAMEPLATE] = {BASIS_NAMEPLATE, BASIS_MAX, BASIS_N},
	[BASIS_MAX] = {BASIS_MAX, BASIS_NAMEPLATE, BASIS_N},
	[BASIS_CAPPED] = {BASIS_CAPPED, BASIS_MAX, BASIS_NAMEPLATE, BASIS_N},
	[BASIS_MEASURED] = {BASIS_MEASURED, BASIS_CAPPED, BASIS_MAX, BASIS_NAMEPLATE, BASIS_N},
};

/* What the device itself states; zero is a figure here: a box may draw nothing. */
static double own_watts(const struct device *d, enum power_basis basis)
{
	if (basis == BASIS_MEASURED)
		return d->watts_measured;
	if (basis == BASIS_CAPPED)
		return d->watts_cap;
	return MODEL_UNSET;
}

/* What a cap of each GPU leaves of the type's maximum; unset when something is missing. */
static double capped_watts(const struct device *d, const struct device_type *t)
{
	double eta = d->cap.eta;

	if (!t || !model_stated(d->cap.gpu_w) || !model_stated(t->gpu_w) || t->gpus == 0 ||
		d->cap.gpu_w >= t->gpu_w)
		return MODEL_UNSET;
	if (!model_stated(eta))
		eta = t->psu_curve ? formula_efficiency(t->psu_curve, ETA_LOAD) : ETA_ASSUMED;
	return t->watts[BASIS_MAX] - formula_cap_saving(t->gpus, t->gpu_w, d->cap.gpu_w, eta);
}

static bool look(const struct device *d, const struct device_type *t, enum power_basis basis,
	struct power *out)
{
	double own = own_watts(d, basis);

	if (basis == BASIS_CAPPED && isnan(own))
		own = capped_watts(d, t);
	if (!isnan(own)) {
		*out = (struct power){own, basis, ORIGIN_DECLARED, NULL};
		return true;
	}
	if (!t || isnan(t->watts[basis]))
		return false;
	*out = (struct power){t->watts[basis], basis, t->watts_origin, t->watts_source};
	return true;
}

struct power power_of(const struct model *m, size_t device, enum power_basis basis)
{
	const struct device *d = &m->devices.at[device];
	const struct device_type *t = d->type == MODEL_NONE ? NULL : &m->types.at[d->type];
	struct power found = {MODEL_UNSET, basis, ORIGIN_DECLARED, NULL};

	for (const enum power_basis *b = ORDER[basis]; *b != BASIS_N; b++)
		if (look(d, t, *b, &found))
			break;
	return found;
}

double power_circuit_va(const struct feed *f, double amps)
{
	if (f->phases != 3)
		return f->volts * amps;
	return (f->volts_are == VOLTS_LN ? 3 : sqrt(3)) * f->volts * amps;
}

double power_feed_limit(const struct feed *f)
{
	const double share =
		model_stated(f->max_utilization) ? f->max_utilization : POWER_UTILIZATION;
	double amps = f->amps * share;

	if (!model_stated(f->amps) || !model_stated(f->volts))
		return MODEL_UNSET;
	if (model_stated(f->k_temp))
		amps *= f->k_temp;
	if (model_stated(f->k_group))
		amps *= f->k_group;
	if (model_stated(f->plug_amps) && f->plug_amps < amps)
		amps = f->plug_amps;
	return power_circuit_va(f, amps);
}

const char *rack_verdict_name(enum rack_verdict v)
{
	static const char *const names[] = {"UNKNOWN", "OK", "HIGH", "OVER"};

	return v <= VERDICT_OVER ? names[v] : "?";
}
