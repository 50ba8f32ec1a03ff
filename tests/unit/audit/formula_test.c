/* formula, policy, space - the edges; the book's figures are tests/cases/rules. */
#include "agent/base/err.h"
#include "inventory/audit/audit_priv.h"
#include "inventory/audit/formula.h"
#include "inventory/audit/space.h"
#include "tests/unit/audit/site.h"
#include "tests/unit/t.h"

#include <math.h>

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-3 * fabs(want) + 1e-9))
		fail_msg("%g, expected %g", got, want);
}

TEST(mixed_loads_add_as_vectors)
{
	double watts[PHASE_N] = {0}, amps[3];

	/* 10 A against neutral on L1, and 10 A between L1 and L2, at 30 degrees to each other */
	watts[PHASE_L1] = 10 * 120.09;
	watts[PHASE_L1L2] = 10 * 208;
	formula_lines(watts, 208, 1, amps);
	near(amps[0], 10 * sqrt(2 + sqrt(3)));
	near(amps[1], 10);
	near(amps[2], 0);
	/* a balanced load is the same however it is said */
	memset(watts, 0, sizeof watts);
	watts[PHASE_ALL] = 30000;
	formula_lines(watts, 400, 0.95, amps);
	near(amps[2], formula_amps(30000, 400, 3, 0.95));
	watts[PHASE_ALL] = 0;
	for (unsigned i = 0; i < 3; i++)
		watts[PHASE_L1 + i] = 10000;
	formula_lines(watts, 400, 0.95, amps);
	near(amps[1], formula_amps(30000, 400, 3, 0.95));
	for (unsigned i = 0; i < 3; i++) {
		watts[PHASE_L1 + i] = 0;
		watts[PHASE_L1L2 + i] = 10000;
	}
	formula_lines(watts, 400, 0.95, amps);
	near(amps[0], formula_amps(30000, 400, 3, 0.95));
	near(formula_neutral(amps), 0);
}

TEST(what_is_not_stated_drops_out)
{
	near(formula_limit(16, 0.8, MODEL_UNSET), 12.8);
	near(formula_derated(63, 0, MODEL_UNSET, 0.8), 50.4);
	near(formula_heat(1000, MODEL_UNSET), 1000);
	near(formula_degraded(5000, 2, 0, MODEL_UNSET), 5000);
	near(formula_density(MODEL_UNSET), 1);
	near(formula_inrush(1, 10, 0), 40);
	assert_true(isnan(formula_magnetic('X', 16)));
	assert_true(isnan(formula_volts_ll(0, 3, VOLTS_LL)));
	assert_true(isnan(formula_volts_ll(MODEL_UNSET, 1, VOLTS_UNSTATED)));
	assert_true(isnan(formula_efficiency(CURVE_UNSTATED, 0.5)));
	assert_true(isnan(formula_after_loss(1000, 1)));
	assert_true(isnan(formula_inlet_amps(1000, 0, 230, 1)));
	assert_true(isnan(formula_foot_kn(100, 0)));
	assert_true(isnan(formula_class_max(NULL)));
	near(formula_share(1, 0), 0);
	assert_true(formula_ac_watts(100, 0, 100, CURVE_GOLD) != 0);
}

TEST(curves_end_flat)
{
	static const struct curve_point points[] = {{10, 100}, {20, 50}};
	const struct curve c = {points, 2}, one = {points, 1}, none = {NULL, 0};

	near(formula_curve(&c, 5), 100);
	near(formula_curve(&c, 12), 90);
	near(formula_curve(&c, 25), 50);
	near(formula_curve(&one, 15), 100);
	assert_true(isnan(formula_curve(&none, 1)));
	near(formula_efficiency(CURVE_TITANIUM, 0), 0.90);
	near(formula_efficiency(CURVE_TITANIUM, 1.2), 0.91);
}

TEST(verdicts_by_limits)
{
	assert_int_equal(audit_judge(12.8, 12.8, 0), AUDIT_PASS); /* at the limit is within it */
	assert_int_equal(audit_judge(12.81, 12.8, 0), AUDIT_FAIL);
	assert_int_equal(audit_judge(15.3, 16, 0.95), AUDIT_WARN);
	assert_int_equal(audit_judge(15.2, 16, 0.95), AUDIT_PASS);
	assert_int_equal(audit_judge(1, MODEL_UNSET, 0), AUDIT_PASS);
	assert_int_equal(audit_both(AUDIT_FAIL, AUDIT_PASS), AUDIT_CONDITIONAL);
	assert_int_equal(audit_both(AUDIT_FAIL, AUDIT_WARN), AUDIT_CONDITIONAL);
	assert_int_equal(audit_both(AUDIT_FAIL, AUDIT_FAIL), AUDIT_FAIL);
	assert_int_equal(audit_both(AUDIT_WARN, AUDIT_PASS), AUDIT_PASS);
}

