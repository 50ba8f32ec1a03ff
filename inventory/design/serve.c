/* serve - the three engines' identities. */
#include "inventory/design/serve.h"

#include "inventory/design/constant.h"
#include "inventory/design/need.h"

#include <math.h>
#include <string.h>

#define VERSION_LEAN 17 /* of vLLM 0.x: activations cut by about 60 % */

int engine_find(const char *name, enum engine *out, struct err *err)
{
	static const struct {
		const char *name;
		enum engine engine;
	} known[] = {{"vllm", ENGINE_VLLM}, {"trtllm", ENGINE_TRTLLM}, {"trt-llm", ENGINE_TRTLLM},
		{"tensorrt-llm", ENGINE_TRTLLM}, {"TensorRT-LLM", ENGINE_TRTLLM},
		{"vLLM", ENGINE_VLLM}, {"sglang", ENGINE_SGLANG}, {"SGLang", ENGINE_SGLANG}};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		*out = known[i].engine;
		return 0;
	}
	(void)err_set(err, E_NOTFOUND, "there is no engine '%.40s'", name);
	return err_hint(err, "known: vllm, trt-llm, sglang");
}

static double activation_of(const struct budget *b)
{
	if (b->activation >= 0)
		return b->activation;
	return constant(b->engine == ENGINE_VLLM && b->version > 0 && b->version < VERSION_LEAN
				? K_ACTIVATION_OLD
				: K_ACTIVATION_NEW);
}

int serve_budget(const struct budget *b, double *kv, struct err *err)
{
	static const enum constant share_of[] = {[ENGINE_VLLM] = K_VLLM_UTILISATION,
		[ENGINE_TRTLLM] = K_TRTLLM_FREE_FRACTION,
		[ENGINE_SGLANG] = K_SGLANG_STATIC_FRACTION};
	const double share = b->share == 0 ? constant(share_of[b->engine]) : b->share;
	const double act = activation_of(b);
	const double other = b->non_torch >= 0
				     ? b->non_torch
				     : constant(b->tp > 1 ? K_NON_TORCH_MANY : K_NON_TORCH_ONE);
	int rc;

	if ((rc = need_above("memory of the GPU", b->card_bytes, err)) < 0 ||
		(rc = need_share("memory fraction of the engine", share, err)) < 0 ||
		(rc = need_not_below("weights", b->weights, err)) < 0 ||
		(rc = need_whole("tp", b->tp, 1, 100000, err)) < 0)
		return rc;
	if (b->engine == ENGINE_VLLM)
		*kv = b->card_bytes * share - (b->weights + act + other);
	else if (b->engine == ENGINE_TRTLLM)
		*kv = (b->card_bytes - b->weights - act - other) * share;
	else
		*kv = b->card_bytes * share - b->weights - other;
	return 0;
}

double serve_sequences(double kv_bytes, double per_token, double context, double block)
{
	const double tokens = block > 1 ? ceil(context / block) * block : context;

	return kv_bytes <= 0 ? 0 : floor(kv_bytes / (per_token * tokens));
}

double serve_concurrency(double rps, double ttft_s, double osl, double itl_s)
{
	return rps * (ttft_s + osl * itl_s);
}
