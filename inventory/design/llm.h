/*
 * llm - the architecture of a language model, and what it weighs.
 *
 * Figures of the model itself, no hardware. Zero means absent (no experts, no window), NaN is
 * used nowhere. llm_check comes before any estimate: it refuses what no model can be.
 */
#pragma once

#include "inventory/design/precision.h"

#include <stdbool.h>
#include <stddef.h>

enum attention {
	ATTENTION_FULL, /* MHA, GQA and MQA differ by kv_heads only */
	ATTENTION_MLA,
	ATTENTION_HYBRID, /* some layers full, some windowed, some with a state of fixed size */
};

struct llm {
	char name[64];
	double layers, hidden, heads, kv_heads, head_dim, ffn, vocab, positions;
	bool plain_mlp; /* two matrices (GPT), not gate, up and down */
	bool tied;      /* head = embeddings */
	bool qkv_bias;
	/* experts of a layer: all, chosen per token, always on; width of one; leading dense layers
	 */
	double experts, experts_active, experts_shared, expert_ffn, dense_layers;
	enum attention attention;
	double kv_lora, q_lora, rope_dim, nope_dim, v_dim;                     /* MLA */
	double window, full_layers, window_layers, linear_layers, state_bytes; /* hybrid */
	double context;               /* the most tokens it was made for; 0: unknown */
	double stated, stated_active; /* the vendor's parameter counts; 0: none */
};

/* The figures of a model by the names that files give them; ends with a NULL key. */
struct llm_field {
	const char *key;
	size_t at; /* of a double in struct llm */
};
extern const struct llm_field LLM_FIELDS[];
double *llm_field(struct llm *m, const struct llm_field *f);

/* Parameters by class of tensor. */
struct llm_parts {
	double embeddings, head, norms, attention, mlp, experts, router;
	double total, active;
};

/* Heads, layers, widths above 0 and consistent; head_dim and kv_heads are filled in if 0. */
int llm_check(struct llm *m, struct err *err);
/* Layers and hidden of a usual dense model of that size (hidden = K_ASPECT x layers). */
void llm_shape(double params, struct llm *out);
/* Sizing book 1.1 (Llama, GPT, MLA and experts): parameters, by class. */
void llm_parts(const struct llm *m, struct llm_parts *out);
/* Megatron's closed form, arXiv 2104.04473: parameters of a GPT of L, h, V and s positions. */
double llm_gpt_params(double layers, double hidden, double vocab, double seq);

enum tensor_class {
	TENSOR_EMBEDDINGS = 1,
	TENSOR_HEAD = 2,
	TENSOR_ATTENTION = 4,
	TENSOR_MLP = 8,
	TENSOR_ROUTER = 16,
	TENSOR_EXPERTS = 32,
};
#define TENSOR_USUAL (TENSOR_EMBEDDINGS | TENSOR_HEAD | TENSOR_ROUTER)

/* Bytes of the weights; classes of the mask and norms stay in 16 bits. Sizing book 1.1. */
double llm_weight_bytes(const struct llm *m, const struct precision *p, unsigned unquantised);
/* Bytes a decode step reads of them with that many sequences: experts touched only. Book 1.7. */
double llm_step_bytes(const struct llm *m, double weight_bytes, double batch);
/* E(1 - (1 - k/E)^B): experts of a layer that a batch touches. Sizing book 1.7. */
double llm_experts_touched(double experts, double active, double batch);

/* KV cache of one sequence, bytes, at a context; per value bytes (2: 16 bit). Sizing book 1.2. */
double llm_kv_bytes(const struct llm *m, double context, double value_bytes);
/* Growth per token while every layer still grows: 2*L*nkv*hd*bytes, MLA L(kv_lora+rope)*bytes. */
double llm_kv_token(const struct llm *m, double value_bytes);
/* By how much TP divides it: min(tp, kv_heads); 1 for MLA, whose latent every rank keeps. */
double llm_kv_split(const struct llm *m, double tp);
