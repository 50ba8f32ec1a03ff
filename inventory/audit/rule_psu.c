/* rule_psu - what is known of a device's power, and what is left of it after a loss. */
#include "agent/base/buf.h"
#include "inventory/audit/audit_priv.h"

#include <math.h>

#define NAMES_MAX 6 /* of the devices that one cause takes down */

static void say_watts(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "";
	f->text = audit_text(r, "type '%s' states no watts: its load is missing in every sum",
		audit_type(r, c->at)->name);
}

static void say_cords(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct demand *d = &r->d[c->at];

	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "cord";
	f->value = d->cords;
	f->limit = d->psus;
	if (d->cords == 0)
		f->text = audit_text(
			r, "%.0f W are on no outlet: missing in every current", d->watts[r->pass]);
	else
		f->text = audit_text(r, "%u of %u PSUs have a cord", d->cords, d->psus);
}

static void say_cap(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct device *d = &r->m->devices.at[c->at];

	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "";
	if (c->verdict == AUDIT_PASS)
		f->text = "enforced at boot and read back";
	else
		f->text = audit_text(r, "the cap is not counted: %s%s%s",
			d->cap.enforced_at_boot ? "" : "not enforced at boot",
			!d->cap.enforced_at_boot && !d->cap.readback ? ", " : "",
			d->cap.readback ? "" : "not read back");
}

static bool states_cap(const struct audit_run *r, uint32_t device)
{
	const struct device *d = &r->m->devices.at[device];

	return model_stated(d->cap.gpu_w) || model_stated(d->watts_cap);
}

void rule_known(struct audit_run *r)
{
	const uint32_t n = audit_devices(r);

	for (uint32_t i = 0; i < n; i++)
		if (!r->d[audit_device(r, i)].known)
			audit_offer(r, audit_device(r, i), AUDIT_WARN, 0);
	audit_list(r, RULE_WATTS, say_watts);
	for (uint32_t i = 0; i < n; i++) {
		const struct demand *d = &r->d[audit_device(r, i)];

		if (d->watts[r->pass] > 0 && d->cords < d->psus + (d->psus == 0))
			audit_offer(r, audit_device(r, i), AUDIT_WARN, d->cords == 0);
	}
	audit_list(r, RULE_CORDS, say_cords);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t device = audit_device(r, i);

		if (states_cap(r, device))
			audit_offer(r, device,
				demand_cap_proven(&r->m->devices.at[device]) ? AUDIT_PASS
									     : AUDIT_WARN,
				0);
	}
	audit_list(r, RULE_CAP_PROOF, say_cap);
}

/* --- redundancy --- */

/* The worse of what losses below and above the feed's panel do. */
static const struct device_fate *fate_of(const struct audit_run *r, uint32_t device)
{
	const struct device_fate *below = &r->sim[r->pass]->below[device];
	const struct device_fate *above = &r->sim[r->pass]->above[device];

	return above->state > below->state ? above : below;
}

/* Too few PSUs have a cord for it to run at all. */
static bool never_up(const struct demand *d)
{
	return d->cords > 0 && d->cords < d->least;
}

/*
 * Dark by what was asked to be lost. One cord is no redundancy [5 F4], and --lose is no
 * what-if: the device does not serve then, whether its owner means to live with it or not.
 */
static bool is_lost(const struct audit_run *r, uint32_t device)
{
	return r->o->n_lose && fate_of(r, device)->state == PSU_DOWN;
}

static bool falls_by(const struct audit_run *r, uint32_t device, uint32_t loss)
{
	const struct sim_result *sim = r->sim[r->pass];

	return r->d[device].cords > 1 && !never_up(&r->d[device]) &&
	       sim->above[device].state == PSU_DOWN && sim->below[device].state != PSU_DOWN &&
	       sim->above[device].loss == loss;
}

/* One panel or UPS and all that it takes down; at: the loss. */
static void say_common(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	unsigned n = 0;
	AUTO_BUF names;

	buf_init(&names, 1u << 10);
	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);

		if (!falls_by(r, device, c->at))
			continue;
		if (n++ < NAMES_MAX)
			buf_addf(&names, "%s'%s'", names.n ? ", " : "",
				r->m->devices.at[device].name);
		if (r->d[device].assumed_needed)
			f->assumes = "PSUs needed for full power";
	}
	f->subject = f->loss = audit_loss(r, c->at);
	f->unit = "";
	f->text = audit_text(r, "takes down %u device%s: %s%s", n, n == 1 ? "" : "s",
		buf_text(&names), n > NAMES_MAX ? " ..." : "");
}

static void say_fate(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct demand *d = &r->d[c->at];
	const struct device_fate *fate = fate_of(r, c->at);

	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "PSU";
	f->limit = f->rule == RULE_PSU_DEGRADED ? d->needed : d->least;
	f->assumes = d->assumed_needed ? "PSUs needed for full power" : NULL;
	if (!f->assumes && d->assumed_least && fate->state == PSU_DEGRADED)
		f->assumes = "one PSU keeps it up: psus_min is not stated";
	if (never_up(d)) {
		f->value = d->cords;
		f->text = audit_text(r,
			"%u of %u PSUs have a cord; full power needs %u, staying up %u", d->cords,
			d->psus, d->needed, d->least);
		return;
	}
	if (fate->state == PSU_FULL) {
		f->value = d->cords;
		f->text = audit_text(r, "no loss leaves too few of %u PSUs; full power needs %u",
			d->cords, d->needed);
		return;
	}
	f->value = fate->alive;
	f->loss = audit_loss(r, fate->loss);
	f->text = audit_text(r, "%u of %u PSUs left; full power needs %u%s", fate->alive, d->psus,
		d->needed, d->assumed_least ? "" : audit_text(r, ", staying up %u", d->least));
}

