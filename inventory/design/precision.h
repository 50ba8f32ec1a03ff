/*
 * precision - number formats of weights and KV caches: bits each value really takes.
 *
 * bits counts the scales and zero points of a group. compute is the tensor-core rate the
 * format runs at: weight-only formats calculate in 16 bits whatever they store.
 */
#pragma once

#include "agent/base/err.h"

enum rate {
	RATE_BF16,
	RATE_FP8,
	RATE_FP4,
	RATE_TF32,
};

struct precision {
	const char *name;
	double bits; /* per value of a linear layer, scales counted */
	enum rate rate;
	bool whole; /* embeddings and head are quantised too (GGUF) */
	bool assumed;
};

/* By name or alias, any case ("fp8-dynamic", "AWQ", "Q4_K_M"). E_NOTFOUND lists the known ones. */
int precision_find(const char *name, struct precision *out, struct err *err);
/* bits + scale/group + zero/group: a quantised format with stated groups. */
int precision_grouped(double bits, double group, double scale_bits, double zero_bits,
	struct precision *out, struct err *err);
