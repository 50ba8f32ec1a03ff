/* devicetype_test - community device types: what is read, what is lost, what is suspected. */
#include "inventory/catalog/devicetype.h"
#include "tests/unit/catalog/fixture.h"

static struct catalog *own(void)
{
	struct catalog *c = NULL;
	struct err err = {0};

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	return c;
}

/* The record that is written must load again. */
static void check_record(const struct devicetype *d, const struct devicetype_findings *found)
{
	struct catalog *c = NULL;
	AUTO_BUF out = {0};
	struct err err = {0};

	buf_init(&out, 1 << 20);
	devicetype_write_head(&out);
	buf_addf(&out, "%s:\n", CATALOG_SECTIONS[devicetype_kind(d)]);
	devicetype_write(d, found, &out);
	if (catalog_load_text("written", buf_str(&out), &c, NULL, &err) < 0)
		fail_msg("line %u: %s: %s", err.line, err.msg, err.excerpt);
	assert_int_equal(c->entries.n, 1);
	assert_int_equal(!c->entries.at[0]->suspicious, !devicetype_is_suspicious(found));
	assert_int_equal(c->entries.at[0]->confidence, CONFIDENCE_LOW);
	catalog_free(c);
}

static void judge(const char *path, struct rules *out)
{
	struct arena *a = arena_new();
	struct devicetype_findings found = VEC_INIT;
	struct catalog *c = own();
	struct devicetype d;
	struct err err = {0};

	if (devicetype_load(a, path, &d, &err) < 0)
		fail_msg("%s:%u: %s", err.file, err.line, err.msg);
	devicetype_judge(&d, c, a, &found);
	vec_each(&found, struct devicetype_finding, f) {
		assert_true(f->line > 0 && f->text[0]);
		rules_add(out, f->rule);
	}
	check_record(&d, &found);
	vec_done(&found);
	devicetype_done(&d);
	catalog_free(c);
	arena_free(a);
}

TEST(suspicious_types_are_recognised)
{
	rules_check_folder("suspicious", 13, judge);
}

TEST(figures_and_losses)
{
	struct arena *a = arena_new();
	struct devicetype d;
	struct err err = {0};
	AUTO_BUF out = {0};
	const struct devicetype_findings none = VEC_INIT;

	buf_init(&out, 1 << 16);
	assert_int_equal(devicetype_load(a, TEST_DIR "/suspicious/sound_server.yaml", &d, &err), 0);
	assert_true(fabs(d.weight_kg - 19.958) < 0.001);
	assert_int_equal(d.losses.n, 3);
	assert_string_equal(d.losses.at[0].key, "front_image");
	assert_string_equal(d.losses.at[1].key, "console-ports");
	assert_string_equal(d.losses.at[2].key, "interfaces.label");
	assert_int_equal(d.losses.at[2].n, 2);
	devicetype_write(&d, &none, &out);
	assert_non_null(strstr(buf_text(&out), "id: \"acme-r2\""));
	assert_non_null(strstr(buf_text(&out), "watts_max: 800"));
	assert_non_null(strstr(buf_text(&out), "inlet: \"C14\""));
	assert_null(strstr(buf_text(&out), "psu_watts"));
	devicetype_done(&d);
	arena_free(a);
}

TEST(several_ports_are_psus_not_a_sum)
{
	struct arena *a = arena_new();
	struct devicetype d;
	struct err err = {0};
	AUTO_BUF out = {0};
	const struct devicetype_findings none = VEC_INIT;

	buf_init(&out, 1 << 16);
	assert_int_equal(
		devicetype_load(a, TEST_DIR "/suspicious/six_ports_eight_bays.yaml", &d, &err), 0);
	devicetype_write(&d, &none, &out);
	assert_non_null(strstr(buf_text(&out), "psu_watts: 3000"));
	assert_null(strstr(buf_text(&out), "watts_max"));
	assert_null(strstr(buf_text(&out), "18000"));
	devicetype_done(&d);
	arena_free(a);
}

TEST(bad_input_is_refused)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"[]", "must be a map"},
		{"a: b", "no device type"},
		{"manufacturer: A\nmodel: B\nweight: 3", "unit"},
		{"manufacturer: A\nmodel: B\nweight: 3\nweight_unit: st", "unit"},
		{"manufacturer: A\nmodel: B\nweight: heavy\nweight_unit: kg", "number"},
		{"manufacturer: A\nmodel: B\nu_height: -1", "'u_height'"},
		{"manufacturer: A\nmodel: B\nis_full_depth: yes", "true or false"},
		{"manufacturer: A\nmodel: B\npower-ports: 3", "must be a list"},
		{"manufacturer: A\nmodel: B\npower-ports: [3]", "must be a map"},
		{"manufacturer: A\nmodel: B\npower-ports: [{type: x}]", "no 'name'"},
		{"manufacturer: A\nmodel: B\npower-ports: [{name: x, maximum_draw: -5}]",
			"'maximum_draw'"},
		{"manufacturer: A\nmodel: &x B", ""},
		{"manufacturer: A\nmodel: [B]", "'model'"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena *a = arena_new();
		struct devicetype d;
		struct err err = {0};

		assert_true(devicetype_load_text(a, "t", str_of(cases[i].text), &d, &err) < 0);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("'%s' says '%s'", cases[i].text, err.msg);
		devicetype_done(&d);
		arena_free(a);
	}
}

TEST(types_that_look_alike_are_one_key)
{
	struct arena *a = arena_new();
	struct devicetype d;
	struct err err = {0};
	AUTO_BUF out = {0};
	const struct devicetype_findings none = VEC_INIT;

	buf_init(&out, 1 << 16);
	assert_int_equal(
		devicetype_load_text(a, "t",
			STR_LIT("manufacturer: A\nmodel: \"B \\\"\\n\"\nslug: '-/x y'\n"
				"interfaces: [{name: a, type: 'x?'}, {name: b, type: 'x!'}]\n"),
			&d, &err),
		0);
	devicetype_write(&d, &none, &out);
	assert_non_null(strstr(buf_text(&out), "interface_types: {\"x_\": 2}"));
	assert_non_null(strstr(buf_text(&out), "id: \"x-y\""));
	check_record(&d, &none);
	devicetype_done(&d);
	arena_free(a);
}

TEST(too_many_ports_are_refused)
{
	struct arena *a = arena_new();
	struct devicetype d;
	struct err err = {0};
	AUTO_BUF text = {0};

	buf_init(&text, 1 << 20);
	buf_add_text(&text, "manufacturer: A\nmodel: B\ninterfaces:\n");
	for (int i = 0; i <= DEVICETYPE_PORTS_MAX; i++)
		buf_addf(&text, "- {name: e%d}\n", i);
	assert_int_equal(devicetype_load_text(a, "t", buf_str(&text), &d, &err), -E_LIMIT);
	devicetype_done(&d);
	arena_free(a);
}

TEST(speeds)
{
	assert_true(devicetype_gbps(str_of("400gbase-x-osfp")) == 400);
	assert_true(devicetype_gbps(str_of("1000base-t")) == 1);
	assert_true(devicetype_gbps(str_of("100base-tx")) == 0.1);
	assert_true(devicetype_gbps(str_of("infiniband-ndr")) == 400);
	assert_true(devicetype_gbps(str_of("")) == 0);
	assert_true(devicetype_gbps(str_of("999999999gbase")) == 0);
	assert_true(devicetype_gbps(str_of("virtual")) == 0);
}

T_MAIN
