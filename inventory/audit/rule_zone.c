/* rule_zone - cooling that racks share: its sum, its air, its largest unit lost. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

struct zone_sum {
	double heat, air, cfm; /* W of heat the zone takes; CFM */
	bool assumed;
};

static bool is_liquid(const struct cooling_zone *z)
{
	return z->kind && z->kind[0] == 'l';
}

static void add_device(const struct audit_run *r, uint32_t device, const struct cooling_zone *z,
	struct zone_sum *sum)
{
	const double share = audit_type(r, device)->liquid_share;
	const double liquid = model_stated(share) ? share : 0;
	const double heat = audit_heat(r, device, r->pass);

	sum->heat += heat * (is_liquid(z) && liquid > 0 ? liquid : 1 - liquid);
	sum->cfm += audit_cfm(r, device, &sum->assumed);
}

static struct zone_sum sum_of(const struct audit_run *r, size_t zone)
{
	struct zone_sum sum = {0};

	for (size_t k = 0; k < r->m->racks.n; k++) {
		if (r->m->racks.at[k].cooling_zone != zone)
			continue;
		for (uint32_t i = r->g->rack_first[k]; i < r->g->rack_first[k + 1]; i++)
			add_device(r, r->g->rack_devices[i], &r->m->zones.at[zone], &sum);
	}
	return sum;
}

/* Capacity of the zone, or of all its units; *largest of one of them. */
static double capacity_of(const struct audit_run *r, size_t zone, double *largest, unsigned *n)
{
	double sum = 0;

	*largest = 0;
	*n = 0;
	vec_each(&r->m->units, const struct cooling_unit, u) {
		if (u->zone != zone || !model_stated(u->capacity_w))
			continue;
		sum += u->capacity_w;
		*largest = fmax(*largest, u->capacity_w);
		++*n;
	}
	return *n ? sum : r->m->zones.at[zone].capacity_w;
}

/* W of the units that this audit is asked to lose, 0 when it loses others or each in turn. */
static double lost_of(const struct audit_run *r, size_t zone)
{
	double w = 0;

	for (size_t i = 0; i < r->o->n_lose; i++)
		if (r->o->lose[i].noun == NOUN_UNIT &&
			r->m->units.at[r->o->lose[i].row].zone == zone)
			w += r->m->units.at[r->o->lose[i].row].capacity_w;
	return w;
}

static size_t unit_of(const struct audit_run *r, size_t zone, double capacity)
{
	vec_each(&r->m->units, const struct cooling_unit, u)
		if (u->zone == zone && u->capacity_w >= capacity)
			return (size_t)(u - r->m->units.at);
	return 0;
}

static void check_kw(struct audit_run *r, size_t zone, const struct zone_sum *sum)
{
	double largest, lost;
	unsigned n;
	const double capacity = capacity_of(r, zone, &largest, &n);
	struct finding f = {.subject = {NOUN_ZONE, zone}, .loss = {NOUN_N, 0}, .unit = "W"};

	if (!model_stated(capacity))
		return;
	f.value = sum->heat;
	f.limit = capacity;
	f.text = audit_text(
		r, "racks give %.1f kW; the zone takes %.1f kW", sum->heat / 1000, capacity / 1000);
	audit_add(r, RULE_ZONE_KW, audit_judge(f.value, f.limit, 0), &f);
	if (n == 0)
		return;
	lost = lost_of(r, zone);
	f.loss = (struct audit_subject){NOUN_UNIT, unit_of(r, zone, lost > 0 ? 0 : largest)};
	if (lost > 0)
		f.loss = r->o->lose[0];
	else
		lost = largest;
	f.limit = capacity - lost;
	f.text = audit_text(r, "%u units of %.1f kW - %.1f kW lost = %.1f kW; racks give %.1f kW",
		n, capacity / 1000, lost / 1000, f.limit / 1000, sum->heat / 1000);
	audit_add(r, RULE_ZONE_SPARE, audit_judge(f.value, f.limit, 0), &f);
}

static void check_cfm(struct audit_run *r, size_t zone, const struct zone_sum *sum)
{
	const double have = r->m->zones.at[zone].cfm;
	struct finding f = {.subject = {NOUN_ZONE, zone}, .loss = {NOUN_N, 0}, .unit = "CFM"};

	if (!model_stated(have))
		return;
	f.value = sum->cfm;
	f.limit = have;
	f.assumes = sum->assumed ? "a rise of 12 C where no airflow is stated" : NULL;
	f.text = audit_text(r, "boxes move %.0f CFM; the zone brings %.0f", f.value, have);
	audit_add(r, RULE_ZONE_CFM, audit_judge(f.value, have, 0), &f);
}

void rule_zone(struct audit_run *r)
{
	for (size_t i = 0; i < r->m->zones.n; i++) {
		const struct zone_sum sum = sum_of(r, i);

		check_kw(r, i, &sum);
		check_cfm(r, i, &sum);
	}
}
