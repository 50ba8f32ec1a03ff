/* lint_test - each rule fires by its figure and not below it; a site of a thousand racks. */
#include "inventory/design/lint_site.h"
#include "inventory/import/import.h"
#include "tests/unit/t.h"

#include <time.h>

static const struct {
	const char *text, *id; /* id NULL: nothing is found */
	enum lint_level level;
} CASES[] = {
	{"{method: full fine-tune, params: 70e9, vram_gb: 1217}", "MEM-01", LINT_ERROR},
	{"{method: full fine-tune, params: 70e9, vram_gb: 1218}", NULL, 0},
	{"{method: LoRA, params: 70e9, vram_gb: 640}", NULL, 0},
	{"{kv_gib: 61, kv_budget_gib: 60}", "MEM-02", LINT_ERROR},
	{"{gpus: 16384, tp: 8, cp: 16, pp: 16, dp: 4}", "PAR-01", LINT_ERROR},
	{"{gpus: 8192, tp: 8, cp: 16, pp: 16, dp: 4}", NULL, 0},
	{"{heads: 64, tp: 6}", "PAR-01", LINT_ERROR},
	{"{layers: 80, pp: 12}", "PAR-01", LINT_ERROR},
	{"{tp: 16, nvlink_domain: 8}", "PAR-02", LINT_WARN},
	{"{tp: 16, nvlink_domain: 8, exposed_share: 0.6}", "PAR-02", LINT_ERROR},
	{"{tp: 16, nvlink_domain: 72}", NULL, 0},
	{"{exposed_share: 0.2}", "NET-01", LINT_WARN},
	{"{exposed_share: 0.1}", NULL, 0},
	{"{nic_path: SYS}", "NET-02", LINT_WARN},
	{"{nic_path: PXB}", NULL, 0},
	{"{pretraining: true, nodes: 4, gpus: 8, nics_per_node: 2}", "NET-02", LINT_WARN},
	{"{endpoints: 4096, radix: 64, tiers: 2}", "NET-03", LINT_ERROR},
	{"{endpoints: 2048, radix: 64, tiers: 2}", NULL, 0},
	{"{pretraining: true, oversubscription: 2}", "NET-03", LINT_WARN},
	{"{gpu: RTX PRO 6000 Blackwell, link: NVLink}", "NET-04", LINT_ERROR},
	{"{gpu: A100-SXM4-80GB, link: NVLink 3}", NULL, 0},
	{"{gpu: H200 PCIe}", "NET-04", LINT_ERROR},
	{"{write_s: 301}", "STO-01", LINT_WARN},
	{"{write_s: 200, interval_s: 1800}", "STO-01", LINT_WARN},
	{"{write_s: 20, interval_s: 1800}", NULL, 0},
	{"{loss: 0.04}", "STO-01", LINT_WARN},
	{"{checkpoint_target: NFS}", "STO-01", LINT_ASK},
	{"{checkpoint_target: NFS, measured_write: 12}", NULL, 0},
	{"{nfs_servers: 1, vision_gpus: 24}", "STO-02", LINT_WARN},
	{"{group_disks: 24}", "STO-03", LINT_WARN},
	{"{spares: 0}", "STO-03", LINT_WARN},
	{"{usable_tb: 300, archive_tb: 259.2}", "STO-03", LINT_WARN},
	{"{cameras: 400, stream_fps: 25, decode_fps: 4000}", "CV-01", LINT_ERROR},
	{"{cameras: 400, stream_fps: 25, decode_capacity_fps: 6081}", "CV-02", LINT_ERROR},
	{"{users: 5, monitoring: dcgm}", "OPS-01", LINT_WARN},
	{"{users: 1, nodes: 1, monitoring: dcgm}", NULL, 0},
	{"{users: 1, scheduler: slurm}", "OPS-02", LINT_WARN},
	{"{alert_metric: DCGM_FI_DEV_GPU_UTIL, scheduler: slurm, monitoring: dcgm}", "OPS-02",
		LINT_WARN},
	{"{node_kw: 10.2, nodes_per_rack: 4, rack_limit_kw: 40}", "THM-01", LINT_ERROR},
	{"{rack_kw: 41, air_cooled: true}", "THM-01", LINT_WARN},
	{"{node_kw: 5.6, gpus: 8, gpu_tdp_w: 700}", "THM-02", LINT_WARN},
	{"{node_kw: 10.2, gpus: 8, gpu_tdp_w: 700}", NULL, 0},
	{"{node_kw: 14.3, psus: 6, psu_kw: 3.3, psus_lost: 3}", "PWR-01", LINT_ERROR},
	{"{node_kw: 14.3, psus: 6, psu_kw: 3.3, psus_lost: 1}", NULL, 0},
	{"{capex: 2e6, years: 3, utilisation: 0.4, claimed_usd_per_year: 800000}", "TCO-01",
		LINT_WARN},
	{"{link_both_ways_gbs: 900, nic_one_way_gbs: 50}", "DIR-01", LINT_WARN},
	{"{tflops: 1979, tflops_dense: 989}", "UNIT-01", LINT_WARN},
};

