/*
 * catalog_check - how: a table of rules per kind; each reads figures by key and says what
 * contradicts. The bounds are those of hardware up to 2026, with room above.
 */
#include "inventory/catalog/catalog_check.h"

#include "agent/base/buf.h"
#include "inventory/catalog/check_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MOST         400
#define BTU_PER_WATT_HOUR 3.41214

void check_find(
	struct checker *k, const char *rule, const char *key, bool remark, const char *fmt, ...)
{
	const struct catalog_field *f = key ? catalog_field(k->e, key) : NULL;
	char text[TEXT_MOST];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	*vec_push(k->out) = (struct catalog_finding){.rule = rule,
		.remark = remark,
		.entry = k->e,
		.line = f ? f->line : k->e->line,
		.col = f ? f->col : 1,
		.text = arena_strdup(k->a, text)};
}

bool check_assumed(const struct checker *k, const char *key)
{
	const struct catalog_field *f = catalog_field(k->e, key);

	return f && f->assumed;
}

double check_watts(const struct checker *k, const char **key)
{
	const double max = catalog_num(k->e, "watts_max");

	*key = isnan(max) ? "watts_planning" : "watts_max";
	return isnan(max) ? catalog_num(k->e, "watts_planning") : max;
}

/* --- power of servers, switches, storage --- */

static void check_psus(struct checker *k)
{
	const unsigned psus = catalog_count(k->e, "psus");
	const unsigned needed = catalog_count(k->e, "psus_needed");
	const double each = catalog_num(k->e, "psu_watts");
	const char *key;
	const double watts = check_watts(k, &key);
	const bool remark = check_assumed(k, key) || check_assumed(k, "psu_watts");

	if (psus && !needed)
		check_find(k, "psus-needed", "psus", k->e->confidence == CONFIDENCE_LOW,
			"%u PSUs, but not how many full performance needs", psus);
	if (needed > psus)
		check_find(k, "psus-needed", "psus_needed", false, "%u of %u PSUs needed", needed,
			psus);
	if (catalog_count(k->e, "psus_min") > needed && needed)
		check_find(k, "psus-needed", "psus_min", false,
			"%u PSUs keep it up, but only %u are needed for all of it",
			catalog_count(k->e, "psus_min"), needed);
	if (isnan(each) || isnan(watts))
		return;
	if (psus * each < watts)
		check_find(k, "psu-power", "psu_watts", remark,
			"%u x %.0f W = %.0f W, less than the %.0f W of %s", psus, each, psus * each,
			watts, key);
	else if (needed && needed * each < watts)
		check_find(k, "psu-power", "psus_needed", remark || check_assumed(k, "psus_needed"),
			"the %u needed x %.0f W = %.0f W, less than the %.0f W of %s", needed, each,
			needed * each, watts, key);
}

static void check_heat(struct checker *k)
{
	const double heat = catalog_num(k->e, "heat_btu_h");
	const double watts = catalog_num(k->e, "watts_max");
	const double ratio = heat / (watts * BTU_PER_WATT_HOUR);
	const double liquid = catalog_num(k->e, "liquid_w");
	const double air = catalog_num(k->e, "air_w");

	if (ratio < 0.95 || ratio > 1.25)
		check_find(k, "heat", "heat_btu_h", check_assumed(k, "heat_btu_h"),
			"%.0f BTU/h are %.0f W, but %.0f W go in", heat, heat / BTU_PER_WATT_HOUR,
			watts);
	else if (ratio > 1.05)
		check_find(k, "heat", "heat_btu_h", true,
			"%.0f BTU/h are %.0f W, %.1f %% above what goes in; an audit takes the larger",
			heat, heat / BTU_PER_WATT_HOUR, 100 * (ratio - 1));
	if (liquid > watts * 1.25 || liquid + air > watts * 1.25)
		check_find(k, "cooling", "liquid_w", false,
			"%.0f W of cooling for a machine of %.0f W",
			isnan(air) ? liquid : liquid + air, watts);
}

static void check_order(struct checker *k, const char *low, const char *high)
{
	const double a = catalog_num(k->e, low), b = catalog_num(k->e, high);

	if (a > b)
		check_find(k, "order", low, check_assumed(k, low) || check_assumed(k, high),
			"%s %.10g is above %s %.10g", low, a, high, b);
}

