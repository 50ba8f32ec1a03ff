/* rule_weight - what the rack, its feet and the floor carry. */
#include "inventory/audit/audit_priv.h"
#include "inventory/audit/mass.h"

#include <math.h>

#define LIFT_KG     100.0     /* a box heavier than this needs a lift */
#define STACKING_KG 100.0     /* below this nobody cares where the weight stands */
#define HIGH_SHARE  (2.0 / 3) /* of the rack's height; the figure is ours */
#define TILE_SHARE  3.0       /* one tile may have to take a third of the rack */

static double stated(double v)
{
	return model_stated(v) ? v : 0;
}

static struct finding about_rack(struct audit_run *r, const struct mass *m)
{
	struct finding f = {.subject = {NOUN_RACK, r->rack}, .loss = {NOUN_N, 0}, .unit = "kg"};

	if (m->unknown)
		f.assumes = audit_text(
			r, "%u devices whose weight is not stated weigh nothing", m->unknown);
	return f;
}

static void check_rating(struct audit_run *r, const struct mass *m)
{
	const double rating = r->m->racks.at[r->rack].max_weight_kg;
	struct finding f = about_rack(r, m);

	if (!model_stated(rating))
		return;
	f.value = m->devices + m->rest;
	f.limit = rating;
	f.text = audit_text(r,
		"%.1f kg devices + %.1f kg PDUs, cables, door = %.1f kg; rated %g kg%s", m->devices,
		m->rest, f.value, rating,
		m->heavy ? audit_text(r, "; %u boxes over 100 kg need a lift", m->heavy) : "");
	audit_add(r, RULE_WEIGHT, audit_judge(f.value, rating, 0), &f);
}

static void check_floor(struct audit_run *r, const struct mass *m)
{
	const struct rack *k = &r->m->racks.at[r->rack];
	const double kg = m->devices + m->rest + stated(k->own_kg);
	const double area = k->footprint_w_mm * k->footprint_d_mm / 1e6;
	struct finding f = about_rack(r, m);

	if (!model_stated(area))
		return;
	f.unit = "kPa";
	f.value = formula_kpa(kg, k->footprint_w_mm, k->footprint_d_mm);
	f.limit = r->p->floor_kpa;
	if (!f.assumes && !model_stated(k->own_kg))
		f.assumes = "the rack itself weighs nothing: its mass is not stated";
	else if (!f.assumes && r->p->assumed_floor)
		f.assumes = "a floor of 12 kPa (TIA-942 Rated-3)";
	r->figures->floor_kpa = f.value;
	f.text = audit_text(r, "%.1f kg x 9.80665 / %.3f m2 = %.2f kPa; the floor carries %g kPa%s",
		kg, area, f.value, f.limit,
		model_stated(k->clearance_m2)
			? audit_text(r, "; %.2f kPa spread over its clearance",
				  formula_spread_kpa(kg, area, k->clearance_m2))
			: "");
	audit_add(r, RULE_FLOOR, audit_judge(f.value, f.limit, 0), &f);
}

static void check_tile(struct audit_run *r, const struct mass *m)
{
	const struct rack *k = &r->m->racks.at[r->rack];
	const double kg = m->devices + m->rest + stated(k->own_kg);
	const unsigned feet = k->feet ? k->feet : 4;
	const double third = kg / TILE_SHARE * FORMULA_GRAVITY / 1000;
	struct finding f = about_rack(r, m);
	enum audit_verdict verdict;

	if (!model_stated(r->p->tile_kn))
		return;
	f.unit = "kN";
	f.value = formula_foot_kn(kg, feet);
	f.limit = r->p->tile_kn;
	verdict = audit_judge(f.value, f.limit, 0);
	if (verdict == AUDIT_PASS && third > f.limit)
		verdict = AUDIT_WARN;
	f.text = audit_text(r,
		"%.1f kg x 9.80665 / %u feet = %.2f kN; a tile carries %g kN; a third on one: %.2f kN",
		kg, feet, f.value, f.limit, third);
	audit_add(r, RULE_TILE, verdict, &f);
}

static void check_stacking(struct audit_run *r, const struct mass *m)
{
	const double high = r->m->racks.at[r->rack].height_u * HIGH_SHARE;
	struct finding f = about_rack(r, m);

	if (m->placed < STACKING_KG)
		return;
	f.unit = "U";
	f.value = m->moment / m->placed;
	f.limit = high;
	f.text = audit_text(r,
		"the centre of %.1f kg is %.1f U up; two thirds of the rack are %.0f U", m->placed,
		f.value, high);
	audit_add(r, RULE_STACKING, f.value > high ? AUDIT_WARN : AUDIT_PASS, &f);
}

void rule_weight(struct audit_run *r)
{
	const struct mass m = mass_of_rack(r->g, r->rack);

	r->figures->kg = m.devices + m.rest;
	check_rating(r, &m);
	check_floor(r, &m);
	check_tile(r, &m);
	check_stacking(r, &m);
}
