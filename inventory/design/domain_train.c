/* domain_train - training.states, zero, finetune, activations, parallelism, time, mfu, moe. */
#include "inventory/design/constant.h"
#include "inventory/design/domain_priv.h"
#include "inventory/design/need.h"
#include "inventory/design/pace.h"
#include "inventory/design/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY  86400.0
#define A100 "A100-80GB-SXM"
#define TERA 1e12

static double whole(struct ask *a, const char *key, double otherwise)
{
	const double v = ask_num(a, key, otherwise);

	if (a->rc == 0 && !isnan(v) && need_whole(key, v, 1, 1e12, a->err) < 0)
		ask_failed(a, key, -E_SCHEMA);
	return v;
}

static double above(struct ask *a, const char *key, double otherwise)
{
	const double v = ask_num(a, key, otherwise);

	if (a->rc == 0 && !isnan(v) && need_above(key, v, a->err) < 0)
		ask_failed(a, key, -E_SCHEMA);
	return v;
}

void domain_states(struct ask *a)
{
	const char *scheme = ask_text(a, "scheme");
	const char *method = ask_text(a, "method");
	struct tuning t = {.state_bytes = 16};
	struct llm m;
	double params, each, ranks, dp;
	int rc;

	domain_model(a, &m, false);
	params = domain_params(a, &m);
	if (!scheme)
		scheme = method;
	if (scheme && (rc = train_method(scheme, &t, a->err)) < 0)
		ask_failed(a, "scheme", rc);
	each = above(a, "bytes_per_param", t.state_bytes);
	ranks = whole(a, "tp", 1) * whole(a, "pp", 1);
	dp = whole(a, "dp", 1);
	if (scheme && strstr(scheme, "distributed"))
		each = 6 + 12 / dp;
	if (a->rc < 0)
		return;
	ask_put(a, "states_bytes", params * each);
	ask_put(a, "params_and_optimizer_bytes_per_gpu", params * each / ranks);
	ask_put(a, "states_bytes_per_gpu", params * each / ranks);
	ask_put(a, "params", params);
}

void domain_zero(struct ask *a)
{
	struct llm m;
	double params, dp, k, stage[4] = {0};
	json_t *list = json_array();
	int rc;

	domain_model(a, &m, false);
	params = domain_params(a, &m);
	dp = ask_num(a, "dp", ask_num(a, "gpus", 1));
	k = ask_num(a, "optimizer_bytes", 12);
	if (a->rc == 0 && (rc = train_zero(params, dp, k, stage, a->err)) < 0)
		ask_failed(a, "dp", rc);
	for (int i = 0; i < 4; i++) {
		char key[40];

		(void)snprintf(key, sizeof key, "bytes_per_gpu_stage_%d", i);
		ask_put(a, key, stage[i]);
		(void)json_array_append_new(list, json_real(stage[i]));
	}
	if (ask_has(a, "stage"))
		ask_put(a, "bytes_per_gpu", stage[(int)fmin(3, fmax(0, ask_num(a, "stage", 0)))]);
	(void)json_object_set_new(a->out, "bytes_per_gpu_stage_0_1_2_3", list);
}

void domain_finetune(struct ask *a)
{
	const char *method = ask_text(a, "method");
	struct tuning t = {0};
	struct llm m, usual;
	double params, rank, seq, memory, gpus, bytes;
	int rc;

	domain_model(a, &m, false);
	params = domain_params(a, &m);
	rank = above(a, "rank", 16);
	seq = above(a, "seq", constant(K_FINETUNE_SEQ));
	gpus = whole(a, "gpus", 1);
	memory = ask_has(a, "gpu_memory_gb") ? above(a, "gpu_memory_gb", 1) * GB : 0;
	if (!method)
		ask_fail(a, "method", "'method' is missing");
	if (a->rc == 0 && (rc = train_method(method, &t, a->err)) < 0)
		ask_failed(a, "method", rc);
	if (a->rc < 0)
		return;
	llm_shape(params, &usual);
	if (m.layers == 0 || m.hidden == 0)
		m = usual;
	else if (llm_check(&m, a->err) < 0)
		ask_failed(a, "layers", -E_SCHEMA);
	bytes = train_tuning_bytes(&t, &m, params, rank, seq);
	ask_put(a, "gpu_memory_bytes", bytes);
	ask_put(a, "trainable_params", t.kind == TUNE_FULL ? params : train_lora_params(&m, rank));
	if (memory > 0)
		ask_put_bool(a, "fits", bytes <= memory * gpus);
}

