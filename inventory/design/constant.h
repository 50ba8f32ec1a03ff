/*
 * constant - every fitted or assumed number of the designer, in one table.
 *
 * A constant has a unit, a source and a band; "assumed" is what was recalled or fitted on few
 * rows and wants confirming before it decides a purchase. A site's own measurement replaces one
 * by name (constant_set), which is how a calibration file comes in.
 */
#pragma once

#include "agent/base/err.h"

#define KB  1e3
#define MB  1e6
#define GB  1e9
#define TB  1e12
#define KIB 1024.0
#define MIB (1024.0 * 1024)
#define GIB (1024.0 * 1024 * 1024)
#define TIB (1024.0 * GIB)

enum constant {
	/* memory of serving */
	K_VISIBLE_SHARE,
	K_VLLM_UTILISATION,
	K_TRTLLM_FREE_FRACTION,
	K_SGLANG_STATIC_FRACTION,
	K_ACTIVATION_OLD,
	K_ACTIVATION_NEW,
	K_NON_TORCH_ONE,
	K_NON_TORCH_MANY,
	K_MARGIN,
	K_BLOCK_TOKENS,
	/* speed of inference */
	K_ETA_BANDWIDTH,
	K_ETA_COMPUTE,
	K_ETA_PREFILL,
	K_LAYER_TIME,
	K_TP_LATENCY,
	K_RESERVE,
	K_MAX_BATCH,
	K_FILL,
	K_PP_LOSS,
	K_ETA_INTERACTIVE,
	K_ETA_INTERACTIVE_INT4,
	K_TP_LATENCY_BASE,
	K_TP_LATENCY_RANK,
	/* rates of all-reduce */
	K_BUS_NVLINK_SHARE,
	K_BUS_PCIE_SHARE,
	K_BUS_NVLS_SHARE,
	K_BUS_NIC_SHARE,
	/* training */
	K_ETA_TRAIN,
	K_TRAIN_HIDDEN_HALF,
	K_CONTEXT_COST,
	K_MFU_MOE_FP8,
	K_ZERO3_NIC_RATE,
	K_BATCH_TOKENS,
	K_STATE_SHARE,
	K_BUBBLE_MOST,
	K_DP_OVERLAP,
	K_LORA_SHARE,
	K_FINETUNE_WORKSPACE,
	K_FINETUNE_SEQ,
	K_ASPECT,
	K_VOCABULARY,
	/* vision */
	K_DECODE_DERATE,
	K_SURFACE_BYTES,
	K_SURFACES,
	K_ETA_VISION_ONE,
	K_ETA_VISION_BATCH,
	K_VISION_INT8_GAIN,
	K_COUNT,
};

struct constant_row {
	const char *name, *unit, *source;
	double value;
	bool assumed;
};

const struct constant_row *constant_row(enum constant k);
double constant(enum constant k);
/* Replaces the table's value for this process; E_NOTFOUND names the nearest. */
int constant_set(const char *name, double value, struct err *err);
void constant_reset(void);
