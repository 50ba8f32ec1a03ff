/* speed - closed forms; the communication of TP is never left out. */
#include "inventory/design/speed.h"

#include "inventory/design/constant.h"

#include <math.h>

static double latency(const struct speed *s)
{
	if (!s->interactive)
		return constant(K_TP_LATENCY);
	return constant(K_TP_LATENCY_BASE) + constant(K_TP_LATENCY_RANK) * (s->tp - 1);
}

/* 2L(alpha + tokens*h*2*2(tp-1)/tp / busbw) */
static double tp_time(const struct speed *s, double tokens)
{
	if (s->tp <= 1)
		return 0;
	return 2 * s->model->layers *
	       (latency(s) + tokens * s->model->hidden * 2 * 2 * (s->tp - 1) / s->tp / s->busbw);
}

double speed_decode(const struct speed *s, double batch, double context)
{
	const double eta = s->interactive
				   ? constant(s->int4 ? K_ETA_INTERACTIVE_INT4 : K_ETA_INTERACTIVE)
				   : constant(K_ETA_BANDWIDTH);
	const double rate = s->gpus * s->bandwidth * eta;
	/* each stage reads its weights again for each of the pp batches under way */
	const double kv = batch * context * s->kv_token / rate;
	const double read = llm_step_bytes(s->model, s->weights, batch / s->pp) / (rate / s->pp);
	const double work =
		2 * s->params_active * batch / (s->gpus * s->flops * constant(K_ETA_COMPUTE));

	return fmax(read, work) + kv + tp_time(s, batch) +
	       (s->interactive ? 0 : s->model->layers * constant(K_LAYER_TIME));
}

double speed_prefill(const struct speed *s, double tokens)
{
	const double work = 2 * s->params_active * tokens +
			    2 * s->model->layers * s->model->hidden * tokens * tokens;

	return work / (s->gpus * s->flops * constant(K_ETA_PREFILL)) + tp_time(s, tokens);
}

double speed_batch(const struct speed *s, double isl, double osl)
{
	const double room =
		constant(K_FILL) * (s->gpus * (s->memory - constant(K_RESERVE)) - s->weights);

	return fmin(constant(K_MAX_BATCH) * s->pp, room / (s->kv_token * (isl + osl / 2)));
}

double speed_throughput(const struct speed *s, double batch, double isl, double osl)
{
	const double step = speed_decode(s, batch, isl + osl / 2);

	return osl / (speed_prefill(s, isl) + osl * step / batch) /
	       (1 + constant(K_PP_LOSS) * (s->pp - 1));
}

double speed_batch_for(const struct speed *s, double itl, double context, double most)
{
	double low = 0, high = fmax(most, 0);

	for (int i = 0; i < 60; i++) {
		const double mid = (low + high) / 2;

		*(speed_decode(s, mid, context) <= itl ? &low : &high) = mid;
	}
	return low;
}
