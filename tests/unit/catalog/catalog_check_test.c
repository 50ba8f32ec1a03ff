/* catalog_check_test - the catalogue of this tree is sound, known mistakes of others are found. */
#include "inventory/catalog/catalog_check.h"
#include "tests/unit/catalog/fixture.h"

static struct catalog *load(const char *path)
{
	struct catalog *c = NULL;
	struct catalog_faults faults = VEC_INIT;
	struct err err = {0};
	const int rc = catalog_load(path, &c, &faults, &err);

	if (rc < 0)
		fail_msg("%s:%u: %s", err.file, err.line, err.msg);
	vec_done(&faults);
	return c;
}

TEST(own_catalogue_has_no_errors)
{
	struct arena *a = arena_new();
	struct catalog_findings found = VEC_INIT;
	struct catalog *c = load(NULL);
	bool heat = false;

	catalog_check(c, NULL, a, &found);
	vec_each(&found, struct catalog_finding, f) {
		if (!f->remark)
			fail_msg("%s: %s: %s", f->entry->id, f->rule, f->text);
		heat = heat || (strcmp(f->rule, "heat") == 0 && strstr(f->text, "10.8 %"));
	}
	assert_true(heat);
	vec_done(&found);
	catalog_free(c);
	arena_free(a);
}

static void judge(const char *path, struct rules *out)
{
	struct arena *a = arena_new();
	struct catalog_findings found = VEC_INIT;
	struct catalog *c = load(path), *own = load(NULL);

	catalog_check(c, own, a, &found);
	vec_each(&found, struct catalog_finding, f) {
		assert_true(f->line > 0 && f->text[0]);
		if (!f->remark)
			rules_add(out, f->rule);
	}
	vec_done(&found);
	catalog_free(own);
	catalog_free(c);
	arena_free(a);
}

TEST(implausible_entries_are_found)
{
	rules_check_folder("implausible", 14, judge);
}

TEST(names_mean_entries)
{
	static const struct {
		const char *name, *id;
		enum catalog_kind kind;
	} cases[] = {
		{"Nvidia NVIDIA DGX A100 640GB", "dgx-a100", CATALOG_SERVER},
		{"NVIDIA A100 80GB", NULL, CATALOG_SERVER},
		{"Supermicro SYS-821GE-TNHR", "smc-sys-821ge-tnhr", CATALOG_SERVER},
		{"Supermicro SYS-821GE-TNRT", NULL, CATALOG_SERVER},
		{"Dell PowerEdge XE9680", "dell-xe9680", CATALOG_SERVER},
		{"Mellanox sn5600", "sn5600", CATALOG_SWITCH},
		{"SN56000", NULL, CATALOG_SWITCH},
		{"APC AP8886", "apc-ap8886", CATALOG_PDU},
		{"APC AP8886", NULL, CATALOG_SWITCH},
		{"nvidia l40s", "l40s", CATALOG_GPU},
		{"", NULL, CATALOG_KINDS},
	};
	struct catalog *c = load(NULL);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct catalog_entry *e = catalog_match(c, cases[i].kind, cases[i].name);

		if (!cases[i].id != !e || (e && strcmp(e->id, cases[i].id) != 0))
			fail_msg("'%s' gave %s", cases[i].name, e ? e->id : "nothing");
	}
	catalog_free(c);
}

T_MAIN