static void check_power_order(struct checker *k)
{
	const char *key;

	(void)check_watts(k, &key);
	check_order(k, "watts_typical", key);
	check_order(k, "watts_measured_typical", "watts_measured_peak");
	check_order(k, "watts_measured_peak", key);
	check_order(k, "watts_dc", key);
	check_order(k, "weight_bare_kg", "weight_kg");
	check_order(k, "cages", "ports");
	if (isnan(check_watts(k, &key)) && isnan(catalog_num(k->e, "psu_watts")) &&
		k->e->kind != CATALOG_STORAGE)
		check_find(k, "power-missing", NULL, true, "no power figure at all");
}

/* --- bodies --- */

#define U_MM          44.45
#define WATTS_PER_U   2200 /* that air takes out of a box */
#define KG_PER_U_MOST 40
#define KG_PER_U_GPU  11 /* a box of eight GPUs, its PSUs and heat sinks in it */

static void check_body(struct checker *k)
{
	const double u = catalog_num(k->e, "height_u"), mm = catalog_num(k->e, "height_mm");
	const double kg = catalog_num(k->e, "weight_kg");
	const char *key;
	const double watts = check_watts(k, &key);

	if (mm > u * U_MM + 2)
		check_find(k, "height", "height_mm", false, "%.10g mm do not fit %.10g U (%.1f mm)",
			mm, u, u * U_MM);
	if (u > 0 && kg / u > KG_PER_U_MOST)
		check_find(k, "weight", "weight_kg", false, "%.10g kg in %.10g U are %.0f kg each",
			kg, u, kg / u);
	if (u > 0 && catalog_count(k->e, "gpus") >= 8 && kg / u < KG_PER_U_GPU)
		check_find(k, "weight", "weight_kg", false,
			"%.10g kg in %.10g U are %.1f kg each: an empty chassis, with %u GPUs", kg,
			u, kg / u, catalog_count(k->e, "gpus"));
	if (u > 0 && u < 40 && isnan(catalog_num(k->e, "liquid_w")) && watts / u > WATTS_PER_U)
		check_find(k, "density", "height_u", check_assumed(k, key),
			"%.0f W in %.10g U are %.0f W each, more than air takes out", watts, u,
			watts / u);
}

static void check_gpus(struct checker *k)
{
	const char *id = catalog_text(k->e, "gpu"), *key;
	const struct catalog_entry *gpu = id ? catalog_find(k->c, CATALOG_GPU, id) : NULL;
	const double watts = check_watts(k, &key);
	double gpus_w;

	if (id && !gpu && k->reference)
		gpu = catalog_find(k->reference, CATALOG_GPU, id);
	if (id && !gpu)
		check_find(k, "gpu", "gpu", false, "the catalogue has no gpu '%.64s'", id);
	if (!gpu)
		return;
	gpus_w = catalog_num(gpu, "power_default_w") * catalog_count(k->e, "gpus");
	if (gpus_w > watts)
		check_find(k, "gpu-power", key, check_assumed(k, key),
			"%u x %s take %.0f W, more than the %.0f W of it all",
			catalog_count(k->e, "gpus"), id, gpus_w, watts);
}

/* --- PDUs and circuits --- */

static double kva_of(const struct catalog_entry *e)
{
	const double phases = catalog_num(e, "phases");

	return catalog_num(e, "volts") * catalog_num(e, "amps") * (phases == 3 ? sqrt(3) : 1) /
	       1000;
}

static void check_near(struct checker *k, const char *key, double expected, double tolerance)
{
	const double v = catalog_num(k->e, key);

	if (fabs(v - expected) > tolerance * expected)
		check_find(k, "circuit", key, check_assumed(k, key), "%s is %.10g, computed %.2f",
			key, v, expected);
}

static void check_circuit(struct checker *k)
{
	const double kva = kva_of(k->e);

	check_near(k, "kva", kva, 0.005);
	check_near(k, "kw_80", kva * 0.8 * 0.95, 0.005);
	check_near(k, "kw_100", kva * 0.95, 0.005);
}

