/* catalog_type - an entry as a device type of the model, each figure with where it is from. */
#include "inventory/catalog/catalog_priv.h"
#include "inventory/model/index.h"

#include <stddef.h>
#include <string.h>

struct filler {
	const struct catalog_entry *e;
	struct arena *a;
	struct device_type *out;
	struct catalog_notes *notes;
};

/* "title; title: note", as much as a person needs to find it again. */
static const char *titles(struct arena *a, const struct catalog_field *f)
{
	const char *text = "";

	for (unsigned i = 0; i < f->n_sources; i++)
		text = arena_printf(a, "%s%s%s", text, i ? "; " : "", f->sources[i]->title);
	return f->note ? arena_printf(a, "%s: %s", text, f->note) : text;
}

static void note(struct filler *fl, const struct catalog_field *f, const char *field, bool assumed)
{
	*vec_push(fl->notes) = (struct fact_note){.noun = NOUN_TYPE,
		.row = MODEL_NONE,
		.field = field,
		.origin = assumed || f->assumed ? ORIGIN_ASSUMED : ORIGIN_CATALOGUE,
		.confidence = f->confidence,
		.source = titles(fl->a, f),
		.date = arena_strdup(fl->a, f->date)};
}

/* NaN stays when the entry does not state it. */
static bool fill(struct filler *fl, const char *key, const char *field, double *to)
{
	const struct catalog_field *f = catalog_field(fl->e, key);

	if (!f || isnan(f->num))
		return false;
	*to = f->num;
	note(fl, f, field, false);
	return true;
}

static void fill_count(struct filler *fl, const char *key, unsigned *to)
{
	double v = 0;

	if (fill(fl, key, key, &v))
		*to = (unsigned)v;
}

static const char *fill_text(struct filler *fl, const char *key)
{
	const struct catalog_field *f = catalog_field(fl->e, key);

	if (!f || !f->text)
		return NULL;
	note(fl, f, key, false);
	return arena_strdup(fl->a, f->text);
}

static void fill_body(struct filler *fl)
{
	const struct catalog_field *u = catalog_field(fl->e, "height_u");
	const struct catalog_field *full = catalog_field(fl->e, "full_depth");

	if (u && !isnan(u->num)) {
		fl->out->height_u = (unsigned)u->num;
		fl->out->half_u = u->num > fl->out->height_u;
		note(fl, u, "height_u", false);
	}
	if (full && !isnan(full->num)) {
		fl->out->full_depth = full->num > 0;
		note(fl, full, "full_depth", false);
	}
	(void)fill(fl, "depth_mm", "depth_mm", &fl->out->depth_mm);
	(void)fill(fl, "weight_kg", "weight_kg", &fl->out->weight_kg);
}

/* max is the vendor's; where it has none, a planning figure stands in and is assumed. */
static void fill_watts(struct filler *fl)
{
	struct device_type *t = fl->out;
	const struct catalog_field *f = catalog_field(fl->e, "watts_max");
	const struct catalog_field *psu = catalog_field(fl->e, "psu_watts");
	const bool planned = !f || isnan(f->num);
	double v;

	if (planned)
		f = catalog_field(fl->e, "watts_planning");
	if (f && !isnan(f->num)) {
		t->watts[BASIS_MAX] = f->num;
		t->watts_source = titles(fl->a, f);
		t->watts_origin = planned || f->assumed ? ORIGIN_ASSUMED : ORIGIN_CATALOGUE;
		note(fl, f, "watts.max", planned);
	}
	v = psu ? psu->num * catalog_count(fl->e, "psus") : 0;
	if (psu && v > 0) {
		t->watts[BASIS_NAMEPLATE] = v;
		note(fl, psu, "watts.nameplate", false);
	}
	(void)fill(fl, "watts_measured_peak", "watts.measured", &t->watts[BASIS_MEASURED]);
	(void)fill(fl, "watts_dc", "watts.dc", &t->watts_dc);
	(void)fill(fl, "watts_degraded", "watts.degraded", &t->watts_degraded);
}

