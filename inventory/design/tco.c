/* tco - sums and quotients; see the header for sources. */
#include "inventory/design/tco.h"

#include <math.h>
#include <stddef.h>

const char *const TCO_PART_NAMES[] = {
	"capex", "power", "support", "staff", "space", "network", "licences", "residual", NULL};

double tco_energy_kwh(double it_kw, double load, double pue)
{
	return it_kw * load * pue * TCO_HOURS;
}

double tco_power(double it_kw, double load, double pue, double per_kwh)
{
	return tco_energy_kwh(it_kw, load, pue) * per_kwh;
}

double tco_total(const struct tco *t, unsigned *unknown)
{
	double sum = 0;

	*unknown = 0;
	for (unsigned i = 0; i < TCO_PARTS; i++) {
		if (isnan(t->part[i])) {
			*unknown += i != TCO_RESIDUAL;
			continue;
		}
		if (i == TCO_RESIDUAL)
			sum -= t->part[i];
		else
			sum += i == TCO_CAPEX ? t->part[i] : t->years * t->part[i];
	}
	return sum;
}

double tco_yearly(const struct tco *t)
{
	unsigned unknown;

	return tco_total(t, &unknown) / t->years;
}

double tco_gpu_hour(double yearly, double gpus, double utilisation)
{
	return yearly / (gpus * TCO_HOURS * utilisation);
}

double tco_million_tokens(double gpu_hour, double gpus, double tokens_per_s)
{
	return gpu_hour * gpus / (tokens_per_s * 0.0036);
}

double tco_depreciation(double capex, double residual, double years)
{
	return (capex - residual) / years;
}

double tco_idle(double yearly, double utilisation)
{
	return yearly * (1 - utilisation);
}

double tco_avoidable(double yearly, double utilisation, double target)
{
	return fmax(0, yearly * (1 - utilisation / target));
}
