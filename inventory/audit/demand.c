/* demand - power_of for each device, PSUs by type or by cords. */
#include "inventory/audit/demand.h"

#include "inventory/audit/formula.h"

#include <math.h>

#define ETA_ASSUMED 0.94 /* of PSUs whose curve is not stated */

static uint8_t small(size_t n)
{
	return n > UINT8_MAX ? UINT8_MAX : (uint8_t)n;
}

bool demand_cap_proven(const struct device *d)
{
	return d->cap.enforced_at_boot && d->cap.readback &&
	       (model_stated(d->cap.gpu_w) || model_stated(d->watts_cap));
}

static void take_psus(struct demand *d, const struct device_type *t)
{
	d->psus = small(t->psus ? t->psus : d->cords);
	d->needed = small(t->psus_needed);
	d->least = small(t->psus_min);
	if (d->needed == 0) {
		d->assumed_needed = d->psus > 1;
		d->needed = (uint8_t)(d->psus <= 2 ? (d->psus + 1) / 2 : d->psus - 1);
	}
	if (d->least == 0) { /* it stays up, so that its load moves on: the worse for breakers */
		d->assumed_least = d->needed > 1;
		d->least = 1;
	}
}

static void take_watts(
	struct demand *d, const struct model *m, size_t device, enum power_basis basis)
{
	struct power plain, capped;

	plain = power_of(m, device, basis == BASIS_CAPPED ? BASIS_MAX : basis);
	d->known = !isnan(plain.watts);
	if (!d->known)
		return;
	d->assumed = plain.origin == ORIGIN_ASSUMED;
	d->watts[PASS_PLAIN] = d->watts[PASS_CAPPED] = plain.watts;
	if ((basis != BASIS_MAX && basis != BASIS_CAPPED) ||
		!demand_cap_proven(&m->devices.at[device]))
		return;
	capped = power_of(m, device, BASIS_CAPPED);
	if (capped.watts < plain.watts) {
		d->watts[PASS_CAPPED] = capped.watts;
		d->capped = true;
	}
}

struct demand *demand_make(
	struct arena *a, const struct graph *g, enum power_basis basis, bool *any_capped)
{
	const struct model *m = g->m;
	struct demand *all = arena_alloc(a, (m->devices.n + 1) * sizeof *all);

	*any_capped = false;
	for (size_t i = 0; i < m->devices.n; i++) {
		const struct device_type *t = graph_type(m, i);
		struct demand *d = &all[i];

		d->cords = small(g->device_first[i + 1] - g->device_first[i]);
		d->hot_spare = t->hot_spare;
		take_psus(d, t);
		take_watts(d, m, i, basis);
		*any_capped = *any_capped || d->capped;
	}
	return all;
}

bool demand_has_curve(const struct device_type *t)
{
	return t->psu_curve != CURVE_UNSTATED && model_stated(t->watts_dc) &&
	       model_stated(t->psu_watts);
}

double demand_after(
	const struct device_type *t, const struct demand *d, double watts, unsigned alive)
{
	const double stated = model_stated(t->watts_dc) ? t->watts_dc : watts * ETA_ASSUMED;
	double dc = stated;

	if (alive == 0 || !(watts > 0)) /* no share can be taken of nothing */
		return 0;
	if (alive >= d->psus)
		return watts;
	if (alive < d->needed)
		dc = formula_degraded(stated, alive, t->psu_watts, t->watts_degraded);
	if (!demand_has_curve(t))
		return watts * dc / stated;
	return watts * formula_ac_watts(dc, alive, t->psu_watts, t->psu_curve) /
	       formula_ac_watts(stated, d->psus, t->psu_watts, t->psu_curve);
}