void domain_activations(struct ask *a)
{
	struct activations x = {.seq = above(a, "seq", NAN), .batch = above(a, "microbatch", 1)};
	const double pp = whole(a, "pp", 1), m = ask_num(a, "interleave_m", 1);
	const struct {
		const char *name;
		bool sp, selective, full;
	} kinds[] = {{"tp_only", false, false, false}, {"sp", true, false, false},
		{"selective", false, true, false}, {"sp_selective", true, true, false},
		{"full", false, false, true}};
	struct llm model;
	double layers;

	domain_model(a, &model, true);
	x.tp = whole(a, "tp", 1);
	x.hidden = model.hidden;
	x.heads = model.heads;
	if (need_above("seq", x.seq, a->err) < 0 || need_above("hidden", x.hidden, a->err) < 0)
		ask_failed(a, "seq", -E_SCHEMA);
	if (a->rc < 0)
		return;
	layers = train_first_stage(model.layers, pp, m);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		char key[64];

		x.sequence_parallel = kinds[i].sp;
		x.selective = kinds[i].selective;
		x.full = kinds[i].full;
		(void)snprintf(key, sizeof key, "bytes_first_stage_%s", kinds[i].name);
		ask_put(a, key, layers * train_activation_layer(&x));
		(void)snprintf(key, sizeof key, "bytes_per_layer_%s", kinds[i].name);
		ask_put(a, key, train_activation_layer(&x));
	}
	if (model.ffn > 0) {
		const double layer = train_activation_llama(&model, x.seq, x.batch, x.tp);

		ask_put(a, "bytes_per_layer_llama", layer);
		ask_put(a, "bytes_first_stage_llama", layer * layers);
	}
}

static bool recompute(struct ask *a)
{
	const char *text = ask_text(a, "recompute");

	return text && strcmp(text, "full") == 0;
}

static void verdict(struct ask *a, int rc)
{
	ask_put_text(a, "verdict", rc < 0 ? "reject" : "accept");
	if (rc < 0)
		ask_put_text(a, "reason", a->err->msg);
}

static void told_layout(struct ask *a, struct layout *l, double gpus)
{
	*l = (struct layout){
		.tp = whole(a, "tp", 1), .cp = whole(a, "cp", 1), .pp = whole(a, "pp", 1)};
	l->dp = whole(a, "dp", gpus / (l->tp * l->cp * l->pp));
}

void domain_parallelism(struct ask *a)
{
	const bool told = ask_has(a, "tp") || ask_has(a, "pp") || ask_has(a, "dp");
	const double gpus = whole(a, "gpus", NAN), node = whole(a, "gpus_per_node", 8);
	struct layout l = {0};
	struct llm m;
	struct card c;
	double params, seq, batch, each, reached;
	int rc;

	if (isnan(gpus))
		ask_fail(a, "gpus", "'gpus' is missing");
	domain_model(a, &m, false);
	if (told)
		told_layout(a, &l, gpus);
	if (a->rc < 0)
		return;
	if (told && ((rc = pace_check(&l, gpus, a->err)) < 0 || m.layers == 0)) {
		verdict(a, rc);
		return;
	}
	(void)domain_card(a, A100, &c);
	seq = above(a, "seq", 2048);
	params = m.ffn > 0 || ask_has(a, "params") || m.stated > 0
			 ? domain_params(a, &m)
			 : llm_gpt_params(m.layers, m.hidden, m.vocab, seq);
	each = above(a, "bytes_per_param", 18);
	batch = ask_has(a, "global_batch_tokens")
			? above(a, "global_batch_tokens", 1) / seq
			: above(a, "global_batch", constant(K_BATCH_TOKENS) / seq);
	l.interleave = ask_num(a, "interleave_m", 0);
	if (a->rc == 0 && (m.hidden == 0 || m.layers == 0))
		ask_fail(a, "hidden", "'hidden' and 'layers' are needed, or a model");
	if (a->rc < 0)
		return;
	rc = told ? 0 : pace_layout(&m, params, each, &c, gpus, node, &l, a->err);
	verdict(a, rc);
	if (rc < 0)
		return;
	pace_bubble(&l, m.layers, batch, told);
	reached = pace_flops(&m, &l, &c);
	ask_put(a, "params", params);
	ask_put(a, "tp", l.tp);
	ask_put(a, "pp", l.pp);
	ask_put(a, "dp", l.dp);
	ask_put(a, "cp", l.cp);
	ask_put(a, "bubble_pct", 100 * l.bubble);
	ask_put(a, "tflops_per_gpu", reached / TERA);
	ask_put(a, "pct_peak", 100 * reached / c.flops[RATE_BF16]);
	ask_put(a, "mfu_pct", 100 * reached / c.flops[RATE_BF16]);
}

