/* lint - a rule is a function of the facts; it adds findings and nothing else. */
#include "inventory/design/lint.h"

#include "inventory/design/fabric.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define VRAM_SHARE   0.92
#define STATES_BYTES 16.0

struct judge {
	const struct lint_facts *f;
	struct arena *a;
	struct lint_findings *out;
};

struct lint_facts lint_blank(void)
{
	return (struct lint_facts){.gpus = NAN,
		.nodes = NAN,
		.nvlink_domain = NAN,
		.nics_per_node = NAN,
		.params = NAN,
		.bytes_per_param = NAN,
		.vram_gb = NAN,
		.activations_gb = 0,
		.kv_gib = NAN,
		.kv_budget_gib = NAN,
		.tp = NAN,
		.pp = NAN,
		.dp = NAN,
		.cp = NAN,
		.heads = NAN,
		.layers = NAN,
		.exposed_share = NAN,
		.endpoints = NAN,
		.radix = NAN,
		.tiers = NAN,
		.oversubscription = NAN,
		.write_gbs = NAN,
		.read_gibs = NAN,
		.write_s = NAN,
		.interval_s = NAN,
		.loss = NAN,
		.group_disks = NAN,
		.spares = NAN,
		.usable_tb = NAN,
		.archive_tb = NAN,
		.nfs_servers = NAN,
		.vision_gpus = NAN,
		.cameras = NAN,
		.stream_fps = NAN,
		.decode_fps = NAN,
		.decode_capacity = NAN,
		.users = NAN,
		.node_kw = NAN,
		.nodes_per_rack = NAN,
		.rack_kw = NAN,
		.rack_limit_kw = NAN,
		.gpu_tdp_w = NAN,
		.psus = NAN,
		.psu_kw = NAN,
		.psus_lost = NAN,
		.loss_claim = NAN,
		.capex = NAN,
		.utilisation = NAN,
		.years = NAN,
		.link_both_ways_gbs = NAN,
		.nic_one_way_gbs = NAN,
		.tflops = NAN,
		.tflops_dense = NAN};
}

static void found(const struct judge *j, const char *id, enum lint_level level, const char *source,
	const char *reason, double value, double limit, const char *unit)
{
	*vec_push(j->out) = (struct lint_finding){.id = id,
		.level = level,
		.subject = j->f->name ? j->f->name : "",
		.reason = reason,
		.source = source,
		.value = value,
		.limit = limit,
		.unit = unit};
}

