/* fix, fit - what is offered helps, what fits passes, and the limit that binds is named. */
#include "agent/base/err.h"
#include "inventory/audit/diff.h"
#include "inventory/audit/fit.h"
#include "inventory/audit/fix.h"
#include "tests/unit/audit/site.h"
#include "tests/unit/t.h"

#include <math.h>

static const struct audit_opts STRICT = {.policy = "strict80", .basis = BASIS_MAX};

/* Boxes of six PSUs on two or three feeds, an outlet for each PSU and some more. */
static struct model *dgx_rack(unsigned boxes, unsigned feeds, double amps)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "dgx-h100", 10200, 8);

	site_psus(m, type, 6, 4, 3);
	m->types.at[type].gpus = 8;
	m->types.at[type].gpu_w = 700;
	m->types.at[type].gpu_min_w = 200;
	m->types.at[type].inlet_amps = 16;
	for (unsigned i = 0; i < boxes; i++)
		site_device(m, arena_printf(m->arena, "gpu%u", i + 1), type, rack, 1 + 8 * i);
	for (unsigned f = 0; f < feeds; f++) {
		const size_t pdu = site_pdu(m, arena_printf(m->arena, "pdu%u", f), rack,
			site_feed(m, arena_printf(m->arena, "F%u", f), rack, 400, 3, amps));

		for (unsigned i = 0; i < 18; i++) {
			const size_t o = site_outlet(m, pdu, "C19", 0, PHASE_UNSTATED);

			if (i < boxes * 6 / feeds)
				site_cord(m, i / (6 / feeds), o);
		}
	}
	return m;
}

static const struct audit_fix *find_fix(const struct audit_fixes *l, enum fix_kind kind)
{
	vec_each(l, const struct audit_fix, f)
		if (f->kind == kind)
			return f;
	return NULL;
}

/* The one that must be there. */
static const struct audit_fix *need_fix(const struct audit_fixes *l, enum fix_kind kind)
{
	static const struct audit_fix none = {.kind = FIX_N};
	const struct audit_fix *f = find_fix(l, kind);

	assert_non_null(f);
	return f ? f : &none;
}

static void fixes_of(
	const struct model *m, const struct audit_opts *o, struct arena *a, struct audit_fixes *out)
{
	struct audit audit;
	struct err err;

	if (audit_run(m, o, &audit, &err) < 0 || fix_find(a, &audit, o, 0, out, &err) < 0)
		fail_msg("%s", err.msg);
	audit_done(&audit);
}

TEST(four_boxes_get_a_cap_a_feed_or_lose_one)
{
	struct model *m = dgx_rack(4, 2, 63);
	struct arena *a = arena_new();
	struct audit_fixes l = VEC_INIT;
	const struct audit_fix *f;

	fixes_of(m, &STRICT, a, &l);
	f = need_fix(&l, FIX_CAP);
	assert_true(f->watts == 471);
	assert_int_equal(f->after, AUDIT_CONDITIONAL);
	f = need_fix(&l, FIX_ADD_FEED);
	assert_int_equal(f->after, AUDIT_PASS);
	f = need_fix(&l, FIX_REMOVE);
	assert_int_equal(f->unit, 1);
	assert_int_equal(f->after, AUDIT_WARN);
	assert_null(find_fix(&l, FIX_MOVE_RACK));
	vec_done(&l);
	arena_free(a);
	model_free(m);
}

TEST(a_rack_that_is_asked_for_gets_fixes_though_others_fail)
{
	struct model *m = dgx_rack(2, 2, 32);
	const size_t other = site_rack(m, "r2");
	const size_t pdu = site_pdu(m, "pdu-x", other, site_feed(m, "X", other, 230, 1, 16));
	const size_t one = 0;
	const struct audit_opts asked = {
		.policy = "strict80", .basis = BASIS_MAX, .racks = &one, .n_racks = 1};
	struct arena *a = arena_new();
	struct audit_fixes l = VEC_INIT;

	site_cord(m, site_device(m, "hot", site_type(m, "hot", 9000, 2), other, 1),
		site_outlet(m, pdu, "C19", 0, PHASE_UNSTATED));
	*vec_push(&m->panels) = (struct panel){.name = "P", .location = MODEL_NONE};
	m->feeds.at[0].panel = 0;
	fixes_of(m, &asked, a, &l);
	assert_true(need_fix(&l, FIX_CAP)->watts == 486);
	assert_int_equal(need_fix(&l, FIX_CAP)->after, AUDIT_CONDITIONAL);
	vec_done(&l);
	arena_free(a);
	model_free(m);
}