/* The rate by method when none is told: pipeline and tensor (of a size in its text), or ZeRO-3. */
static double rate_of(struct ask *a, const char *method, double params, double gpus, bool again)
{
	const char *size = method ? strstr(method, "parallel size ") : NULL;
	struct layout l = {.cp = 1};
	struct llm m;
	struct card c;
	double ranks, batch;

	(void)domain_card(a, A100, &c);
	llm_shape(params, &m);
	batch = above(a, "global_batch_tokens", constant(K_BATCH_TOKENS));
	if (a->rc < 0)
		return 1;
	if (method && (strstr(method, "ZeRO-3") || strstr(method, "FSDP")) && !size)
		return pace_zero3(&m, params, gpus, batch, again, &c);
	ranks = size ? strtod(size + strlen("parallel size "), NULL) : 1;
	l.tp = fmin(8, ranks);
	l.pp = fmax(1, floor(ranks / l.tp));
	if (!size && pace_layout(&m, params, 18, &c, gpus, 8, &l, a->err) < 0)
		l = (struct layout){.tp = fmin(8, gpus), .pp = 1};
	l.cp = 1;
	l.dp = fmax(1, floor(gpus / (l.tp * l.pp)));
	pace_bubble(&l, m.layers, batch / 2048, false);
	return pace_flops(&m, &l, &c);
}

static void time_of_step(struct ask *a, struct llm *m, double gpus, double rate, bool again)
{
	const double batch = above(a, "global_batch", NAN), seq = above(a, "seq", 2048);
	const double ranks = whole(a, "tp", 1) * whole(a, "cp", 1) * whole(a, "pp", 1);

	if (a->rc < 0)
		return;
	ask_put(a, "iteration_s", train_flops_step(m, batch, seq, again) / (gpus * rate));
	ask_put(a, "dp", gpus / ranks);
}

void domain_time(struct ask *a)
{
	static const char *const rest[] = {"method", "strategy", NULL};
	const char *method = ask_text(a, "method");
	const double gpus = whole(a, "gpus", NAN), hours = above(a, "gpu_hours", NAN);
	const double tokens = above(a, "tokens", NAN);
	/* a step of known layers and no word on it: Megatron recomputes all */
	const bool step = ask_has(a, "global_batch"), told = ask_has(a, "recompute");
	bool again = recompute(a);
	struct llm m;
	struct card c;
	double params, rate;

	ask_ignore(a, rest);
	domain_model(a, &m, false);
	params = step && m.hidden > 0
			 ? llm_gpt_params(m.layers, m.hidden, m.vocab, ask_num(a, "seq", 2048))
			 : domain_params(a, &m);
	rate = ask_has(a, "tflops_per_gpu") ? TERA * above(a, "tflops_per_gpu", 1) : NAN;
	if (a->rc < 0)
		return;
	if (!isnan(hours)) {
		if (isnan(tokens))
			ask_fail(a, "tokens", "'tokens' is missing");
		(void)domain_card(a, A100, &c);
		rate = (again ? 8 : 6) * params * tokens / (hours * 3600);
		ask_put(a, "average_tflops_per_gpu", rate / TERA);
		ask_put(a, "mfu_pct", 100 * rate / c.flops[RATE_BF16]);
		if (!isnan(gpus))
			ask_put(a, "days", hours / gpus / 24);
		return;
	}
	if (isnan(gpus))
		ask_fail(a, "gpus", "'gpus' is missing");
	if (a->rc == 0 && isnan(rate) && ask_has(a, "mfu")) {
		(void)domain_card(a, A100, &c);
		rate = above(a, "mfu", 1) * c.flops[RATE_BF16];
	}
	if (a->rc == 0 && isnan(rate))
		rate = rate_of(a, method, params, gpus, again);
	else if (a->rc == 0)
		(void)domain_card(a, A100, &c);
	if (a->rc < 0)
		return;
	ask_put(a, "tflops_per_gpu", rate / TERA);
	if (step)
		time_of_step(a, &m, gpus, rate, told ? again : true);
	if (!isnan(tokens)) {
		const double seconds = (again ? 8 : 6) * params * tokens / (gpus * rate);

		ask_put(a, "days", seconds / DAY);
		ask_put(a, "gpu_hours", seconds * gpus / 3600);
	}
}