static void say_single(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	f->subject = (struct audit_subject){NOUN_DEVICE, c->at};
	f->unit = "cord";
	f->value = 1;
	f->limit = 2;
	if (is_lost(r, c->at))
		f->text = "one cord, which is meant: down now";
	else
		f->text = r->m->devices.at[c->at].single_ok ? "one cord, which is meant"
							    : "one cord: down with its feed";
}

/* A device of one cord that nobody said may go dark. */
static bool is_single_lost(const struct audit_run *r, uint32_t device)
{
	return r->d[device].cords == 1 && is_lost(r, device) && !r->m->devices.at[device].single_ok;
}

static enum audit_verdict verdict_of(
	const struct audit_run *r, uint32_t device, enum audit_rule rule)
{
	const enum psu_state below = r->sim[r->pass]->below[device].state;
	const enum psu_state above = r->sim[r->pass]->above[device].state;

	if (never_up(&r->d[device]))
		return rule == RULE_PSU_DOWN ? AUDIT_FAIL : AUDIT_PASS;
	if (rule == RULE_PSU_DOWN)
		return below == PSU_DOWN || is_single_lost(r, device) ? AUDIT_FAIL : AUDIT_PASS;
	if (below == PSU_DOWN || above == PSU_DOWN)
		return AUDIT_PASS; /* said by the others */
	return below == PSU_DEGRADED || above == PSU_DEGRADED ? AUDIT_WARN : AUDIT_PASS;
}

static void check_fates(struct audit_run *r, enum audit_rule rule)
{
	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);
		const struct demand *d = &r->d[device];
		const enum audit_verdict verdict = verdict_of(r, device, rule);

		if (d->cords < 2 && !never_up(d) && !is_single_lost(r, device))
			continue;
		audit_offer(r, device, verdict,
			verdict == AUDIT_PASS
				? 0
				: (double)d->needed / (1 + fate_of(r, device)->alive));
	}
	audit_list(r, rule, say_fate);
}

/* A loss that was asked for is no what-if: then what goes down fails. */
static void check_common(struct audit_run *r)
{
	const enum audit_verdict verdict = r->o->n_lose ? AUDIT_FAIL : AUDIT_WARN;

	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);
		const uint32_t loss = r->sim[r->pass]->above[device].loss;
		uint32_t first = 0;

		if (!falls_by(r, device, loss))
			continue;
		while (!falls_by(r, audit_device(r, first), loss))
			first++;
		if (first == i)
			audit_offer(r, loss, verdict, 0);
	}
	audit_list(r, RULE_COMMON_MODE, say_common);
}

/* --- cascades --- */

static void say_cascade(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct rack_cascade *k = &r->sim[r->pass]->cascades[r->rack];
	const bool ups = k->devices && r->g->at[k->first].level == LEVEL_UPS;

	(void)c;
	f->unit = ups ? "W" : "A";
	if (k->devices == 0) {
		f->subject = (struct audit_subject){NOUN_RACK, r->rack};
		f->text = "nothing goes above the rating of its breaker and takes a device down";
		return;
	}
	f->subject = sim_subject(r->g, k->first);
	f->loss = audit_loss(r, k->loss);
	f->value = k->amps;
	f->limit = limit_rating(r->g, r->p, k->first);
	f->text =
		audit_text(r, "%s at %.*f %s of %g %s trips; %u trip in all, %u of %u devices down",
			audit_name(r->out->arena, r->m, f->subject), ups ? 0 : 2, k->amps, f->unit,
			f->limit, f->unit, k->trips, k->devices, r->figures->devices);
}

static void check_cascade(struct audit_run *r)
{
	enum audit_verdict verdict[PASS_N];

	if (r->above.n == 0)
		return;
	for (unsigned pass = 0; pass < PASS_N; pass++)
		verdict[pass] = r->sim[pass]->cascades[r->rack].devices ? AUDIT_FAIL : AUDIT_PASS;
	audit_offer(r, r->rack, audit_both(verdict[PASS_PLAIN], verdict[PASS_CAPPED]), 0);
	audit_list(r, RULE_CASCADE, say_cascade);
}

void rule_psu(struct audit_run *r)
{
	check_fates(r, RULE_PSU_DOWN);
	check_fates(r, RULE_PSU_DEGRADED);
	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t device = audit_device(r, i);

		if (r->d[device].cords != 1 || !(r->d[device].watts[r->pass] > 0) ||
			is_single_lost(r, device))
			continue;
		audit_offer(r, device,
			r->m->devices.at[device].single_ok && !is_lost(r, device) ? AUDIT_PASS
										  : AUDIT_WARN,
			0);
	}
	audit_list(r, RULE_SINGLE_CORD, say_single);
	check_common(r);
	check_cascade(r);
}
