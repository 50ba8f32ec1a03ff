/* tco_domain - the question 'tco' of the design book. */
#include "inventory/design/tco_domain.h"

#include "inventory/design/input.h"
#include "inventory/design/tco.h"

#include <math.h>
#include <stdio.h>

#define MONEY      1e13
#define CLAIM_NEAR 0.10 /* a claim within this of the figure is borne out */

static double read_power(struct input *a, json_t *out)
{
	const double kw = input_num(a, "it_kw", 0, 1e7, NAN);
	const double pue = input_num(a, "pue", 1, 5, 1.54);
	const double tariff = input_num(a, "usd_per_kwh|tariff", 0, 1e4, NAN);
	const double load = input_num(a, "load", 0, 1, 0.8);

	answer_num(out, "kwh_per_year", tco_energy_kwh(kw, load, pue));
	answer_num(out, "usd_per_year", tco_power(kw, load, pue, tariff));
	return tco_power(kw, load, pue, tariff);
}

/* What lies idle of the capex, and a claim about it: stated, or the one-off capex times use. */
static void put_idle(struct input *a, json_t *out, double capex, double years, double use)
{
	const double yearly = tco_depreciation(capex, 0, years);
	const double idle = tco_idle(yearly, use);
	const double claim = input_num(a, "claimed_usd_per_year", 0, MONEY, capex * use);

	if (isnan(idle))
		return;
	answer_num(out, "idle_capex_usd_per_year", idle);
	answer_num(out, "claimed_usd_per_year", claim);
	json_put_str(out, "verdict",
		fabs(claim - idle) <= CLAIM_NEAR * idle ? "claim supported"
							: "claim not supported");
}

static void read_parts(struct input *a, struct tco *t, double power)
{
	char key[40];

	t->years = input_num(a, "years", 0.1, 30, 3);
	t->part[TCO_CAPEX] = input_num(a, "capex_usd", 0, MONEY, NAN);
	t->part[TCO_POWER] = power;
	for (unsigned i = TCO_SUPPORT; i < TCO_RESIDUAL; i++) {
		snprintf(key, sizeof key, "%s_usd_per_year", TCO_PART_NAMES[i]);
		t->part[i] = input_num(a, key, 0, MONEY, NAN);
	}
	if (isnan(t->part[TCO_SUPPORT]))
		t->part[TCO_SUPPORT] =
			t->part[TCO_CAPEX] * input_num(a, "support_pct", 0, 100, NAN) / 100;
	t->part[TCO_RESIDUAL] = input_num(a, "residual_usd", 0, MONEY, NAN);
}

static void put_unknown(json_t *out, const struct tco *t)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < TCO_RESIDUAL; i++)
		if (isnan(t->part[i]))
			json_array_append_new(list, json_string(TCO_PART_NAMES[i]));
	json_object_set_new(out, "unknown", list);
}

int tco_answer(const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct input a = input_of(d, in, err);
	const double gpus = input_num(&a, "gpus", 1, 1e8, NAN);
	const double use = input_num(&a, "utilisation|utilization", 1e-6, 1, NAN);
	const double target = input_num(&a, "target|target_utilisation", 1e-6, 1, NAN);
	const double tokens = input_num(&a, "output_tokens_per_s|tokens_per_s", 1e-9, 1e12, NAN);
	const double stated = input_num(&a, "annual_tco_usd", 0, MONEY, NAN);
	double hour = input_num(&a, "usd_per_gpu_hour", 0, 1e6, NAN), yearly = stated;
	struct tco t = {0};
	unsigned unknown = 0;

	read_parts(&a, &t, read_power(&a, out));
	if (isnan(yearly) && !isnan(t.part[TCO_CAPEX])) {
		yearly = tco_yearly(&t);
		answer_num(out, "tco_usd", tco_total(&t, &unknown));
		put_unknown(out, &t);
	}
	answer_num(out, "annual_tco_usd", yearly);
	put_idle(&a, out, t.part[TCO_CAPEX], t.years, use);
	answer_num(out, "usd_per_used_gpu_hour", tco_gpu_hour(yearly, gpus, use));
	answer_num(out, "idle_usd_per_year", tco_idle(yearly, use));
	answer_num(out, "avoidable_usd_per_year", tco_avoidable(yearly, use, target));
	if (isnan(hour))
		hour = tco_gpu_hour(yearly, gpus, use);
	answer_num(out, "usd_per_million_output_tokens", tco_million_tokens(hour, gpus, tokens));
	return a.fault;
}