void domain_mfu(struct ask *a)
{
	static const char *const rest[] = {"strategy", NULL};
	const double per_gpu = above(a, "tokens_per_s_per_gpu", NAN);
	const double step = above(a, "iteration", NAN), batch = above(a, "global_batch", NAN);
	const double seq = above(a, "seq", 2048), gpus = whole(a, "gpus", 1);
	struct precision p = {0};
	struct llm m;
	struct card c;
	double peak, flops;

	domain_model(a, &m, false);
	ask_ignore(a, rest);
	domain_precision(a, "precision", "bf16", &p);
	(void)domain_card(a, A100, &c);
	peak = ask_has(a, "gpu_peak_tflops") ? TERA * above(a, "gpu_peak_tflops", 1)
					     : card_flops(&c, p.rate);
	if (m.hidden == 0 || m.layers == 0)
		ask_fail(a, "layers", "'layers' and 'hidden' are needed, or a model");
	if (a->rc < 0)
		return;
	if (!isnan(per_gpu)) {
		flops = per_gpu *
			train_flops_token(domain_params(a, &m), m.layers, m.hidden, seq, false);
	} else {
		if (isnan(step) || isnan(batch))
			ask_fail(a, "iteration_s",
				"'iteration_s' and 'global_batch', or 'tokens_per_s_per_gpu' are needed");
		flops = train_flops_step(&m, batch, seq, false) / (gpus * step);
		ask_put(a, "hfu_pct",
			100 * train_flops_step(&m, batch, seq, true) / (gpus * step) / peak);
	}
	ask_put(a, "mfu_pct", 100 * flops / peak);
	ask_put(a, "tflops_per_gpu", flops / TERA);
}

void domain_moe(struct ask *a)
{
	const double total = ask_num(a, "total_params", NAN),
		     active = ask_num(a, "active_params", NAN);
	const double tokens = above(a, "tokens", NAN), gpus = whole(a, "gpus", 1);
	const double experts = whole(a, "experts", NAN), chosen = whole(a, "experts_active", NAN);
	const double batch = above(a, "batch", 1);
	struct card c;

	(void)domain_card(a, "H100-80GB-SXM", &c);
	if (a->rc == 0 && !isnan(total) && !isnan(active) && active > total)
		ask_fail(a, "active_params", "%.4g active of %.4g parameters", active, total);
	if (a->rc == 0 && !isnan(experts) && !(chosen <= experts))
		ask_fail(a, "experts_active", "%.0f of %.0f experts", chosen, experts);
	if (a->rc < 0)
		return;
	if (!isnan(active) && !isnan(tokens)) {
		const double rate = ask_has(a, "tflops_per_gpu")
					    ? TERA * above(a, "tflops_per_gpu", 1)
					    : constant(K_MFU_MOE_FP8) * c.flops[RATE_BF16];
		const double seconds = 6 * active * tokens / rate;

		ask_put(a, "gpu_hours", seconds / 3600);
		ask_put(a, "days", seconds / gpus / DAY);
		ask_put(a, "tflops_per_gpu", rate / TERA);
	}
	if (!isnan(experts))
		ask_put(a, "distinct_experts", llm_experts_touched(experts, chosen, batch));
	if (!isnan(total))
		ask_put(a, "states_bytes", 16 * total);
}
