/* mass - one sum. */
#include "inventory/audit/mass.h"

static double stated(double v)
{
	return model_stated(v) ? v : 0;
}

static void add_device(
	struct mass *all, const struct device *d, const struct device_type *t, unsigned bottom)
{
	const double kg = t->weight_kg;

	if (!model_stated(kg)) {
		all->unknown++;
		return;
	}
	all->devices += kg;
	all->heavy += kg > MASS_LIFT_KG;
	if (d->position < bottom)
		return;
	all->placed += kg;
	all->moment += kg * (d->position - bottom + t->height_u / 2.0);
}

struct mass mass_of_rack(const struct graph *g, size_t rack)
{
	const struct rack *r = &g->m->racks.at[rack];
	struct mass all = {.rest = stated(r->cables_kg) + stated(r->door_kg)};

	for (size_t i = 0; model_stated(r->pdu_kg) && i < g->m->pdus.n; i++)
		if (g->m->pdus.at[i].rack == rack)
			all.rest += r->pdu_kg;
	for (uint32_t i = g->rack_first[rack]; i < g->rack_first[rack + 1]; i++)
		add_device(&all, &g->m->devices.at[g->rack_devices[i]],
			graph_type(g->m, g->rack_devices[i]), r->first_u ? r->first_u : 1);
	return all;
}
