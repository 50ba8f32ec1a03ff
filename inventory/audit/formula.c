/* formula - plain arithmetic; what is not stated is 0 or NaN and drops out. */
#include "inventory/audit/formula.h"

#include <math.h>
#include <string.h>

#define LB_FT2 4.88243 /* kg/m2 in a lb/ft2 */

static double phase_factor(unsigned phases)
{
	return phases == 3 ? FORMULA_SQRT3 : 1;
}

static double or_one(double v)
{
	return model_stated(v) ? v : 1;
}

double formula_va(double volts_ll, unsigned phases, double amps)
{
	return volts_ll * amps * phase_factor(phases);
}

double formula_amps(double watts, double volts_ll, unsigned phases, double pf)
{
	return watts / (phase_factor(phases) * volts_ll * pf);
}

double formula_load_va(double watts, double pf)
{
	return watts / pf;
}

double formula_volts_ll(double volts, unsigned phases, enum volts_are are)
{
	if (!(volts > 0))
		return NAN;
	if (phases != 3)
		return volts;
	if (are == VOLTS_LN)
		return volts * FORMULA_SQRT3;
	if (are == VOLTS_UNSTATED &&
		((volts >= 100 && volts <= 130) || (volts >= 220 && volts <= 250)))
		return NAN;
	return volts;
}

/*
 * The current of a line: own against neutral, and of the loads to the lines after
 * and before it, whose voltages stand at +30 and -30 degrees to its own.
 */
static double line_current(double own, double after, double before)
{
	return hypot(own + (after + before) * FORMULA_SQRT3 / 2, (after - before) / 2);
}

void formula_lines(const double watts[PHASE_N], double volts_ll, double pf, double amps[3])
{
	const double ln = FORMULA_SQRT3 / (volts_ll * pf), ll = 1 / (volts_ll * pf);
	const double all = watts[PHASE_ALL] + watts[PHASE_UNSTATED];

	for (unsigned i = 0; i < 3; i++)
		amps[i] = line_current((watts[PHASE_L1 + i] + all / 3) * ln,
			watts[PHASE_L1L2 + i] * ll, watts[PHASE_L1L2 + (i + 2) % 3] * ll);
}

void formula_lines_delta(const double between[3], double amps[3])
{
	for (unsigned i = 0; i < 3; i++)
		amps[i] = line_current(0, between[i], between[(i + 2) % 3]);
}

double formula_imbalance(const double amps[3])
{
	const double avg = (amps[0] + amps[1] + amps[2]) / 3;
	double worst = 0;

	for (unsigned i = 0; i < 3; i++)
		worst = fmax(worst, fabs(amps[i] - avg));
	return avg > 0 ? 100 * worst / avg : 0;
}

double formula_neutral(const double amps[3])
{
	const double a = amps[0], b = amps[1], c = amps[2];

	return sqrt(fmax(0, a * a + b * b + c * c - a * b - b * c - c * a));
}

double formula_limit(double breaker_amps, double k, double rated_amps)
{
	const double limit = breaker_amps * k;

	return model_stated(rated_amps) ? fmin(limit, rated_amps) : limit;
}

double formula_derated(double breaker_amps, double k_temp, double k_group, double k_policy)
{
	return breaker_amps * or_one(k_temp) * or_one(k_group) * or_one(k_policy);
}

enum psu_state formula_psu_state(unsigned needed, unsigned least, unsigned alive)
{
	if (alive >= needed)
		return PSU_FULL;
	return alive >= least && alive > 0 ? PSU_DEGRADED : PSU_DOWN;
}

double formula_share(unsigned on_source, unsigned active)
{
	return active ? (double)on_source / active : 0;
}

double formula_after_loss(double watts, unsigned sources)
{
	return sources > 1 ? watts / (sources - 1) : NAN;
}

double formula_degraded(double dc, unsigned alive, double each, double cap)
{
	double w = dc;

	if (model_stated(each))
		w = fmin(w, alive * each);
	return model_stated(cap) ? fmin(w, cap) : w;
}

double formula_inlet_amps(double watts, unsigned inlets, double volts, double pf)
{
	return inlets ? watts / (inlets * volts * pf) : NAN;
}

static double interpolate(const struct curve_point *at, unsigned n, double x)
{
	unsigned i = 1;

	if (n == 0)
		return NAN;
	if (n == 1 || x <= at[0].x)
		return at[0].y;
	while (i + 1 < n && at[i].x < x)
		i++;
	if (x >= at[i].x)
		return at[i].y;
	return at[i - 1].y + (at[i].y - at[i - 1].y) * (x - at[i - 1].x) / (at[i].x - at[i - 1].x);
}

double formula_efficiency(enum psu_curve curve, double load)
{
	static const struct curve_point titanium[] = {{.1, .90}, {.2, .94}, {.5, .96}, {1, .91}};
	static const struct curve_point platinum[] = {{.2, .90}, {.5, .94}, {1, .91}};
	static const struct curve_point gold[] = {{.2, .88}, {.5, .92}, {1, .88}};

	if (curve == CURVE_TITANIUM)
		return interpolate(titanium, 4, load);
	if (curve == CURVE_PLATINUM)
		return interpolate(platinum, 3, load);
	return curve == CURVE_GOLD ? interpolate(gold, 3, load) : NAN;
}

double formula_ac_watts(double dc, unsigned active, double each, enum psu_curve curve)
{
	return active ? dc / formula_efficiency(curve, dc / (active * each)) : NAN;
}

