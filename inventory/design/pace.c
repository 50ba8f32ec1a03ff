/* pace - one model of efficiency for all layouts, fitted on Megatron's and Llama 3's tables. */
#include "inventory/design/pace.h"

#include "inventory/design/constant.h"
#include "inventory/design/need.h"

#include <math.h>

int pace_check(const struct layout *l, double gpus, struct err *err)
{
	const double product = l->tp * l->cp * l->pp * l->dp;

	if (product == gpus)
		return 0;
	return err_set(err, E_CONFLICT, "product %.0f != %.0f", product, gpus);
}

int pace_layout(const struct llm *m, double params, double state_bytes, const struct card *c,
	double gpus, double per_node, struct layout *out, struct err *err)
{
	const double cap = c->memory * constant(K_STATE_SHARE);
	const double most = fmin(8, fmin(per_node, gpus));

	*out = (struct layout){.tp = 1, .cp = 1, .pp = 1};
	while (out->tp * 2 <= most && state_bytes * params / out->tp > cap)
		out->tp *= 2;
	while (out->pp < m->layers && state_bytes * params / (out->tp * out->pp) > cap)
		do
			out->pp++;
		while (fmod(m->layers, out->pp) != 0);
	if (state_bytes * params / (out->tp * out->pp) > cap || out->tp * out->pp > gpus)
		return err_set(err, E_CONFLICT,
			"the states do not fit %.0f GPUs: TP %.0f x PP %.0f", gpus, out->tp,
			out->pp);
	out->dp = floor(gpus / (out->tp * out->pp));
	return pace_check(out, gpus, err);
}

void pace_bubble(struct layout *l, double layers, double batch, bool interleaved)
{
	const double m = fmax(1, ceil(batch / l->dp));

	l->microbatches = m;
	if (l->interleave == 0 && interleaved)
		l->interleave = fmin(
			fmax(1, floor(layers / l->pp)), ceil(l->pp / constant(K_BUBBLE_MOST) / m));
	l->interleave = fmax(1, l->interleave);
	l->bubble = (l->pp - 1) / (m * l->interleave);
}

double pace_flops(const struct llm *m, const struct layout *l, const struct card *c)
{
	const double eta =
		constant(K_ETA_TRAIN) * m->hidden / (m->hidden + constant(K_TRAIN_HIDDEN_HALF));
	const double peak = c->flops[RATE_BF16];
	/* 4 all-reduces of bsh x 2 B against 72 bsh^2/t operations */
	const double traffic = 16.0 / 72 * (l->tp - 1) * constant(K_ETA_TRAIN) * peak /
			       (card_busbw(c, l->tp) * m->hidden);

	return peak * eta / (1 + traffic) / (1 + l->bubble) /
	       (1 + (l->cp > 1 ? constant(K_CONTEXT_COST) : 0));
}

double pace_zero3(const struct llm *m, double params, double gpus, double batch_tokens,
	bool recompute, const struct card *c)
{
	const struct layout alone = {.tp = 1, .cp = 1, .pp = 1};
	const double work = (recompute ? 8 : 6) * params * batch_tokens / gpus;
	const double compute = work / pace_flops(m, &alone, c);
	const double network = 3 * 2 * params / constant(K_ZERO3_NIC_RATE);

	return work / pow(pow(compute, 4) + pow(network, 4), 0.25);
}