static void check_pdu(struct checker *k)
{
	const double kva = kva_of(k->e), amps = catalog_num(k->e, "amps");
	const double banks = catalog_num(k->e, "banks") * catalog_num(k->e, "bank_amps");
	const bool derated = catalog_num(k->e, "kva_derated") > 0;

	check_near(k, "kva", derated ? kva * 0.8 : kva, 0.02);
	check_near(k, "kva_usable_80", kva * 0.8, 0.02);
	check_order(k, "kw", "kva");
	if (banks < amps * catalog_num(k->e, "phases"))
		check_find(k, "banks", "banks", true,
			"the banks carry %.0f A of the input's %.0f A", banks,
			amps * catalog_num(k->e, "phases"));
}

/* --- what holds for any entry --- */

static void check_sources(struct checker *k)
{
	bool memory = k->e->n_sources > 0;

	for (unsigned i = 0; i < k->e->n_sources; i++)
		memory = memory && k->e->sources[i]->memory;
	if (memory && k->e->confidence != CONFIDENCE_LOW)
		check_find(k, "confidence", NULL, false,
			"only remembered, so its confidence is low, not %s",
			MODEL_CONFIDENCES[k->e->confidence]);
}

static void check_twins(struct checker *k, size_t at)
{
	const char *pci = catalog_text(k->e, "pci_device_ids");

	for (size_t i = 0; i < at; i++) {
		const struct catalog_entry *o = k->c->entries.at[i];
		const char *theirs = catalog_text(o, "pci_device_ids");

		if (o->kind != k->e->kind)
			continue;
		if (strcasecmp(o->name, k->e->name) == 0)
			check_find(k, "duplicate", NULL, false, "has the name of '%s'", o->id);
		if (pci && theirs && strcasecmp(pci, theirs) == 0)
			check_find(k, "duplicate", "pci_device_ids", false,
				"has the PCI device id of '%s'", o->id);
	}
}

static const struct catalog_entry *find_known(const struct checker *k)
{
	const struct catalog_entry *e = catalog_find(k->reference, k->e->kind, k->e->id);
	const char *pci = catalog_text(k->e, "pci_device_ids");

	for (size_t i = 0; !e && pci && i < k->reference->entries.n; i++) {
		const char *theirs = catalog_text(k->reference->entries.at[i], "pci_device_ids");

		if (theirs && strcasecmp(pci, theirs) == 0)
			e = k->reference->entries.at[i];
	}
	return e ? e : catalog_match(k->reference, k->e->kind, k->e->name);
}

static void check_reference(struct checker *k)
{
	const struct catalog_entry *known = find_known(k);

	for (unsigned i = 0; known && i < k->e->n_fields; i++) {
		const struct catalog_field *f = &k->e->fields[i];
		const struct catalog_field *o = catalog_field(known, f->key->name);

		if (!o || isnan(f->num) || isnan(o->num) || f->key->value > VALUE_COUNT)
			continue;
		if (fabs(f->num - o->num) > 0.05 * fabs(o->num))
			check_find(k, "reference", f->key->name, o->assumed,
				"%s is %.10g here, %.10g in '%s' (%s)", f->key->name, f->num,
				o->num, known->id,
				o->assumed ? "assumed" : MODEL_CONFIDENCES[o->confidence]);
	}
}

static void check_entry(struct checker *k)
{
	switch (k->e->kind) {
	case CATALOG_GPU:
		check_gpu(k);
		break;
	case CATALOG_SERVER:
	case CATALOG_SWITCH:
	case CATALOG_STORAGE:
		check_psus(k);
		check_heat(k);
		check_power_order(k);
		check_body(k);
		check_gpus(k);
		break;
	case CATALOG_PDU:
		check_pdu(k);
		break;
	case CATALOG_CIRCUIT:
		check_circuit(k);
		break;
	case CATALOG_OPTIC:
	case CATALOG_CONNECTOR:
	case CATALOG_MODEL:
	case CATALOG_NOTE:
	case CATALOG_KINDS:
		break;
	}
}

void catalog_check(const struct catalog *c, const struct catalog *reference, struct arena *a,
	struct catalog_findings *out)
{
	struct checker k = {.c = c, .reference = reference, .a = a, .out = out};

	for (size_t i = 0; i < c->entries.n; i++) {
		k.e = c->entries.at[i];
		check_sources(&k);
		check_twins(&k, i);
		check_entry(&k);
		if (reference)
			check_reference(&k);
	}
}
