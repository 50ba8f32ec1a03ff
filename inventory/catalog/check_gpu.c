/*
 * check_gpu - figures of a GPU against each other: sparsity, precisions, memory, links.
 *
 * Marketing pages print the sparse figure, or that of the CUDA cores; both show in the
 * ratio to the next precision, to the memory's bandwidth, or to the power.
 */
#include "inventory/catalog/check_priv.h"

#include <stdio.h>
#include <string.h>

struct precision {
	const char *name, *dense, *sparse;
	double ops_per_byte; /* TFLOPS over TB/s that no tensor core has exceeded so far */
};
static const struct precision PRECISIONS[] = {
	{"TF32", "tflops_tf32_dense", "tflops_tf32_sparse", 225},
	{"BF16", "tflops_bf16_dense", "tflops_bf16_sparse", 450},
	{"FP8", "tflops_fp8_dense", "tflops_fp8_sparse", 900},
	{"FP4", "tflops_fp4_dense", "tflops_fp4_sparse", 2000},
};
#define N_PRECISIONS (sizeof PRECISIONS / sizeof *PRECISIONS)
#define BF16_PER_W   0.5 /* TFLOPS; below it is no tensor core */

static void check_sparsity(struct checker *k, const struct precision *p)
{
	const double dense = catalog_num(k->e, p->dense), sparse = catalog_num(k->e, p->sparse);
	const double bandwidth = catalog_num(k->e, "memory_bandwidth_gbs");

	if (dense >= sparse * 0.95)
		check_find(k, "sparse-as-dense", p->dense, false,
			"%s dense %.10g, and sparse %.10g: dense is half of what is printed",
			p->name, dense, sparse);
	else if (fabs(2 * dense / sparse - 1) > 0.06)
		check_find(k, "sparsity", p->dense, check_assumed(k, p->dense),
			"%s dense %.10g is not half of the sparse %.10g", p->name, dense, sparse);
	if (dense * 1000 / bandwidth > p->ops_per_byte)
		check_find(k, "sparse-as-dense", p->dense, false,
			"%s %.10g TFLOPS over %.10g GB/s are %.0f operations a byte, more than any dense "
			"tensor core (%.0f)",
			p->name, dense, bandwidth, dense * 1000 / bandwidth, p->ops_per_byte);
}

static void check_steps(struct checker *k)
{
	for (size_t i = 1; i < N_PRECISIONS - 1; i++) {
		const double half = catalog_num(k->e, PRECISIONS[i - 1].dense);
		const double v = catalog_num(k->e, PRECISIONS[i].dense);

		if (fabs(v / half / 2 - 1) > 0.1)
			check_find(k, "precisions", PRECISIONS[i].dense,
				check_assumed(k, PRECISIONS[i].dense) ||
					check_assumed(k, PRECISIONS[i - 1].dense),
				"%s %.10g is %.2f times %s %.10g, it should be twice",
				PRECISIONS[i].name, v, v / half, PRECISIONS[i - 1].name, half);
	}
}

static void check_tensor(struct checker *k)
{
	const double bf16 = catalog_num(k->e, "tflops_bf16_dense");
	const double watts = catalog_num(k->e, "power_default_w");

	if (bf16 / watts < BF16_PER_W)
		check_find(k, "no-tensor-core", "tflops_bf16_dense", false,
			"BF16 %.10g TFLOPS at %.10g W: that is the figure of the CUDA cores", bf16,
			watts);
}

/* Chips of GDDR are 32 bits wide, two may share a channel. */
static void check_memory(struct checker *k)
{
	const char *type = catalog_text(k->e, "memory_type");
	const double gb = catalog_num(k->e, "memory_gb"),
		     bus = catalog_num(k->e, "memory_bus_bits");
	const double full = catalog_num(k->e, "mig_full_profile_gb");
	const bool gddr7 = type && strncmp(type, "GDDR7", 5) == 0;
	const double chip = gddr7 ? 3 : 2, chips = bus / 32 * 2;

	if (type && strncmp(type, "GDDR", 4) == 0 && gb / chips > chip)
		check_find(k, "memory-bus", "memory_bus_bits", false,
			"%.10g GB on %.10g bits want chips of %.1f GB; %.4s%c has %.0f GB at most",
			gb, bus, gb / chips, type, type[4] ? type[4] : '6', chip);
	if (full > gb)
		check_find(k, "mig", "mig_full_profile_gb", check_assumed(k, "memory_gb"),
			"the full profile has %.10g GB of %.10g", full, gb);
}

static void check_links(struct checker *k)
{
	static const double most[] = {0, 160, 300, 600, 900, 1800};
	const unsigned version = catalog_count(k->e, "nvlink_version");
	const double total = catalog_num(k->e, "nvlink_total_gbs");

	if (version == 0 || version >= sizeof most / sizeof *most)
		return;
	if (total > most[version])
		check_find(k, "nvlink", "nvlink_total_gbs", false,
			"NVLink %u has %.0f GB/s at most, both directions", version, most[version]);
	else if (total * 2 == most[version] && !catalog_count(k->e, "nvlink_bridge_cards"))
		check_find(k, "nvlink", "nvlink_total_gbs", false,
			"%.0f GB/s is one direction of NVLink %u; here both count", total, version);
}

#define AV1_720P30_PER_ENGINE 60

static void check_video(struct checker *k)
{
	const double streams = catalog_num(k->e, "streams_av1_720p30");
	const double engines = catalog_num(k->e, "nvdec");

	if (streams / (engines > 0 ? engines : 1) > AV1_720P30_PER_ENGINE)
		check_find(k, "streams", "streams_av1_720p30", false,
			"%.0f streams on %.0f engines: a whole server's figure", streams, engines);
}

static void check_limits(struct checker *k)
{
	const double low = catalog_num(k->e, "power_min_w"),
		     high = catalog_num(k->e, "power_max_w");
	const double set = catalog_num(k->e, "power_default_w");

	if (low > set || set > high)
		check_find(k, "order", "power_default_w", false,
			"the default of %.10g W is not between %.10g and %.10g W", set, low, high);
}

void check_gpu(struct checker *k)
{
	for (size_t i = 0; i < N_PRECISIONS; i++)
		check_sparsity(k, &PRECISIONS[i]);
	check_steps(k);
	check_tensor(k);
	check_memory(k);
	check_links(k);
	check_video(k);
	check_limits(k);
}
