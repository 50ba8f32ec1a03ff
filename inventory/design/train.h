/*
 * train - memory and time of training: states, ZeRO, activations, fine-tuning, MFU, plans.
 */
#pragma once

#include "inventory/design/llm.h"

/* Bytes per GPU of stages 0 to 3, K bytes of optimiser a parameter. arXiv 1910.02054. */
int train_zero(double params, double dp, double optimiser, double stage[4], struct err *err);

/* One layer's activations in bytes, 16 bit, arXiv 2205.05198; tp ranks. */
struct activations {
	double seq, batch, hidden, heads, tp;
	bool sequence_parallel, selective, full; /* recompute */
};
double train_activation_layer(const struct activations *a);
/* Flash attention, RMSNorm, SwiGLU, no dropout: sizing book 1.4, our derivation. */
double train_activation_llama(const struct llm *m, double seq, double batch, double tp);
/* Layers that the first stage holds: L, times 1 + (p-1)/(p*v) when interleaved. */
double train_first_stage(double layers, double pp, double interleave);

enum tune {
	TUNE_FULL,   /* bytes per parameter of states: 16, 18 ... */
	TUNE_FROZEN, /* LoRA and its like over a base of bits */
};
struct tuning {
	enum tune kind;
	double state_bytes; /* full */
	double bits;        /* frozen */
	bool assumed;
};
/* "full bf16/fp16 AMP", "pure_bf16", "LoRA", "QLoRA 4-bit" ... */
int train_method(const char *text, struct tuning *out, struct err *err);
/* Bytes on all GPUs together, activations of one sequence with them. Sizing book 1.6, +-30 %. */
double train_tuning_bytes(
	const struct tuning *t, const struct llm *m, double params, double rank, double seq);
/* r*sum(in+out) over the seven linears. Sizing book 1.6. */
double train_lora_params(const struct llm *m, double rank);

/* FLOP of training one token: 6N (8N with full recompute) + 12*L*h*s of attention. Book 1.8. */
double train_flops_token(double params, double layers, double hidden, double seq, bool recompute);
/* Of one step, Megatron: 72*B*s*L*h^2(1 + s/6h + V/12Lh), 96 ... 16 with full recompute. */
double train_flops_step(const struct llm *m, double batch, double seq, bool recompute);
