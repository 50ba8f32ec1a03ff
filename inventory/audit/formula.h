/*
 * formula - the arithmetic of power, cooling and space, one rule each. Pure.
 *
 * Each comment ends with [section of the rule book; source; confidence]; the
 * rule book's lines are tests/cases/rules. Watts are real power, volt-amperes are
 * watts / power factor; breakers see the latter, heat the former. README.md here
 * lists the rules that use them.
 */
#pragma once

#include "inventory/model/model.h"

#include <stdint.h>

#define FORMULA_SQRT3        1.7320508075688772
#define FORMULA_BTU_PER_WH   3.41214 /* BTU in a watt-hour */
#define FORMULA_BTU_PER_TON  12000.0 /* BTU/h in a ton of cooling */
#define FORMULA_GRAVITY      9.80665 /* m/s2 */
#define FORMULA_CFM_PER_M3S  2118.88 /* cubic feet a minute in a m3/s */
#define FORMULA_AIR_DENSITY  1.2     /* kg/m3 at sea level and 20 degrees C */
#define FORMULA_AIR_HEAT     1005.0  /* J/(kg K) */
#define FORMULA_LPM_PER_KW_C 14.33   /* l/min of water for a kW at a rise of 1 degree C */
#define FORMULA_MARGIN       0.05    /* what fewer PSUs may cost when their curve is unknown */
#define FORMULA_INRUSH       4.0     /* assumed: times steady current, of 3 to 5 */
#define FORMULA_CABLE_MM     150.0   /* behind a device for its cords and the PDU */

/* --- currents: sections 1, 2 --- */

/* VA of a circuit: V * A, or sqrt(3) * V_LL * A. [1 P1, P2; elementary; high] */
double formula_va(double volts_ll, unsigned phases, double amps);
/* A per line of a balanced load: W / (V * PF), or W / (sqrt(3) * V_LL * PF). [1 P1, P2; high] */
double formula_amps(double watts, double volts_ll, unsigned phases, double pf);
/* VA of a load: W / PF. [2; elementary; high] */
double formula_load_va(double watts, double pf);
/* V_LL of a circuit as stated; NaN when it must be refused. [1 P3; netbox#8738; high] */
double formula_volts_ll(double volts, unsigned phases, enum volts_are are);
/*
 * The currents in the three lines for watts by enum phase, as a sum of vectors at
 * one power factor. [1 P4; vector sum, Raritan; high]
 */
void formula_lines(const double watts[PHASE_N], double volts_ll, double pf, double amps[3]);
/* From I12, I23, I31 alone. [1 P4] */
void formula_lines_delta(const double between[3], double amps[3]);
/* 100 * max|I - avg| / avg, 0 without load. [7 B1; Raritan PX; high] */
double formula_imbalance(const double amps[3]);
/* Of loads against neutral at one power factor, without harmonics. [7 B2; vector sum; high] */
double formula_neutral(const double amps[3]);

/* --- limits: section 3 --- */

/* min(k * breaker, rated): what is derated already is not derated again. [3 D1; NEC 210.20; high]
 */
double formula_limit(double breaker_amps, double k, double rated_amps);
/* In * k_temp * k_group * k_policy, each 1 when not stated. [3 D2; IEC 60364-4-43; medium] */
double formula_derated(double breaker_amps, double k_temp, double k_group, double k_policy);

/* --- redundancy: sections 4, 5, 6 --- */

enum psu_state {
	PSU_FULL,
	PSU_DEGRADED, /* up, but short of PSUs for full power */
	PSU_DOWN
};
/* [5; NVIDIA DGX H100 guide; high] */
enum psu_state formula_psu_state(unsigned needed, unsigned least, unsigned alive);
/* Share of PSUs on a source. [4 F1; elementary; high] */
double formula_share(unsigned on_source, unsigned active);
/* Each of k sources after one is lost: W / (k - 1). [4 F3; elementary; high] */
double formula_after_loss(double watts, unsigned sources);
/* Watts behind the PSUs with alive of them: min(dc, alive * each, cap). [5; high] */
double formula_degraded(double dc, unsigned alive, double each, double cap);
/* A of one inlet. [5; elementary; high] */
double formula_inlet_amps(double watts, unsigned inlets, double volts, double pf);
/* Efficiency at a load 0 .. 1, linear between certified points. [6; 80 PLUS 230 V; high] */
double formula_efficiency(enum psu_curve curve, double load);
/* W at the inlets for dc behind active PSUs of rating each. [6; 80 PLUS; high] */
double formula_ac_watts(double dc, unsigned active, double each, enum psu_curve curve);

