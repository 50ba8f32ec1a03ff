/*
 * pace - how long training takes, and how a model is laid over GPUs.
 */
#pragma once

#include "inventory/design/card.h"
#include "inventory/design/llm.h"

struct layout {
	double tp, cp, pp, dp;
	double interleave; /* chunks of a stage; 0: chosen so that the bubble stays small */
	double microbatches;
	double bubble; /* of the step */
};

/*
 * Closed rule (sizing book 1.11 rule 6): the smallest TP of 1 2 4 8 whose states of state_bytes a
 * parameter fit the card's share, then the smallest divisor of the layers as PP; the rest is DP.
 */
int pace_layout(const struct llm *m, double params, double state_bytes, const struct card *c,
	double gpus, double per_node, struct layout *out, struct err *err);
/* TP*CP*PP*DP = GPUs; E_CONFLICT "product 8192 != 16384". */
int pace_check(const struct layout *l, double gpus, struct err *err);
/* Fills microbatches, interleave and bubble for a batch of sequences, one sequence at a time. */
void pace_bubble(struct layout *l, double layers, double batch, bool interleaved);
/* FLOP/s of a GPU reached, by hidden size, TP traffic, bubble and CP. +-15 %. */
double pace_flops(const struct llm *m, const struct layout *l, const struct card *c);
/*
 * FLOP/s of a GPU with ZeRO-3 and no model parallelism: compute against 3 x 2P bytes a step over
 * one network port a GPU, joined by their fourth powers. +-15 %.
 */
double pace_zero3(const struct llm *m, double params, double gpus, double batch_tokens,
	bool recompute, const struct card *c);