static void fill_psus(struct filler *fl)
{
	const struct catalog_field *spare = catalog_field(fl->e, "hot_spare");
	const char *curve = catalog_text(fl->e, "psu_curve");
	const int word = curve ? model_word(MODEL_PSU_CURVES, curve) : 0;

	fill_count(fl, "psus", &fl->out->psus);
	fill_count(fl, "psus_needed", &fl->out->psus_needed);
	fill_count(fl, "psus_min", &fl->out->psus_min);
	(void)fill(fl, "psu_watts", "psu_watts", &fl->out->psu_watts);
	(void)fill(fl, "inlet_amps", "inlet_amps", &fl->out->inlet_amps);
	(void)fill(fl, "inrush", "inrush", &fl->out->inrush);
	if (spare && !isnan(spare->num)) {
		fl->out->hot_spare = spare->num > 0;
		note(fl, spare, "hot_spare", false);
	}
	if (word > 0) {
		fl->out->psu_curve = (enum psu_curve)word;
		note(fl, catalog_field(fl->e, "psu_curve"), "psu_curve", false);
	}
}

static void fill_air(struct filler *fl)
{
	struct device_type *t = fl->out;
	const struct catalog_field *inlet = catalog_field(fl->e, "inlet_c");
	const struct catalog_field *liquid = catalog_field(fl->e, "liquid_w");
	const double air = catalog_num(fl->e, "air_w");
	const char *flow = catalog_text(fl->e, "airflow");
	const int word = flow ? model_word(MODEL_AIRFLOWS, flow) : 0;

	(void)fill(fl, "heat_btu_h", "heat_btu_h", &t->heat_btu_h);
	(void)fill(fl, "cfm", "cfm", &t->cfm);
	if (inlet && !isnan(inlet->num)) {
		t->inlet_min_c = inlet->num;
		t->inlet_max_c = inlet->high;
		note(fl, inlet, "inlet_c", false);
	}
	t->ashrae = fill_text(fl, "ashrae");
	if (liquid && liquid->num > 0 && air >= 0) {
		t->liquid_share = liquid->num / (liquid->num + air);
		note(fl, liquid, "liquid_share", false);
	}
	if (word > 0) {
		t->airflow = (enum airflow)word;
		note(fl, catalog_field(fl->e, "airflow"), "airflow", false);
	}
}

/* The GPUs' own limits come from their entry. */
static void fill_gpus(struct filler *fl, const struct catalog *c)
{
	struct filler of = *fl;

	fill_count(fl, "gpus", &fl->out->gpus);
	fl->out->gpu = fill_text(fl, "gpu");
	of.e = fl->out->gpu ? catalog_find(c, CATALOG_GPU, fl->out->gpu) : NULL;
	if (!of.e)
		return;
	(void)fill(&of, "power_default_w", "gpu_watts.default", &fl->out->gpu_w);
	(void)fill(&of, "power_min_w", "gpu_watts.min", &fl->out->gpu_min_w);
	(void)fill(&of, "power_max_w", "gpu_watts.max", &fl->out->gpu_max_w);
}

int catalog_device_type(const struct catalog *c, const char *id, struct arena *a,
	struct device_type *out, struct catalog_notes *notes, struct err *err)
{
	struct filler fl = {.a = a, .out = out, .notes = notes};
	int rc = catalog_want(c, CATALOG_KINDS, id, &fl.e, err);

	if (rc < 0)
		return rc;
	if (fl.e->kind != CATALOG_SERVER && fl.e->kind != CATALOG_SWITCH &&
		fl.e->kind != CATALOG_STORAGE && fl.e->kind != CATALOG_PDU)
		return err_set(err, E_CONFLICT, "'%s' is a %s, not a device", id,
			CATALOG_KIND_NAMES[fl.e->kind]);
	*out = (struct device_type){.name = arena_strdup(a, fl.e->id),
		.maker = arena_strdup(a, fl.e->maker),
		.catalogue = arena_strdup(a, fl.e->id),
		.full_depth = true,
		.depth_mm = MODEL_UNSET,
		.weight_kg = MODEL_UNSET,
		.watts = {MODEL_UNSET, MODEL_UNSET, MODEL_UNSET, MODEL_UNSET},
		.watts_origin = ORIGIN_CATALOGUE};
	fill_body(&fl);
	fill_watts(&fl);
	fill_psus(&fl);
	fill_air(&fl);
	fill_gpus(&fl, c);
	return 0;
}
