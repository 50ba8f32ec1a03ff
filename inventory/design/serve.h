/*
 * serve - memory of an inference server: what is left for the KV cache, and whom it holds.
 */
#pragma once

#include "agent/base/err.h"

enum engine {
	ENGINE_VLLM,
	ENGINE_TRTLLM,
	ENGINE_SGLANG,
};

struct budget {
	enum engine engine;
	double card_bytes; /* as the driver shows it */
	double share;      /* the engine's fraction; 0: its default */
	double weights;    /* bytes per GPU */
	double activation; /* bytes per GPU; negative: by the engine's version */
	double non_torch;  /* the same */
	double tp;         /* ranks, 1 and more */
	double version;    /* 0.17 as 17; 0: the newest known */
};

/* "vllm", "trt-llm", "sglang" ... */
int engine_find(const char *name, enum engine *out, struct err *err);
/* Bytes per GPU for KV, negative when it does not start. Sizing book 1.3, +-2 GiB. */
int serve_budget(const struct budget *b, double *kv, struct err *err);
/* Whole sequences of ctx tokens: blocks of block tokens are given out whole. Sizing book 1.3. */
double serve_sequences(double kv_bytes, double per_token, double context, double block);
/* Little: rps(ttft + osl*itl), sequences at once. */
double serve_concurrency(double rps, double ttft_s, double osl, double itl_s);