/* --- inrush: section 9 --- */

double formula_inrush(unsigned psus, double steady_amps, double ratio); /* [9; Raritan; medium] */
/* What a magnetic trip surely holds: 3, 5, 10 times In for B, C, D. [9; IEC 60898-1; low] */
double formula_magnetic(char curve, double breaker_amps);

/* --- heat and air: sections 11, 12, 14 --- */

double formula_btu_h(double watts); /* [11; elementary; high] */
double formula_tons(double btu_h);  /* [11; elementary; high] */
/* W of heat: the larger of watts and the vendor's BTU/h. [11; DGX guides; high] */
double formula_heat(double watts, double vendor_btu_h);
/* Air density at a height against sea level. [12; barometric formula; high] */
double formula_density(double altitude_m);
/* CFM that carry watts off at a rise in degrees F. [12; Dell, 3.412 / 1.085; high] */
double formula_cfm(double watts, double rise_f, double density);
double formula_air_m3s(double watts, double rise_c); /* [12; SI; high] */
double formula_rise_c(double watts, double cfm);     /* [12, inverse; high] */
double formula_removable(double cfm, double rise_c); /* W, the same the other way */
/* The class's highest inlet temperature, NaN for a word that is none. [14; ASHRAE TC 9.9; medium]
 */
double formula_class_max(const char *ashrae);
double formula_class_recommended(const char *ashrae); /* above it is WARN */
/* The same at a height: less by 1 C per 300, 175, 125 m above 900. [14; ASHRAE; low] */
double formula_class_max_at(const char *ashrae, double altitude_m);

/* --- liquid: section 13 --- */

/* y at x, linear between points, the end's beyond them; NaN without points. */
double formula_curve(const struct curve *c, double x);
double formula_to_room(double watts, double taken); /* [13 RDHx; high] */
double formula_lpm(double watts, double rise_c);    /* [13; water; high] */

/* --- cooling redundancy: section 15 --- */

/* Sum without the largest one. [15; N+1; high] */
double formula_spare(const double *capacity, unsigned n);

/* --- space and floor: section 16 --- */

double formula_kpa(double kg, double width_mm, double depth_mm); /* [16; TIA-942; high] */
double formula_foot_kn(double kg, unsigned feet);                /* [16; IBM; high] */
/* Pa spread over clearance too: half of 15 lb/ft2 on it, 10 lb/ft2 on all. [16; IBM; high] */
double formula_spread_kpa(double kg, double footprint_m2, double clearance_m2);
/* The longest run of free places. [16; NetBox get_available_units; high] */
unsigned formula_longest_run(const bool *taken, unsigned n, unsigned *at);

/* --- upstream: section 17 --- */

/* kW of generator: (it / eta + cooling + recharge + misc) / 0.8. [17 U2; medium] */
double formula_generator(
	double it, double efficiency, double cooling, double recharge, double misc);
double formula_cost(double it_watts, double hours, double use, double pue, double price_kwh);

/* --- GPU caps: section 18 --- */

double formula_cap_saving(unsigned gpus, double from, double to, double eta); /* W at the inlets */
/* The highest whole W of each GPU so that saving is reached. [18; NVML; high] */
double formula_cap_for(unsigned gpus, double from, double saving, double eta);

/* --- throttling: section 19 --- */

enum throttle {
	THROTTLE_NONE,
	THROTTLE_CAP,     /* the power cap works: normal */
	THROTTLE_COOLING, /* the cooling fails */
	THROTTLE_POWER,   /* the power brake: facility or PSU */
	THROTTLE_FAST     /* hardware slowdown alone: fast over-current */
};
#define THROTTLE_BENIGN      0x113u /* idle, application clocks, sync boost, display */
#define THROTTLE_SW_CAP      0x004u
#define THROTTLE_HW          0x008u
#define THROTTLE_SW_THERMAL  0x020u
#define THROTTLE_HW_THERMAL  0x040u
#define THROTTLE_POWER_BRAKE 0x080u
/* What nvmlDeviceGetCurrentClocksEventReasons means; power outweighs cooling. [19; NVML; high] */
enum throttle formula_throttle(uint64_t mask);
