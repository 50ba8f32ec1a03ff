/* catalog_test - reading catalogue files: what is taken, what is refused and where. */
#include "agent/base/buf.h"
#include "inventory/catalog/catalog.h"
#include "tests/unit/t.h"

#include <sys/stat.h>

#define HEAD  "format: 1\nsources:\n  a: {title: A}\n  m: {title: M, memory: true}\n"
#define OPTIC HEAD "optics:\n  - {id: x, name: X, source: a, confidence: high, "

static struct catalog *load(const char *text)
{
	struct catalog *c = NULL;
	struct err err = {0};

	if (catalog_load_text("t.yaml", str_of(text), &c, NULL, &err) < 0)
		fail_msg("line %u: %s", err.line, err.msg);
	return c;
}

TEST(own_files_load)
{
	struct catalog *c = NULL;
	const struct catalog_entry *e;
	struct err err = {0};

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	assert_true(c->entries.n >= 70 && c->sources.n >= 50);
	e = catalog_find(c, CATALOG_GPU, "h100-sxm5-80gb");
	assert_non_null(e);
	assert_true(catalog_num(e, "tflops_bf16_dense") == 989.4);
	assert_true(catalog_num(e, "power_default_w") == 700);
	assert_true(isnan(catalog_num(e, "tflops_fp4_dense")));
	assert_null(catalog_text(e, "tflops_fp4_dense"));
	assert_int_equal(catalog_count(e, "mig_max_instances"), 7);
	assert_null(catalog_find(c, CATALOG_SERVER, "h100-sxm5-80gb"));
	assert_non_null(catalog_find(c, CATALOG_KINDS, "apc-ap8886"));
	vec_each(&c->entries, struct catalog_entry *, it) {
		assert_true((*it)->n_sources > 0);
		assert_int_not_equal((*it)->confidence, CONFIDENCE_UNSTATED);
	}
	catalog_free(c);
}

TEST(origin_of_a_field)
{
	struct catalog *c = load(
		HEAD "gpus:\n"
		     "  - id: g\n    name: G\n    memory_gb: 8\n    memory_bandwidth_gbs: 100\n"
		     "    power_default_w: 300\n    power_min_w: 100\n    price_usd: [10, 20]\n"
		     "    mig_profiles: {1g.5gb: 7, 2g.10gb: 3}\n    av1_decode: true\n"
		     "    pci_device_ids: [\"0x1\", \"0x2\"]\n    tflops_fp8_dense: null\n"
		     "    source: a\n    confidence: high\n"
		     "    fields:\n"
		     "      power_min_w: {source: m, confidence: medium, note: by heart}\n"
		     "      price_usd: {confidence: low, date: \"2025\"}\n");
	const struct catalog_entry *e = catalog_find(c, CATALOG_GPU, "g");
	const struct catalog_field *f = catalog_field(e, "power_default_w");

	assert_int_equal(f->confidence, CONFIDENCE_HIGH);
	assert_false(f->assumed);
	assert_string_equal(f->sources[0]->id, "a");
	assert_int_equal(f->line, 10);
	f = catalog_field(e, "power_min_w");
	assert_true(f->assumed); /* only remembered, whatever it claims */
	assert_string_equal(f->note, "by heart");
	assert_string_equal(f->sources[0]->id, "m");
	f = catalog_field(e, "price_usd");
	assert_true(f->assumed && f->num == 10 && f->high == 20);
	assert_string_equal(f->text, "10 .. 20");
	assert_string_equal(f->date, "2025");
	assert_string_equal(catalog_text(e, "mig_profiles"), "1g.5gb 7, 2g.10gb 3");
	assert_string_equal(catalog_text(e, "pci_device_ids"), "0x1, 0x2");
	assert_true(catalog_num(e, "av1_decode") == 1);
	assert_false(catalog_field(e, "tflops_fp8_dense")->assumed);
	assert_null(catalog_field(e, "nvdec"));
	catalog_free(c);
}