static int lint_text(const char *text, struct arena *a, struct lint_findings *out, struct err *err)
{
	struct yaml_doc *d;
	const int rc = yaml_parse(a, "spec.yaml", str_of(text), &YAML_CAPS_SITE, &d, err);

	return rc < 0 ? rc : lint_document(d, a, out, err);
}

TEST(each_rule_has_its_threshold)
{
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct arena *a = arena_new();
		struct lint_findings all = VEC_INIT;
		struct err err = {0};

		if (lint_text(CASES[i].text, a, &all, &err) < 0)
			fail_msg("%s: %s", CASES[i].text, err.msg);
		if (all.n != (CASES[i].id ? 1 : 0))
			fail_msg("%s: %zu findings", CASES[i].text, all.n);
		if (all.n) {
			assert_string_equal(all.at[0].id, CASES[i].id);
			assert_int_equal(all.at[0].level, CASES[i].level);
			assert_true(all.at[0].source && *all.at[0].source);
		}
		vec_done(&all);
		arena_free(a);
	}
}

TEST(a_specification_has_subjects)
{
	struct arena *a = arena_new();
	struct lint_findings all = VEC_INIT;
	struct err err = {0};

	assert_int_equal(lint_text("subjects:\n  - {name: llm, node: 8x L40S, link: NVLink 4}\n"
				   "  - {name: archive, group_disks: 24, spares: 1}\n",
				 a, &all, &err),
		0);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.at[0].reason, "L40S has no NVLink");
	assert_string_equal(all.at[1].subject, "archive");
	assert_string_equal(lint_verdict(&all), "reject");
	vec_done(&all);
	assert_int_equal(lint_text("{nvlink_domian: 8}", a, &all, &err), -E_SCHEMA);
	assert_non_null(strstr(err.hint, "nvlink_domain"));
	assert_int_equal(lint_text("{tp: -1}", a, &all, &err), -E_SCHEMA);
	assert_int_equal(lint_text("subjects: 3", a, &all, &err), -E_SCHEMA);
	vec_done(&all);
	arena_free(a);
}

/* n racks of four machines of a type whose parts do not carry it. */
static struct model *make_site(unsigned n)
{
	struct model *m = model_new();
	struct device_type *t = vec_push(&m->types);

	*t = (struct device_type){.name = "hgx",
		.gpus = 8,
		.gpu = "h100",
		.psus = 6,
		.psus_needed = 3,
		.psu_watts = 3000,
		.gpu_w = 700};
	for (unsigned i = 0; i < BASIS_N; i++)
		t->watts[i] = 10200;
	*vec_push(&m->zones) = (struct cooling_zone){.name = "hall", .kind = "air"};
	m->site = "big";
	*vec_push(&m->roles) = (struct role){.name = "gpu", .recipes = "time base"};
	for (unsigned i = 0; i < n; i++) {
		*vec_push(&m->racks) =
			(struct rack){.name = arena_printf(m->arena, "R%u", i), .cooling_zone = 0};
		for (unsigned k = 0; k < 4; k++)
			*vec_push(&m->devices) =
				(struct device){.name = arena_printf(m->arena, "gpu%u-%u", i, k),
					.type = 0,
					.rack = i,
					.watts_measured = MODEL_UNSET,
					.watts_cap = MODEL_UNSET};
	}
	return m;
}

TEST(a_thousand_racks_take_a_moment)
{
	struct model *m = make_site(1000);
	struct arena *a = arena_new();
	struct lint_findings all = VEC_INIT;
	const clock_t begin = clock();
	unsigned hot = 0;

	lint_site(m, a, &all);
	printf("%zu findings in %.3f s\n", all.n, (double)(clock() - begin) / CLOCKS_PER_SEC);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 1);
	vec_each(&all, const struct lint_finding, f)
		hot += strcmp(f->id, "THM-01") == 0;
	assert_int_equal(hot, 1000);
	assert_int_equal(all.n, 1000 + 1 + 2); /* and PWR-01, OPS-01, OPS-02 */
	vec_done(&all);
	arena_free(a);
	model_free(m);
}

TEST(the_three_examples_pass)
{
	static const char *const names[] = {"start", "business", "enterprise"};

	for (unsigned i = 0; i < 3; i++) {
		struct arena *a = arena_new();
		struct lint_findings all = VEC_INIT;
		struct err_list errors = {0};
		struct model *m = NULL;
		char path[256];

		snprintf(path, sizeof path, TEST_DIR "/../../../inventory/examples/%s.yaml",
			names[i]);
		assert_int_equal(import_site(path, &m, &errors), 0);
		lint_site(m, a, &all);
		vec_each(&all, const struct lint_finding, f)
			printf("%s: %s %s: %s (%g, %g)\n", names[i], f->id, f->subject, f->reason,
				f->value, f->limit);
		assert_string_not_equal(lint_verdict(&all), "reject");
		vec_done(&all);
		err_list_done(&errors);
		model_free(m);
		arena_free(a);
	}
}

T_MAIN