TEST(two_boxes_on_32_amps_get_486_watts)
{
	struct model *m = dgx_rack(2, 2, 32);
	struct arena *a = arena_new();
	struct audit_fixes l = VEC_INIT;

	fixes_of(m, &STRICT, a, &l);
	assert_true(need_fix(&l, FIX_CAP)->watts == 486);
	assert_non_null(find_fix(&l, FIX_LARGER_FEED));
	l.n = 0;
	vec_each(&m->devices, struct device, d)
		d->cap = (struct device_cap){486, 0.96, true, false};
	fixes_of(m, &STRICT, a, &l);
	assert_int_equal(need_fix(&l, FIX_PROVE_CAP)->after, AUDIT_CONDITIONAL);
	vec_done(&l);
	arena_free(a);
	model_free(m);
}

TEST(another_rack_takes_a_box)
{
	struct model *m = dgx_rack(4, 2, 63);
	const size_t rack = site_rack(m, "r2");
	struct arena *a = arena_new();
	struct audit_fixes l = VEC_INIT;
	const struct audit_fix *f;

	for (unsigned s = 0; s < 2; s++) {
		const size_t pdu = site_pdu(
			m, s ? "q2" : "q1", rack, site_feed(m, s ? "G2" : "G1", rack, 400, 3, 63));

		for (unsigned i = 0; i < 6; i++)
			site_outlet(m, pdu, "C19", 0, PHASE_UNSTATED);
	}
	fixes_of(m, &STRICT, a, &l);
	f = need_fix(&l, FIX_MOVE_RACK);
	assert_int_equal(f->to.row, rack);
	assert_int_equal(f->unit, 1);
	/* the same again, when a panel above r2 cannot carry it */
	l.n = 0;
	*vec_push(&m->panels) = (struct panel){.name = "p", .location = MODEL_NONE, .amps = 5};
	m->feeds.at[2].panel = m->feeds.at[3].panel = 0;
	fixes_of(m, &STRICT, a, &l);
	assert_null(find_fix(&l, FIX_MOVE_RACK));
	assert_non_null(find_fix(&l, FIX_CAP));
	vec_done(&l);
	arena_free(a);
	model_free(m);
}

TEST(cords_change_lines_in_pairs)
{
	static const enum phase phases[] = {PHASE_L1, PHASE_L1, PHASE_L1, PHASE_L2, PHASE_L3};
	const struct audit_opts o = {.policy = "iec100", .basis = BASIS_MAX};
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "server", 1500, 2);
	struct arena *a = arena_new();
	struct audit_fixes l = VEC_INIT;
	const struct audit_fix *f;

	site_psus(m, type, 2, 1, 1);
	for (unsigned i = 0; i < 5; i++)
		site_device(m, arena_printf(m->arena, "s%u", i), type, rack, 1 + 2 * i);
	for (unsigned side = 0; side < 2; side++) {
		const size_t pdu = site_pdu(m, side ? "pb" : "pa", rack,
			site_feed(m, side ? "B" : "A", rack, 400, 3, 16));

		for (unsigned i = 0; i < 5; i++)
			site_cord(m, i, site_outlet(m, pdu, "C13", 0, phases[i]));
		site_outlet(m, pdu, "C13", 0, PHASE_L2);
	}
	fixes_of(m, &o, a, &l);
	f = need_fix(&l, FIX_MOVE_CORD);
	assert_int_equal(f->what.noun, NOUN_DEVICE);
	assert_int_equal(f->after, AUDIT_WARN);
	assert_non_null(strstr(f->text, "2 cords"));
	vec_done(&l);
	arena_free(a);
	model_free(m);
}

TEST(a_rack_that_passes_needs_no_fix)
{
	struct model *m = dgx_rack(1, 3, 63);
	struct arena *a = arena_new();
	struct audit_fixes l = VEC_INIT;

	fixes_of(m, &STRICT, a, &l);
	assert_int_equal(l.n, 0);
	vec_done(&l);
	arena_free(a);
	model_free(m);
}

/* --- fit --- */

static struct fit fit_of(const struct model *m, size_t type, unsigned count)
{
	struct fit f;
	struct err err;

	if (fit_find(m, &STRICT, type, count, &f, &err) < 0)
		fail_msg("%s", err.msg);
	return f;
}

TEST(the_limit_of_the_next_one_is_named)
{
	struct model *m = dgx_rack(1, 2, 63);
	struct fit f = fit_of(m, 0, 0);

	/* three boxes are 46.49 A of 50.4 A */
	assert_int_equal(f.total, 2);
	assert_int_equal(f.racks.at[0].n, 2);
	assert_int_equal(f.racks.at[0].limit, RULE_FEED_FAILOVER);
	assert_true(fabs(f.racks.at[0].value - 61.99) < 0.3);
	assert_int_equal(f.places.at[0].unit, 9);
	assert_int_equal(f.places.at[0].n_outlets, 6);
	fit_done(&f);
	for (unsigned i = 0; i < 18; i++)
		if (i >= 6)
			m->outlets.at[i].type = m->outlets.at[18 + i].type = "C13";
	f = fit_of(m, 0, 0);
	assert_int_equal(f.total, 1);
	assert_int_equal(f.racks.at[0].limit, RULE_CORDS);
	fit_done(&f);
	f = fit_of(m, 0, 1);
	assert_int_equal(f.total, 1);
	assert_int_equal(f.racks.at[0].limit, RULE_N);
	fit_done(&f);
	model_free(m);
}