double formula_inrush(unsigned psus, double steady_amps, double ratio)
{
	return psus * steady_amps * (model_stated(ratio) ? ratio : FORMULA_INRUSH);
}

double formula_magnetic(char curve, double breaker_amps)
{
	const double times = curve == 'B' ? 3 : curve == 'C' ? 5 : curve == 'D' ? 10 : NAN;

	return times * breaker_amps;
}

double formula_btu_h(double watts)
{
	return watts * FORMULA_BTU_PER_WH;
}

double formula_tons(double btu_h)
{
	return btu_h / FORMULA_BTU_PER_TON;
}

double formula_heat(double watts, double vendor_btu_h)
{
	return model_stated(vendor_btu_h) ? fmax(watts, vendor_btu_h / FORMULA_BTU_PER_WH) : watts;
}

double formula_density(double altitude_m)
{
	return model_stated(altitude_m) ? pow(1 - 2.25577e-5 * altitude_m, 5.25588) : 1;
}

double formula_cfm(double watts, double rise_f, double density)
{
	return 3.412 * watts / (1.085 * rise_f * density);
}

double formula_air_m3s(double watts, double rise_c)
{
	return watts / (FORMULA_AIR_DENSITY * FORMULA_AIR_HEAT * rise_c);
}

double formula_rise_c(double watts, double cfm)
{
	return 3.412 * watts / (1.085 * cfm) / 1.8;
}

double formula_removable(double cfm, double rise_c)
{
	return cfm * rise_c * 1.8 * 1.085 / 3.412;
}

/* ASHRAE TC 9.9, 5th edition: allowable and recommended top, loss of 1 C per so many m above 900.
 */
static const struct ashrae {
	const char *name;
	double max_c, recommended_c, m_per_c;
} CLASSES[] = {
	{"A1", 32, 27, 300},
	{"A2", 35, 27, 300},
	{"A3", 40, 27, 175},
	{"A4", 45, 27, 125},
	{"H1", 25, 22, 300},
};

static const struct ashrae *find_class(const char *name)
{
	for (size_t i = 0; name && i < sizeof CLASSES / sizeof *CLASSES; i++)
		if (strcmp(CLASSES[i].name, name) == 0)
			return &CLASSES[i];
	return NULL;
}

double formula_class_max(const char *ashrae)
{
	const struct ashrae *c = find_class(ashrae);

	return c ? c->max_c : NAN;
}

double formula_class_recommended(const char *ashrae)
{
	const struct ashrae *c = find_class(ashrae);

	return c ? c->recommended_c : NAN;
}

double formula_class_max_at(const char *ashrae, double altitude_m)
{
	const struct ashrae *c = find_class(ashrae);

	if (!c)
		return NAN;
	if (!model_stated(altitude_m) || altitude_m <= 900)
		return c->max_c;
	return c->max_c - (altitude_m - 900) / c->m_per_c;
}

double formula_curve(const struct curve *c, double x)
{
	return interpolate(c->at, c->n, x);
}

double formula_to_room(double watts, double taken)
{
	return fmax(0, watts - taken);
}

double formula_lpm(double watts, double rise_c)
{
	return FORMULA_LPM_PER_KW_C * watts / 1000 / rise_c;
}

double formula_spare(const double *capacity, unsigned n)
{
	double sum = 0, largest = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += capacity[i];
		largest = fmax(largest, capacity[i]);
	}
	return sum - largest;
}

double formula_kpa(double kg, double width_mm, double depth_mm)
{
	return kg * FORMULA_GRAVITY / (width_mm * depth_mm / 1e6) / 1000;
}

double formula_foot_kn(double kg, unsigned feet)
{
	return feet ? kg * FORMULA_GRAVITY / feet / 1000 : NAN;
}

double formula_spread_kpa(double kg, double footprint_m2, double clearance_m2)
{
	const double total = footprint_m2 + clearance_m2;
	const double mass = kg + 15 * LB_FT2 * 0.5 * clearance_m2 + 10 * LB_FT2 * total;

	return mass * FORMULA_GRAVITY / total / 1000;
}

unsigned formula_longest_run(const bool *taken, unsigned n, unsigned *at)
{
	unsigned best = 0, run = 0;

	*at = 0;
	for (unsigned i = 0; i < n; i++) {
		run = taken[i] ? 0 : run + 1;
		if (run > best) {
			best = run;
			*at = i + 1 - run;
		}
	}
	return best;
}

double formula_generator(double it, double efficiency, double cooling, double recharge, double misc)
{
	return (it / efficiency + cooling + recharge + misc) / 0.8;
}

double formula_cost(double it_watts, double hours, double use, double pue, double price_kwh)
{
	return it_watts / 1000 * hours * use * pue * price_kwh;
}

double formula_cap_saving(unsigned gpus, double from, double to, double eta)
{
	return gpus * (from - to) / eta;
}

double formula_cap_for(unsigned gpus, double from, double saving, double eta)
{
	return gpus ? floor(from - saving * eta / gpus + 1e-9) : NAN;
}

enum throttle formula_throttle(uint64_t mask)
{
	if (mask & THROTTLE_POWER_BRAKE)
		return THROTTLE_POWER;
	if (mask & (THROTTLE_SW_THERMAL | THROTTLE_HW_THERMAL))
		return THROTTLE_COOLING;
	if (mask & THROTTLE_HW)
		return THROTTLE_FAST;
	return mask & THROTTLE_SW_CAP ? THROTTLE_CAP : THROTTLE_NONE;
}