TEST(rules_have_all_their_words)
{
	for (unsigned i = 0; i < RULE_N; i++) {
		const struct audit_rule_about *about = audit_rule_about(i);

		assert_non_null(about->name);
		assert_true(about->asks[0] && about->source[0]);
		assert_non_null(about->formula);
		assert_true(strcmp(about->confidence, "high") == 0 ||
			    strcmp(about->confidence, "medium") == 0 ||
			    strcmp(about->confidence, "low") == 0);
		assert_int_equal(audit_rule_find(about->name), i);
	}
	assert_int_equal(audit_rule_find("nothing"), RULE_N);
	assert_string_equal(audit_rule_name(RULE_N), "?");
}

/* --- policy --- */

TEST(policies_by_name)
{
	struct model *m = model_new();
	struct policy p;
	struct err err;

	assert_int_equal(policy_make(m, NULL, &p, &err), 0);
	assert_string_equal(p.name, "strict80");
	assert_true(p.assumed_power_factor && p.assumed_floor);
	assert_int_equal(policy_make(m, "lenient", &p, &err), -E_NOTFOUND);
	m->terms.policy = (struct policy_terms){.name = "lenient", .k_cont = 0.9};
	m->terms.power_factor = 0.98;
	assert_int_equal(policy_make(m, NULL, &p, &err), 0);
	assert_string_equal(p.name, "lenient");
	near(p.k_cont, 0.9);
	near(p.failover_k, 0.9); /* as all day long, unless it says more */
	near(p.power_factor, 0.98);
	assert_false(p.assumed_power_factor);
	assert_int_equal(policy_make(m, "iec100", &p, &err), 0);
	near(p.near_limit, 0.95);
	m->terms.policy.k_cont = 1.2;
	assert_int_equal(policy_make(m, "lenient", &p, &err), -E_SCHEMA);
	model_free(m);
}

/* --- space --- */

TEST(units_on_two_faces)
{
	struct space s = {.first_u = 1, .n = 20};
	struct device_type t = {.height_u = 2, .full_depth = false};
	struct device d = {.position = 3, .face = FACE_REAR};
	unsigned used, free_u, gap, best;
	char runs[64];

	space_put(&s, &d, &t, true);
	space_count(&s, &used, &free_u, &gap);
	assert_int_equal(used, 2);
	assert_int_equal(gap, 6);
	assert_int_equal(space_find(&s, &t, FACE_FRONT, NULL), 1);
	t.height_u = 4;
	assert_int_equal(space_find(&s, &t, FACE_FRONT, NULL), 1); /* the front is free */
	t.full_depth = true;
	assert_int_equal(space_find(&s, &t, FACE_FRONT, &best), 5);
	assert_int_equal(best, 6);
	space_runs(&s, runs, sizeof runs);
	assert_string_equal(runs, "1-2, 5-10");
	t.height_u = 7;
	assert_int_equal(space_find(&s, &t, FACE_FRONT, NULL), 0);
	assert_true(space_fits(&s, &t, FACE_FRONT, 4) == false);
	assert_false(space_fits(&s, &t, FACE_FRONT, 0));
	assert_false(space_fits(&s, &t, FACE_FRONT, 40));
}

TEST(half_units_begin_whole)
{
	struct space s = {.first_u = 10, .n = 8};
	struct device_type t = {.height_u = 1, .half_u = true, .full_depth = true};
	struct device d = {.position = 10};

	assert_int_equal(space_halves(&t), 3);
	space_put(&s, &d, &t, true);
	assert_int_equal(space_find(&s, &t, FACE_FRONT, NULL), 12);
	d.position = 5; /* below the rack's first unit: nowhere */
	space_put(&s, &d, &t, true);
	assert_int_equal(space_find(&s, &t, FACE_FRONT, NULL), 12);
	d.position = 13;
	t.height_u = 90; /* ends at the rack's end */
	space_put(&s, &d, &t, true);
	assert_true(s.front[7] && s.rear[7]);
}

T_MAIN