/* C05: 14 free units and no run of eight. */
TEST(free_units_in_pieces)
{
	struct model *m = dgx_rack(0, 3, 63);
	const size_t storage = site_type(m, "storage", 500, 4);
	static const unsigned at[] = {10, 22, 33};
	struct fit f;

	m->racks.at[0].height_u = 42;
	site_device(m, "storage", storage, 0, 1);
	for (unsigned i = 0; i < 3; i++)
		site_device(m, arena_printf(m->arena, "gpu%u", i), 0, 0, at[i]);
	f = fit_of(m, 0, 1);
	assert_int_equal(f.total, 0);
	assert_int_equal(f.racks.at[0].limit, RULE_CONTIGUOUS_U);
	assert_true(f.racks.at[0].bound == 5);
	assert_non_null(strstr(f.racks.at[0].text, "5-9, 18-21, 30-32, 41-42"));
	assert_int_equal(f.racks.at[0].move, 1);
	assert_int_equal(f.racks.at[0].move_from, 10);
	assert_int_equal(f.racks.at[0].move_to, 5);
	assert_int_equal(f.racks.at[0].then_at, 13);
	fit_done(&f);
	model_free(m);
}

TEST(what_the_site_does_not_carry_is_given_back)
{
	struct model *m = dgx_rack(1, 2, 63);
	const size_t rack = site_rack(m, "r2"), box = site_device(m, "other", 0, rack, 1);
	struct fit f;

	for (unsigned s = 0; s < 2; s++) {
		const size_t feed = site_feed(m, s ? "G2" : "G1", rack, 400, 3, 63);
		const size_t pdu = site_pdu(m, s ? "q2" : "q1", rack, feed);

		for (unsigned i = 0; i < 18; i++) {
			const size_t o = site_outlet(m, pdu, "C19", 0, PHASE_UNSTATED);

			if (i < 3)
				site_cord(m, box, o);
		}
		/* 42.75 kW: four boxes in all */
		*vec_push(&m->upses) = (struct ups){.name = s ? "ub" : "ua", .kva = 45};
		m->feeds.at[s].upstream = m->feeds.at[feed].upstream =
			(struct supply){SUPPLY_UPS, s};
	}
	f = fit_of(m, 0, 0);
	assert_int_equal(f.total, 2);
	assert_int_equal(f.given_back, 2);
	assert_int_equal(f.site_limit, RULE_UPS_FAILOVER);
	assert_int_equal(f.racks.at[0].n + f.racks.at[1].n, 2);
	fit_done(&f);
	model_free(m);
}

/* --- diff --- */

static unsigned changes(const struct audit_diff *d, enum diff_kind kind)
{
	unsigned n = 0;

	vec_each(&d->changes, const struct audit_change, c)
		n += c->kind == kind;
	return n;
}

TEST(what_changed_between_two_sites)
{
	struct model *before = dgx_rack(3, 2, 63), *after = dgx_rack(4, 2, 63);
	struct audit a, b;
	struct audit_diff d;
	struct err err;

	site_rack(after, "r2");
	assert_int_equal(audit_run(before, &STRICT, &a, &err), 0);
	assert_int_equal(audit_run(after, &STRICT, &b, &err), 0);
	diff_make(&a, &b, &d);
	assert_int_equal(changes(&d, DIFF_RACK_NEW), 1);
	assert_int_equal(changes(&d, DIFF_RACK), 1);
	assert_int_equal(d.worse, 1);
	assert_int_equal(d.better, 0);
	assert_true(changes(&d, DIFF_VERDICT) >= 1);
	assert_int_equal(
		changes(&d, DIFF_NEW), 2); /* feed F1, and the fourth box is short of PSUs */
	assert_string_equal(d.changes.at[0].rack, "r1");
	diff_done(&d);
	diff_make(&b, &a, &d);
	assert_int_equal(changes(&d, DIFF_RACK_GONE), 1);
	assert_int_equal(changes(&d, DIFF_GONE), 2);
	assert_int_equal(d.better, 1);
	diff_done(&d);
	diff_make(&a, &a, &d);
	assert_int_equal(d.changes.n, 0);
	diff_done(&d);
	audit_done(&a);
	audit_done(&b);
	model_free(before);
	model_free(after);
}

T_MAIN
