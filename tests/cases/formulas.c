/* formulas - our own formulas by the names that rule cases use. */
#include "inventory/audit/audit_priv.h"
#include "inventory/audit/formula.h"
#include "tests/cases/cases.h"

#include <math.h>
#include <string.h>

#define V(i) (a[i].number)
#define U(i) ((unsigned)a[i].number)
#define W(i) (a[i].word)

/* One function of numbers to one number. */
#define NUMERIC(id, call)                                                                       \
	static unsigned do_##id(const struct case_value *a, unsigned n, struct case_value *out) \
	{                                                                                       \
		(void)n;                                                                        \
		out->number = (call);                                                           \
		return 1;                                                                       \
	}
#define WORDED(id, call)                                                                        \
	static unsigned do_##id(const struct case_value *a, unsigned n, struct case_value *out) \
	{                                                                                       \
		(void)n;                                                                        \
		out->word = (call);                                                             \
		return 1;                                                                       \
	}

static enum psu_curve curve_of(const char *word)
{
	const int i = model_word(MODEL_PSU_CURVES, word);

	return i > 0 ? (enum psu_curve)i : CURVE_UNSTATED;
}

static enum volts_are volts_of(const char *word)
{
	const int i = model_word(MODEL_VOLTS, word);

	return i > 0 ? (enum volts_are)i : VOLTS_UNSTATED;
}

static const char *state_of(enum psu_state s)
{
	static const char *const names[] = {"full", "degraded", "down"};

	return names[s];
}

static const char *throttle_of(uint64_t mask)
{
	static const char *const names[] = {"none", "cap", "cooling", "power", "fast"};

	return names[formula_throttle(mask)];
}

NUMERIC(va, formula_va(V(0), U(1), V(2)))
NUMERIC(amps, formula_amps(V(0), V(1), U(2), V(3)))
NUMERIC(load_va, formula_load_va(V(0), V(1)))
NUMERIC(volts_ll, formula_volts_ll(V(0), U(1), volts_of(W(2))))
NUMERIC(limit, formula_limit(V(0), V(1), V(2)))
NUMERIC(derated, formula_derated(V(0), V(1), V(2), V(3)))
NUMERIC(share, formula_share(U(0), U(1)))
NUMERIC(after_loss, formula_after_loss(V(0), U(1)))
NUMERIC(degraded, formula_degraded(V(0), U(1), V(2), V(3)))
NUMERIC(inlet_amps, formula_inlet_amps(V(0), U(1), V(2), V(3)))
NUMERIC(efficiency, formula_efficiency(curve_of(W(0)), V(1)))
NUMERIC(ac_watts, formula_ac_watts(V(0), U(1), V(2), curve_of(W(3))))
NUMERIC(imbalance, formula_imbalance((const double[]){V(0), V(1), V(2)}))
NUMERIC(neutral, formula_neutral((const double[]){V(0), V(1), V(2)}))
NUMERIC(inrush, formula_inrush(U(0), V(1), V(2)))
NUMERIC(magnetic, formula_magnetic(W(0)[0], V(1)))
NUMERIC(btu_h, formula_btu_h(V(0)))
NUMERIC(tons, formula_tons(V(0)))
NUMERIC(heat, formula_heat(V(0), V(1)))
NUMERIC(density, formula_density(V(0)))
NUMERIC(cfm, formula_cfm(V(0), V(1), V(2)))
NUMERIC(air_m3s, formula_air_m3s(V(0), V(1)))
NUMERIC(air_cfm, formula_air_m3s(V(0), V(1)) * FORMULA_CFM_PER_M3S)
NUMERIC(rise_c, formula_rise_c(V(0), V(1)))
NUMERIC(removable, formula_removable(V(0), V(1)))
NUMERIC(class_max_at, formula_class_max_at(W(0), V(1)))
NUMERIC(class_recommended, formula_class_recommended(W(0)))
NUMERIC(to_room, formula_to_room(V(0), V(1)))
NUMERIC(lpm, formula_lpm(V(0), V(1)))
NUMERIC(kpa, formula_kpa(V(0), V(1), V(2)))
NUMERIC(foot_kn, formula_foot_kn(V(0), U(1)))
NUMERIC(spread_kpa, formula_spread_kpa(V(0), V(1), V(2)))
NUMERIC(generator, formula_generator(V(0), V(1), V(2), V(3), V(4)))
NUMERIC(cost, formula_cost(V(0), V(1), V(2), V(3), V(4)))
NUMERIC(cap_saving, formula_cap_saving(U(0), V(1), V(2), V(3)))
NUMERIC(cap_for, formula_cap_for(U(0), V(1), V(2), V(3)))
NUMERIC(largest, fmax(V(0), V(1)))
NUMERIC(ratio, V(0) / V(1))
WORDED(psu_state, state_of(formula_psu_state(U(0), U(1), U(2))))
WORDED(throttle, throttle_of(strtoull(W(0), NULL, 0)))
WORDED(judge, audit_verdict_name(audit_judge(V(0), V(1), V(2))))

