/* catalog_type_test - entries as device types, with the origin of each figure. */
#include "inventory/catalog/catalog.h"
#include "inventory/model/index.h"
#include "tests/unit/t.h"

static struct catalog *load(void)
{
	struct catalog *c = NULL;
	struct err err = {0};

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	return c;
}

static const struct fact_note *note(const struct catalog_notes *notes, const char *field)
{
	vec_each(notes, const struct fact_note, n)
		if (strcmp(n->field, field) == 0)
			return n;
	return NULL;
}

TEST(dgx_h100)
{
	struct arena *a = arena_new();
	struct catalog *c = load();
	struct catalog_notes notes = VEC_INIT;
	struct device_type t;
	struct err err = {0};

	assert_int_equal(catalog_device_type(c, "dgx-h100", a, &t, &notes, &err), 0);
	catalog_free(c); /* the type must not need it any more */
	assert_string_equal(t.name, "dgx-h100");
	assert_string_equal(t.catalogue, "dgx-h100");
	assert_int_equal(t.height_u, 8);
	assert_false(t.half_u);
	assert_true(t.full_depth);
	assert_true(t.depth_mm == 897.1 && t.weight_kg == 130.45);
	assert_true(t.watts[BASIS_MAX] == 10200 && t.watts[BASIS_NAMEPLATE] == 19800);
	assert_true(t.watts[BASIS_MEASURED] == 8400 && isnan(t.watts[BASIS_CAPPED]));
	assert_int_equal(t.watts_origin, ORIGIN_CATALOGUE);
	assert_non_null(strstr(t.watts_source, "User Guide"));
	assert_int_equal(t.psus, 6);
	assert_int_equal(t.psus_needed, 4);
	assert_int_equal(t.psus_min, 3);
	assert_true(t.psu_watts == 3300 && t.inlet_amps == 16);
	assert_true(t.heat_btu_h == 38557 && t.cfm == 1105);
	assert_true(t.inlet_min_c == 5 && t.inlet_max_c == 30);
	assert_int_equal(t.gpus, 8);
	assert_string_equal(t.gpu, "h100-sxm5-80gb");
	assert_true(t.gpu_w == 700 && t.gpu_min_w == 200 && t.gpu_max_w == 700);
	assert_int_equal(t.airflow, AIRFLOW_FRONT_REAR);
	assert_int_equal(note(&notes, "watts.max")->origin, ORIGIN_CATALOGUE);
	assert_int_equal(note(&notes, "watts.max")->confidence, CONFIDENCE_HIGH);
	assert_int_equal(note(&notes, "watts.measured")->origin, ORIGIN_ASSUMED);
	assert_int_equal(note(&notes, "weight_kg")->noun, NOUN_TYPE);
	assert_null(note(&notes, "watts.capped"));
	vec_done(&notes);
	arena_free(a);
}

TEST(planning_figures_are_assumed)
{
	struct arena *a = arena_new();
	struct catalog *c = load();
	struct catalog_notes notes = VEC_INIT;
	struct device_type t;
	struct err err = {0};

	assert_int_equal(catalog_device_type(c, "sn5600", a, &t, &notes, &err), 0);
	assert_true(t.watts[BASIS_MAX] == 2100);
	assert_int_equal(t.watts_origin, ORIGIN_ASSUMED);
	assert_int_equal(note(&notes, "watts.max")->origin, ORIGIN_ASSUMED);
	assert_int_equal(catalog_device_type(c, "arista-7060dx5-64s", a, &t, &notes, &err), 0);
	assert_true(isnan(t.watts[BASIS_MAX]));
	assert_int_equal(catalog_device_type(c, "smc-sys-821ge-tnhr", a, &t, &notes, &err), 0);
	assert_true(t.weight_kg == 130); /* not the empty chassis */
	assert_int_equal(catalog_device_type(c, "gb200-nvl72", a, &t, &notes, &err), 0);
	assert_true(fabs(t.liquid_share - 115.0 / 132) < 1e-9);
	vec_done(&notes);
	catalog_free(c);
	arena_free(a);
}

TEST(what_is_no_device_is_refused)
{
	struct arena *a = arena_new();
	struct catalog *c = load();
	struct catalog_notes notes = VEC_INIT;
	struct device_type t;
	struct err err = {0};

	assert_int_equal(catalog_device_type(c, "l40s", a, &t, &notes, &err), -E_CONFLICT);
	assert_int_equal(catalog_device_type(c, "dgx-h10", a, &t, &notes, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "dgx-h100"));
	vec_done(&notes);
	catalog_free(c);
	arena_free(a);
}

T_MAIN