TEST(faults_have_place_and_hint)
{
	static const struct {
		const char *text;
		enum ec code;
		unsigned line;
		const char *says, *hint;
	} cases[] = {
		{OPTIC "watts_max: 3, wats: 1}\n", E_SCHEMA, 6, "unknown key 'wats'", ""},
		{OPTIC "watts_max: 3, port_gpbs: 1}\n", E_SCHEMA, 6, "unknown key", "port_gbps"},
		{OPTIC "watts_max: hot}\n", E_SCHEMA, 6, "'watts_max' must be a number", ""},
		{OPTIC "watts_max: -3}\n", E_SCHEMA, 6, "from 0.1 to 100", ""},
		{OPTIC "watts_max: 1e9}\n", E_SCHEMA, 6, "from 0.1 to 100", ""},
		{OPTIC "form: X}\n", E_SCHEMA, 6, "has no 'watts_max'", "null"},
		{OPTIC "watts_max: 3, fields: {form: {note: n}}}\n", E_CONFLICT, 6, "no 'form'",
			""},
		{OPTIC "watts_max: 3, fields: {frm: {note: n}}}\n", E_SCHEMA, 6, "unknown key",
			"form"},
		{OPTIC "watts_max: 3, fields: {watts_max: {conf: low}}}\n", E_SCHEMA, 6,
			"unknown key", ""},
		{OPTIC "watts_max: 3}\n  - {id: x, name: Y, source: a, confidence: low, watts_max: 1}\n",
			E_EXISTS, 7, "'x' is there already", ""},
		{HEAD "optics:\n  - {id: x, name: X, source: b, confidence: low, watts_max: 1}\n",
			E_NOTFOUND, 6, "no source 'b'", "sources"},
		{HEAD "optics:\n  - {id: x, name: X, source: a, confidence: sure, watts_max: 1}\n",
			E_SCHEMA, 6, "no confidence is called 'sure'", "medium"},
		{HEAD "optics:\n  - {id: x, name: X, source: a, watts_max: 1}\n", E_SCHEMA, 6,
			"no 'confidence'", "README"},
		{HEAD "optics:\n  - {id: x, name: X, confidence: low, watts_max: 1}\n", E_SCHEMA, 6,
			"no 'source'", "list"},
		{HEAD "optics:\n  - {id: a b, name: X, source: a, confidence: low, watts_max: 1}\n",
			E_SCHEMA, 6, "no name", "letters"},
		{HEAD "optics:\n  - {name: X, source: a, confidence: low, watts_max: 1}\n",
			E_SCHEMA, 6, "'id' is missing", ""},
		{HEAD "optics: {}\n", E_SCHEMA, 5, "must be a list", ""},
		{HEAD "optic: []\n", E_SCHEMA, 5, "unknown key 'optic'", "optics"},
		{"sources: {}\n", E_SCHEMA, 1, "'format' is missing", "format: 1"},
		{"format: 2\n", E_SCHEMA, 1, "'format'", ""},
		{"format: 1\nsources: {a: {url: x}}\n", E_SCHEMA, 2, "'title' is missing", ""},
		{HEAD "servers:\n  - {id: s, name: S, source: a, confidence: low, height_u: 1, "
		      "inlet_c: [30, 5]}\n",
			E_CONFLICT, 6, "begins above its end", ""},
		{HEAD "servers:\n  - {id: s, name: S, source: a, confidence: low, height_u: 1, "
		      "inlet_c: 30}\n",
			E_SCHEMA, 6, "a low and a high", "[5, 30]"},
		{HEAD "servers:\n  - {id: s, name: S, source: a, confidence: low, height_u: 1, psus: "
		      "1.5}\n",
			E_SCHEMA, 6, "whole number", ""},
		{"", E_SCHEMA, 0, "empty", ""},
		{"format: 1\n]", E_SYNTAX, 2, "", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct catalog *c = NULL;
		struct catalog_faults faults = VEC_INIT;
		struct err err = {0};
		const int rc =
			catalog_load_text("t.yaml", str_of(cases[i].text), &c, &faults, &err);

		if (rc != -(int)cases[i].code || err.line != cases[i].line ||
			!strstr(err.msg, cases[i].says) || !strstr(err.hint, cases[i].hint))
			fail_msg("case %zu: rc %d line %u '%s' hint '%s'", i, rc, err.line, err.msg,
				err.hint);
		assert_int_equal(faults.n, 1);
		assert_string_equal(err.file, "t.yaml");
		vec_done(&faults);
	}
}

TEST(all_faults_are_told)
{
	struct catalog *c = NULL;
	struct catalog_faults faults = VEC_INIT;
	struct err err = {0};
	AUTO_BUF text = {0};

	buf_init(&text, 1 << 20);
	buf_add_text(&text, HEAD "optics:\n");
	for (int i = 0; i < 60; i++)
		buf_addf(&text, "  - {id: x%d, name: X, source: a, confidence: low}\n", i);
	assert_true(catalog_load_text("t.yaml", buf_str(&text), &c, &faults, &err) < 0);
	assert_int_equal(faults.n, CATALOG_FAULTS_MAX);
	assert_int_equal(faults.at[1].line, 7);
	vec_done(&faults);
}

TEST(folders)
{
	char path[256];
	struct catalog *c = NULL;
	struct err err = {0};
	FILE *f;

	snprintf(path, sizeof path, "%s/none", t_dir());
	assert_int_equal(catalog_load(path, &c, NULL, &err), -E_NOTFOUND);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(catalog_load(path, &c, NULL, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "no *.yaml"));
	/* a source may stand in a file that is read later */
	snprintf(path, sizeof path, "%s/none/a.yaml", t_dir());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("format: 1\noptics:\n  - {id: x, name: X, source: z, confidence: low, watts_max: 1}\n",
		f);
	fclose(f);
	snprintf(path, sizeof path, "%s/none/b.yaml", t_dir());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("format: 1\nsources: {z: {title: Z}}\n", f);
	fclose(f);
	snprintf(path, sizeof path, "%s/none", t_dir());
	assert_int_equal(catalog_load(path, &c, NULL, &err), 0);
	assert_int_equal(c->entries.n, 1);
	catalog_free(c);
	assert_int_equal(setenv("STOIKA_CATALOG", path, 1), 0);
	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	assert_int_equal(c->entries.n, 1);
	catalog_free(c);
	/* an empty part of the list is our own */
	snprintf(path, sizeof path, "%s/none:", t_dir());
	assert_int_equal(setenv("STOIKA_CATALOG", path, 1), 0);
	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	assert_non_null(catalog_find(c, CATALOG_OPTIC, "x"));
	assert_non_null(catalog_find(c, CATALOG_SERVER, "dgx-h100"));
	catalog_free(c);
	assert_int_equal(unsetenv("STOIKA_CATALOG"), 0);
}

T_MAIN