static unsigned do_lines_delta(const struct case_value *a, unsigned n, struct case_value *out)
{
	double amps[3];

	(void)n;
	formula_lines_delta((const double[]){V(0), V(1), V(2)}, amps);
	for (unsigned i = 0; i < 3; i++)
		out[i].number = amps[i];
	return 3;
}

static unsigned do_spare(const struct case_value *a, unsigned n, struct case_value *out)
{
	double capacity[CASE_ARGS_MAX];

	for (unsigned i = 0; i < n; i++)
		capacity[i] = V(i);
	out->number = formula_spare(capacity, n);
	return 1;
}

/* Units of the rack, then pairs of first and last unit that are free. */
static unsigned do_longest_run(const struct case_value *a, unsigned n, struct case_value *out)
{
	bool taken[100];
	unsigned at;

	memset(taken, true, sizeof taken);
	for (unsigned i = 1; i + 1 < n; i += 2)
		for (unsigned u = U(i); u <= U(i + 1) && u <= 100; u++)
			taken[u - 1] = false;
	out->number = formula_longest_run(taken, U(0) <= 100 ? U(0) : 100, &at);
	return 1;
}

#define ENTRY(id, args)            \
	{                          \
#id, args, do_##id \
	}
const struct case_function CASE_FORMULAS[] = {
	ENTRY(va, 3),
	ENTRY(amps, 4),
	ENTRY(load_va, 2),
	ENTRY(volts_ll, 3),
	ENTRY(lines_delta, 3),
	ENTRY(limit, 3),
	ENTRY(derated, 4),
	ENTRY(share, 2),
	ENTRY(after_loss, 2),
	ENTRY(degraded, 4),
	ENTRY(inlet_amps, 4),
	ENTRY(efficiency, 2),
	ENTRY(ac_watts, 4),
	ENTRY(imbalance, 3),
	ENTRY(neutral, 3),
	ENTRY(inrush, 3),
	ENTRY(magnetic, 2),
	ENTRY(btu_h, 1),
	ENTRY(tons, 1),
	ENTRY(heat, 2),
	ENTRY(density, 1),
	ENTRY(cfm, 3),
	ENTRY(air_m3s, 2),
	ENTRY(air_cfm, 2),
	ENTRY(rise_c, 2),
	ENTRY(removable, 2),
	ENTRY(class_max_at, 2),
	ENTRY(class_recommended, 1),
	ENTRY(to_room, 2),
	ENTRY(lpm, 2),
	ENTRY(kpa, 3),
	ENTRY(foot_kn, 2),
	ENTRY(spread_kpa, 3),
	ENTRY(generator, 5),
	ENTRY(cost, 5),
	ENTRY(cap_saving, 4),
	ENTRY(cap_for, 4),
	ENTRY(largest, 2),
	ENTRY(ratio, 2),
	ENTRY(psu_state, 3),
	ENTRY(throttle, 1),
	ENTRY(judge, 3),
	ENTRY(spare, 0),
	ENTRY(longest_run, 0),
	{NULL, 0, NULL},
};
