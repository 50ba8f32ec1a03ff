/* constant - the table; FIT: on the 60 TensorRT-LLM rows of Llama-3.3-70B, GPT-FAST: batch-1 rows.
 */
#include "inventory/design/constant.h"

#include <math.h>
#include <string.h>

#define FIT     "fitted on the 60 TensorRT-LLM v1.0 rows of Llama-3.3-70B (mean error 12 %)"
#define GPTFAST "fitted on the gpt-fast rows, A100-80, batch 1"
#define BENCH   "llm-d-benchmark, empirical vLLM memory table, H100"
#define PLANNER "llm-d-planner, 57 runs over 34 architectures"
#define NCCL    "nccl-tests issues 175, 178, 212, 309"
#define MEGATRON \
	"fitted on arXiv 2104.04473 tables 1 and 2 (13 rows, error under 10 %) and Llama 3 table 4"

static const struct constant_row ROWS[K_COUNT] = {
	[K_VISIBLE_SHARE] = {"visible_share", "of the marketed GiB",
		"H100 79.18 of 80, H200 140.4 of 141, RTX PRO 6000 95.6 of 96", 0.99, false},
	[K_VLLM_UTILISATION] = {"vllm_utilisation", "of the card", "vLLM's default, 0.9 to 0.95",
		0.9, false},
	[K_TRTLLM_FREE_FRACTION] = {"trtllm_free_fraction", "of what is free",
		"TensorRT-LLM free_gpu_memory_fraction", 0.9, false},
	[K_SGLANG_STATIC_FRACTION] = {"sglang_static_fraction", "of the card",
		"SGLang mem_fraction_static, depends on the card", 0.88, true},
	[K_ACTIVATION_OLD] = {"activation_old", "B/GPU", BENCH, 4.84 * GIB, false},
	[K_ACTIVATION_NEW] = {"activation_new", "B/GPU", PLANNER ", vLLM 0.17 on", 2.23 * GIB,
		false},
	[K_NON_TORCH_ONE] = {"non_torch_one", "B/GPU", PLANNER, 0.25 * GIB, false},
	[K_NON_TORCH_MANY] = {"non_torch_many", "B/GPU", PLANNER, 2.1 * GIB, false},
	[K_MARGIN] = {"margin", "B/GPU", "safety margin of the sizing book", 2 * GIB, false},
	[K_BLOCK_TOKENS] = {"block_tokens", "tokens", "arXiv 2309.06180", 16, false},
	[K_ETA_BANDWIDTH] = {"eta_bandwidth", "of peak", FIT, 0.60, false},
	[K_ETA_COMPUTE] = {"eta_compute", "of dense peak", FIT, 0.40, false},
	[K_ETA_PREFILL] = {"eta_prefill", "of dense peak", FIT, 0.60, false},
	[K_LAYER_TIME] = {"layer_time", "s/layer", FIT, 80e-6, false},
	[K_TP_LATENCY] = {"tp_latency", "s/all-reduce", FIT, 12e-6, false},
	[K_RESERVE] = {"reserve", "B/GPU", FIT, 3 * GB, false},
	[K_MAX_BATCH] = {"max_batch", "sequences", FIT, 2048, false},
	[K_FILL] = {"fill", "of the KV memory", FIT, 0.9, false},
	[K_PP_LOSS] = {"pp_loss", "of the throughput, per stage",
		"fitted on the PP4 and PP8 rows of RTX PRO 6000, TensorRT-LLM v1.0", 0.07, false},
	[K_ETA_INTERACTIVE] = {"eta_interactive", "of peak", GPTFAST, 0.68, false},
	[K_ETA_INTERACTIVE_INT4] = {"eta_interactive_int4", "of peak", GPTFAST ", int4", 0.50,
		false},
	[K_TP_LATENCY_BASE] = {"tp_latency_base", "s/all-reduce", GPTFAST, 7e-6, false},
	[K_TP_LATENCY_RANK] = {"tp_latency_rank", "s/all-reduce/rank", GPTFAST, 3.2e-6, false},
	[K_BUS_NVLINK_SHARE] = {"bus_nvlink_share", "of one direction", NCCL ": A100 232 of 300",
		0.775, false},
	[K_BUS_PCIE_SHARE] = {"bus_pcie_share", "of one direction",
		"about 20-25 GB/s of 64 between bridges", 0.4, true},
	[K_BUS_NVLS_SHARE] = {"bus_nvls_share", "of one direction", NCCL ": H100 480 of 450", 1.065,
		false},
	[K_BUS_NIC_SHARE] = {"bus_nic_share", "of the port", NCCL ": 46-48 of 50", 0.92, false},
	[K_ETA_TRAIN] = {"eta_train", "of dense peak", MEGATRON, 0.56, false},
	[K_TRAIN_HIDDEN_HALF] = {"train_hidden_half", "hidden", MEGATRON, 400, false},
	[K_CONTEXT_COST] = {"context_cost", "of the step", "Llama 3 table 4, one row, recalled",
		0.08, true},
	[K_MFU_MOE_FP8] = {"mfu_moe_fp8", "of dense bf16 peak", "arXiv 2412.19437: 343 TF/s of 989",
		0.347, false},
	[K_ZERO3_NIC_RATE] = {"zero3_nic_rate", "B/s/GPU",
		"fitted on arXiv 2104.04473 table 2, one HDR port a GPU", 16.1e9, false},
	[K_BATCH_TOKENS] = {"batch_tokens", "tokens/step", "1,536 x 2,048, GPT-3's class", 3145728,
		true},
	[K_STATE_SHARE] = {"state_share", "of the card",
		"sizing book 1.11 rule 6: 50 GB of an 80 GB card", 0.625, false},
	[K_BUBBLE_MOST] = {"bubble_most", "of the step", "sizing book 1.11 rule 3", 0.2, false},
	[K_DP_OVERLAP] = {"dp_overlap", "of the backward pass", "sizing book 1.10", 0.7, true},
	[K_LORA_SHARE] = {"lora_share", "of the parameters", "rank 16 on all seven linears of 70B",
		0.0029, false},
	[K_FINETUNE_WORKSPACE] = {"finetune_workspace", "B", "dequantisation and fragmentation",
		1 * GB, true},
	[K_FINETUNE_SEQ] = {"finetune_seq", "tokens", "sequence of a usual fine-tune", 2048, true},
	[K_ASPECT] = {"aspect", "hidden per layer", "GPT-3: 12288 / 96", 128, true},
	[K_VOCABULARY] = {"vocabulary", "tokens", "Llama 2's, where none is told", 32000, true},
	[K_DECODE_DERATE] = {"decode_derate", "of the engine", "sizing book 4.1, 0.5 to 1", 0.7,
		true},
	[K_SURFACE_BYTES] = {"surface_bytes", "B", "1080p NV12", 1920 * 1088 * 1.5, false},
	[K_SURFACES] = {"surfaces", "per stream", "8 to 20", 16, true},
	[K_ETA_VISION_ONE] = {"eta_vision_one", "of dense peak", "YOLOv8m on T4, batch 1", 0.20,
		false},
	[K_ETA_VISION_BATCH] = {"eta_vision_batch", "of dense peak", "sizing book 4.2", 0.33, true},
	[K_VISION_INT8_GAIN] = {"vision_int8_gain", "times fp16", "sizing book 4.2", 1.7, true},
};

static double replaced[K_COUNT];
static bool is_replaced[K_COUNT];

const struct constant_row *constant_row(enum constant k)
{
	return &ROWS[k];
}

double constant(enum constant k)
{
	return is_replaced[k] ? replaced[k] : ROWS[k].value;
}

int constant_set(const char *name, double value, struct err *err)
{
	const char *names[K_COUNT + 1] = {NULL};
	const char *near;

	for (int i = 0; i < K_COUNT; i++) {
		names[i] = ROWS[i].name;
		if (strcmp(name, ROWS[i].name) != 0)
			continue;
		if (!isfinite(value) || value <= 0)
			return err_set(err, E_SCHEMA, "constant '%s' must be above 0", name);
		replaced[i] = value;
		is_replaced[i] = true;
		return 0;
	}
	near = err_nearest(name, names);
	(void)err_set(err, E_NOTFOUND, "there is no constant '%.64s'", name);
	return near ? err_hint(err, "did you mean '%s'?", near) : -E_NOTFOUND;
}

void constant_reset(void)
{
	memset(is_replaced, 0, sizeof is_replaced);
}
