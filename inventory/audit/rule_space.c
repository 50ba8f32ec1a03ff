/* rule_space - units and depth. */
#include "inventory/audit/audit_priv.h"
#include "inventory/audit/space.h"

#include <math.h>

static unsigned first_u(const struct rack *rack)
{
	return rack->first_u ? rack->first_u : 1;
}

static void say_units(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct device *d = &r->m->devices.at[c->at];
	const struct rack *rack = &r->m->racks.at[r->rack];
	const unsigned halves = space_halves(audit_type(r, c->at));

	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "U";
	f->value = d->position + (d->half_up ? 0.5 : 0) + halves / 2.0 - 1;
	f->limit = first_u(rack) + rack->height_u - 1;
	f->text = audit_text(r, "%g U from unit %u end at %g; the rack has %u to %g", halves / 2.0,
		d->position, f->value, first_u(rack), f->limit);
}

static void check_units(struct audit_run *r)
{
	const struct rack *rack = &r->m->racks.at[r->rack];
	const double top = first_u(rack) + rack->height_u;

	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);
		const struct device *d = &r->m->devices.at[device];
		const double end = d->position + (d->half_up ? 0.5 : 0) +
				   space_halves(audit_type(r, device)) / 2.0;

		if (d->position && (d->position < first_u(rack) || end > top))
			audit_offer(r, device, AUDIT_FAIL, end);
	}
	audit_list(r, RULE_UNITS, say_units);
}

/* --- reservations --- */

static bool overlaps(const struct audit_run *r, const struct reservation *v, uint32_t device)
{
	const struct device *d = &r->m->devices.at[device];
	const struct device_type *t = audit_type(r, device);
	const double at = d->position + (d->half_up ? 0.5 : 0), end = at + space_halves(t) / 2.0;

	return d->position && at < v->position + v->height_u && end > v->position &&
	       (v->full_depth || t->full_depth || v->face == d->face);
}

static void say_reservation(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct reservation *v = &r->m->reservations.at[c->at];

	f->subject = (struct audit_subject){NOUN_RESERVATION, c->at};
	f->unit = "U";
	f->value = v->height_u;
	for (uint32_t i = 0; i < audit_devices(r); i++)
		if (overlaps(r, v, audit_device(r, i)))
			f->text = audit_text(r, "'%s' stands in the units kept for %s",
				r->m->devices.at[audit_device(r, i)].name,
				v->who ? v->who : "somebody");
	if (!f->text)
		f->text = audit_text(
			r, "units %u-%u are free", v->position, v->position + v->height_u - 1);
}

static void check_reservations(struct audit_run *r)
{
	for (size_t i = 0; i < r->m->reservations.n; i++) {
		const struct reservation *v = &r->m->reservations.at[i];
		bool taken = false;

		if (v->rack != r->rack)
			continue;
		for (uint32_t k = 0; k < audit_devices(r); k++)
			taken = taken || overlaps(r, v, audit_device(r, k));
		audit_offer(r, i, taken ? AUDIT_FAIL : AUDIT_PASS, 0);
	}
	audit_list(r, RULE_RESERVATION, say_reservation);
}

/* --- depth --- */

static double depth_limit(const struct audit_run *r)
{
	const struct rack *rack = &r->m->racks.at[r->rack];

	return model_stated(rack->rail_to_door_mm) ? rack->rail_to_door_mm : rack->depth_mm;
}

static void say_depth(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const double depth = audit_type(r, c->at)->depth_mm;
	const bool measured = model_stated(r->m->racks.at[r->rack].rail_to_door_mm);

	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "mm";
	f->value = depth + FORMULA_CABLE_MM;
	f->limit = depth_limit(r);
	f->assumes = measured ? NULL : "rails at the very front: only the rack's depth is stated";
	f->text =
		audit_text(r, "%g mm + %g mm for cords = %g mm; %s %g mm", depth, FORMULA_CABLE_MM,
			f->value, measured ? "rail to door" : "the rack's depth", f->limit);
}

static void check_depth(struct audit_run *r)
{
	const double limit = depth_limit(r);

	for (uint32_t i = 0; model_stated(limit) && i < audit_devices(r); i++) {
		const double depth = audit_type(r, audit_device(r, i))->depth_mm;
		const double near = (depth + FORMULA_CABLE_MM) / limit;

		if (model_stated(depth))
			audit_offer(r, audit_device(r, i), audit_judge(near, 1, 0), near);
	}
	audit_list(r, RULE_DEPTH, say_depth);
}

void rule_space(struct audit_run *r)
{
	check_units(r);
	check_reservations(r);
	check_depth(r);
}