static bool says(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

/* Cards without NVLink, from their datasheets; the catalogue says the same. */
static const char *card_without_nvlink(const char *gpu)
{
	static const char *const none[] = {"L40S", "L40", "L4", "T4", "A10", "A16", "A2 ",
		"RTX PRO 6000", "RTX 6000 Ada", NULL};

	for (unsigned i = 0; gpu && none[i]; i++)
		if (strcasestr(gpu, none[i]) && !strcasestr(gpu, "A100"))
			return none[i];
	return NULL;
}

static void rule_links(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const char *card = card_without_nvlink(f->gpu);

	if (card && (says(f->link, "nvlink") || says(f->link, "nvswitch")))
		found(j, "NET-04", LINT_ERROR, "NVIDIA datasheet; sizing 0, verdict 20",
			arena_printf(j->a, "%s has no NVLink", card), NAN, NAN, NULL);
	if (says(f->gpu, "H200 PCIe"))
		found(j, "NET-04", LINT_ERROR, "NVIDIA; sizing 0, verdict 21",
			"there is no H200 PCIe; the PCIe card is H200 NVL", NAN, NAN, NULL);
	if (f->nvlink_domain > 8 && !says(f->link, "NVL72") && !says(f->gpu, "GB") &&
		says(f->gpu, "H"))
		found(j, "PAR-02", LINT_WARN, "sizing 0, verdict 22",
			"NVLink does not leave an HGX node", f->nvlink_domain, 8, "GPUs");
	if (f->nic_path && (says(f->nic_path, "SYS") || says(f->nic_path, "PHB")))
		found(j, "NET-02", LINT_WARN, "sizing 2.4; NCCL path classes",
			"a GPU reaches its NIC through the CPU", NAN, NAN, NULL);
	if (f->pretraining && f->nodes >= 2 && f->nics_per_node < f->gpus)
		found(j, "NET-02", LINT_WARN, "sizing 2.4", "fewer NICs than GPUs in a node",
			f->nics_per_node, f->gpus, "NICs");
	/* beyond the NVLink domain it is PAR-02's */
	if (f->exposed_share >= 0.15 && !(f->tp > f->nvlink_domain))
		found(j, "NET-01", f->exposed_share >= 0.5 ? LINT_ERROR : LINT_WARN,
			"sizing 0, verdict 14", "the step waits for all-reduce",
			100 * f->exposed_share, 15, "%");
}

double lint_states_gb(const struct lint_facts *f)
{
	const double each = isnan(f->bytes_per_param) ? STATES_BYTES : f->bytes_per_param;

	return f->params * each / 1e9;
}

static void rule_memory(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const double states = lint_states_gb(f) + f->activations_gb;

	if (says(f->method, "full") && states > VRAM_SHARE * f->vram_gb)
		found(j, "MEM-01", LINT_ERROR, "ZeRO, arXiv 1910.02054, K=12; sizing 1.5",
			arena_printf(j->a,
				"states of %.0f GB do not hold in %.0f GB, of which %.0f %% may be "
				"used",
				states, f->vram_gb, 100 * VRAM_SHARE),
			states, VRAM_SHARE * f->vram_gb, "GB");
	if (f->kv_gib > f->kv_budget_gib)
		found(j, "MEM-02", LINT_ERROR, "sizing 1.3",
			"the KV cache of so many sequences does not hold", f->kv_gib,
			f->kv_budget_gib, "GiB");
}

static double or_one(double v)
{
	return isnan(v) ? 1 : v;
}

static void rule_parallel(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const double product = or_one(f->tp) * or_one(f->cp) * or_one(f->pp) * or_one(f->dp);

	if (!isnan(f->dp) && !isnan(f->tp) && f->gpus != product && !isnan(f->gpus))
		found(j, "PAR-01", LINT_ERROR, "sizing 1.11, rule 1",
			arena_printf(j->a, "product %.0f != %.0f", product, f->gpus), product,
			f->gpus, "GPUs");
	if (!isnan(f->heads) && f->tp >= 1 && fmod(f->heads, f->tp) != 0)
		found(j, "PAR-01", LINT_ERROR, "sizing 1.11, rule 3",
			"tensor parallelism does not divide the heads", f->heads, f->tp, "heads");
	if (!isnan(f->layers) && f->pp >= 1 && fmod(f->layers, f->pp) != 0)
		found(j, "PAR-01", LINT_ERROR, "sizing 1.11, rule 3",
			"pipeline stages do not divide the layers", f->layers, f->pp, "layers");
	if (f->tp > f->nvlink_domain)
		found(j, "PAR-02", f->exposed_share >= 0.5 ? LINT_ERROR : LINT_WARN,
			"Narayanan et al. 2021, arXiv 2104.04473, takeaway 1",
			f->nodes > 1 ? "TP spans nodes" : "TP leaves the NVLink domain", f->tp,
			f->nvlink_domain, "GPUs");
}

static void rule_fabric(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const double r = or_one(f->oversubscription);
	double most;

	if (f->pretraining && r > 1)
		found(j, "NET-03", LINT_WARN, "sizing 2.1",
			"the fabric of a pre-training is oversubscribed", r, 1, ":1");
	if (isnan(f->radix) || isnan(f->tiers) || isnan(f->endpoints) || f->radix < 2 || r < 1)
		return;
	most = (double)fabric_most((unsigned)f->radix, (unsigned)f->tiers, r);
	if (f->endpoints > most)
		found(j, "NET-03", LINT_ERROR, "sizing 2.1, k^2/2",
			arena_printf(j->a,
				"%.0f endpoints are more than %.0f tiers of %.0f ports hold",
				f->endpoints, f->tiers, f->radix),
			f->endpoints, most, "endpoints");
}

static void rule_storage(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const char *source = "sizing 3.3; Young 1974, Daly 2006";

	if (f->target && (f->write_unknown || (says(f->target, "NFS") && isnan(f->write_gbs) &&
						      isnan(f->write_s))))
		found(j, "STO-01", LINT_ASK, "sizing 0, verdict 13",
			"judge by measured write bandwidth, not by the letters NFS", NAN, NAN,
			NULL);
	if (f->loss > 0.03)
		found(j, "STO-01", LINT_WARN, source, "checkpoints and failures cost too much time",
			100 * f->loss, 3, "%");
	if (f->write_s > 300)
		found(j, "STO-01", LINT_WARN, source, "a checkpoint takes too long to write",
			f->write_s, 300, "s");
	else if (f->write_s > 0.1 * f->interval_s)
		found(j, "STO-01", LINT_WARN, source, "checkpoints fill their interval", f->write_s,
			0.1 * f->interval_s, "s");
	if (f->nfs_servers == 1 && f->vision_gpus > 16)
		found(j, "STO-02", LINT_WARN, "sizing 3.4", "one NFS server feeds the training",
			f->vision_gpus, 16, "GPUs");
	if (f->group_disks > 14)
		found(j, "STO-03", LINT_WARN, "sizing 3.6", "a RAID group of disks is too wide",
			f->group_disks, 14, "disks");
	if (f->spares == 0)
		found(j, "STO-03", LINT_WARN, "sizing 3.6", "no spare disk", 0, 1, "disks");
	if (f->usable_tb < 1.2 * f->archive_tb)
		found(j, "STO-03", LINT_WARN, "sizing 3.5",
			"less than the archive with a fifth more", f->usable_tb,
			1.2 * f->archive_tb, "TB");
}

static void rule_vision(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const double needed = f->cameras * f->stream_fps;

	if (f->decode_fps < needed)
		found(j, "CV-01", LINT_ERROR, "sizing 0, verdict 8",
			"video is decoded at the stream's rate, not at the analytics'",
			f->decode_fps, needed, "fps");
	if (needed > f->decode_capacity)
		found(j, "CV-02", LINT_ERROR, "NVDEC Application Note, SDK 13.0; sizing 4.1",
			"the decoders do not keep up", needed, f->decode_capacity, "fps");
}

static void rule_operations(const struct judge *j)
{
	const struct lint_facts *f = j->f;

	if (!f->operated)
		return;
	if ((!f->scheduler || says(f->scheduler, "none")) && (f->users > 1 || f->nodes > 1))
		found(j, "OPS-01", LINT_WARN, "sizing 7",
			"no scheduler for more than one user or node",
			fmax(or_one(f->users), or_one(f->nodes)), 1, "users or nodes");
	if (!f->monitored)
		found(j, "OPS-02", LINT_WARN, "sizing 7; DCGM profiling guide",
			"utilisation is not watched", NAN, NAN, NULL);
	if (says(f->alert_metric, "GPU_UTIL"))
		found(j, "OPS-02", LINT_WARN, "sizing 0, verdict 17; DCGM profiling guide",
			"GPU_UTIL says only that a kernel was there; SM_ACTIVE or DRAM_ACTIVE by class",
			NAN, NAN, NULL);
}

static void rule_heat(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const double rack = isnan(f->rack_kw) ? f->node_kw * f->nodes_per_rack : f->rack_kw;
	const double left = (f->psus - f->psus_lost) * f->psu_kw;

	if (rack > f->rack_limit_kw)
		found(j, "THM-01", LINT_ERROR, "sizing 7; the site",
			"the rack takes more than it may", rack, f->rack_limit_kw, "kW");
	if (f->air && rack > 40)
		found(j, "THM-01", LINT_WARN, "sizing 7; H100 RA-11333: a rack over 40 kW",
			"air does not cool so much in a rack", rack, 40, "kW");
	if (f->node_kw > 0 && f->node_kw < 1.05 * f->gpus * f->gpu_tdp_w / 1000)
		found(j, "THM-02", LINT_WARN, "DGX user guides: 1.28 to 1.79 kW a GPU; verdict 18",
			"a node is more than its GPUs", f->node_kw,
			1.8 * f->gpus * f->gpu_tdp_w / 1000, "kW");
	if (left < f->node_kw)
		found(j, "PWR-01", LINT_ERROR, "sizing 7; DGX B200: 5+1 of 3.3 kW",
			"the PSUs that are left do not carry the node", left, f->node_kw, "kW");
}

static void rule_words(const struct judge *j)
{
	const struct lint_facts *f = j->f;
	const double idle = f->capex / f->years * (1 - f->utilisation);
	const double ratio = f->link_both_ways_gbs / f->nic_one_way_gbs;

	if (f->loss_claim > 1.1 * idle || f->loss_claim < 0.9 * idle)
		found(j, "TCO-01", LINT_WARN, "sizing 0, verdict 16",
			"not what straight-line depreciation leaves idle", f->loss_claim, idle,
			"a year");
	if (!isnan(ratio))
		found(j, "DIR-01", LINT_WARN, "sizing 0, verdict 11",
			"both directions of a link against one of the other", ratio, ratio / 2,
			":1");
	if (f->tflops > 1.5 * f->tflops_dense)
		found(j, "UNIT-01", LINT_WARN, "sizing, units",
			"sparse TFLOPS where dense ones count", f->tflops, f->tflops_dense,
			"TFLOPS");
}

void lint_check(const struct lint_facts *f, struct arena *a, struct lint_findings *out)
{
	static void (*const rules[])(const struct judge *) = {rule_memory, rule_parallel,
		rule_links, rule_fabric, rule_storage, rule_vision, rule_operations, rule_heat,
		rule_words};
	const struct judge j = {f, a, out};

	for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++)
		rules[i](&j);
}

const char *lint_level_name(enum lint_level level)
{
	static const char *const names[] = {"ask", "warn", "error"};

	return names[level];
}

const char *lint_verdict(const struct lint_findings *all)
{
	static const char *const verdicts[] = {"ask", "warn", "reject"};
	int worst = -1;

	vec_each(all, const struct lint_finding, f)
		worst = (int)f->level > worst ? (int)f->level : worst;
	return worst < 0 ? "accept" : verdicts[worst];
}
