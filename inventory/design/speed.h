/*
 * speed - how fast a model answers: decode and prefill rooflines, offline throughput.
 *
 * Sizing book 1.9. Bands: throughput +-45 %, batch-1 decode +-30 %, TTFT without queue +-25 %.
 */
#pragma once

#include "inventory/design/llm.h"

struct speed {
	const struct llm *model;
	double params_active; /* per token */
	double weights;       /* bytes, all GPUs together */
	double kv_token;      /* bytes */
	double gpus, tp, pp;
	double memory, bandwidth; /* per GPU, bytes and B/s */
	double flops;             /* per GPU, dense, at the weights' rate */
	double busbw;             /* all-reduce of the TP group, B/s */
	bool interactive;         /* batch 1 with CUDA graphs, else offline constants */
	bool int4;                /* weight-only: interactive efficiency is lower */
};

/* Seconds of one decode step of batch sequences at a context. */
double speed_decode(const struct speed *s, double batch, double context);
/* Seconds of the prefill of one prompt, no queue. */
double speed_prefill(const struct speed *s, double tokens);
/* The offline batch that memory holds; below 1: does not fit. */
double speed_batch(const struct speed *s, double isl, double osl);
/* Output tokens/s of all GPUs at that batch. */
double speed_throughput(const struct speed *s, double batch, double isl, double osl);
/* The largest batch with a decode step under itl seconds, at most most. */
double speed_batch_for(const struct speed *s, double itl, double context, double most);
