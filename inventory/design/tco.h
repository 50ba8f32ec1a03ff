/*
 * tco - what a cluster costs over its years. Pure; money in whatever currency came in.
 *
 * No price is known here: each is an input, and what was not given is named as unknown and stays
 * out of the sum. Source: sizing book 5; PUE: Uptime Institute 2025 mean 1.54.
 */
#pragma once

#include <stdbool.h>

#define TCO_HOURS 8760.0 /* of a year */

enum tco_part {
	TCO_CAPEX, /* all at once */
	TCO_POWER, /* these of a year */
	TCO_SUPPORT,
	TCO_STAFF,
	TCO_SPACE,
	TCO_NETWORK,
	TCO_LICENCES,
	TCO_RESIDUAL, /* at the end, taken off */
	TCO_PARTS
};
extern const char *const TCO_PART_NAMES[];

struct tco {
	double years;
	double part[TCO_PARTS]; /* NaN: not known */
};

/* kW * load * PUE * 8760. [sizing 5; kWh a year] */
double tco_energy_kwh(double it_kw, double load, double pue);
/* kWh * tariff. [sizing 5; money a year] */
double tco_power(double it_kw, double load, double pue, double per_kwh);
/* capex + years * (the yearly parts) - residual; unknown parts left out. [sizing 5; money] */
double tco_total(const struct tco *t, unsigned *unknown);
double tco_yearly(const struct tco *t); /* total / years [sizing 5; money a year] */
/* yearly / (GPUs * 8760 * utilisation). [sizing 5; money an hour of a used GPU] */
double tco_gpu_hour(double yearly, double gpus, double utilisation);
/* per GPU hour * n / (tok/s * 0.0036). [sizing 5; money a million tokens] */
double tco_million_tokens(double gpu_hour, double gpus, double tokens_per_s);
/* Straight line: capex / years. [sizing 5; money a year] */
double tco_depreciation(double capex, double residual, double years);
/* yearly * (1 - utilisation). [sizing 5, base: all of it; money a year] */
double tco_idle(double yearly, double utilisation);
/* yearly * (1 - utilisation / target), 0 above it. [sizing 5, base: target; money a year] */
double tco_avoidable(double yearly, double utilisation, double target);
