/* domain_serve - inference.budget, capacity, decode, latency, throughput. */
#include "inventory/design/constant.h"
#include "inventory/design/domain_priv.h"
#include "inventory/design/need.h"
#include "inventory/design/serve.h"
#include "inventory/design/speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPENORCA_TOKENS 294.45 /* MLPerf Llama-2-70B: mean of prompts and of answers, recalled */

static double version_of(const char *text)
{
	const char *dot = text ? strchr(text, '.') : NULL;

	return dot ? strtod(text, NULL) >= 1 ? 1000 : strtod(dot + 1, NULL) : 0;
}

static double share_of(struct ask *a)
{
	static const char *const keys[] = {"gpu_memory_utilization", "gpu_memory_utilisation",
		"free_gpu_memory_fraction", "mem_fraction_static", NULL};
	double share = 0;

	for (const char *const *k = keys; *k; k++) {
		if (!ask_has(a, *k))
			continue;
		share = ask_num(a, *k, 0);
		if (need_share(*k, share, a->err) < 0)
			ask_failed(a, *k, -E_SCHEMA);
	}
	return share;
}

void domain_budget(struct ask *a)
{
	static const char *const rest[] = {"model", NULL};
	struct budget b = {.engine = ENGINE_VLLM};
	const char *engine = ask_text(a, "engine"), *version = ask_text(a, "engine_version");
	struct card c;
	double kv = 0;
	int rc;

	if (engine && (rc = engine_find(engine, &b.engine, a->err)) < 0)
		ask_failed(a, "engine", rc);
	if (ask_has(a, "free_gpu_memory_fraction"))
		b.engine = ENGINE_TRTLLM;
	else if (ask_has(a, "mem_fraction_static"))
		b.engine = ENGINE_SGLANG;
	b.card_bytes = domain_memory(a, domain_card(a, NULL, &c) ? &c : NULL);
	b.share = share_of(a);
	b.tp = ask_num(a, "tp", 1);
	b.weights = ask_must(a, "weights");
	b.activation = ask_num(a, "peak_activation", -1);
	b.non_torch = ask_num(a, "non_torch", -1);
	b.version = version_of(version);
	ask_ignore(a, rest);
	if (a->rc == 0 && (rc = serve_budget(&b, &kv, a->err)) < 0)
		ask_failed(a, "weights", rc);
	ask_put(a, "kv_bytes_per_gpu", kv);
	ask_put_bool(a, "fits", kv > 0);
	ask_put_text(a, "verdict", kv > 0 ? "fits" : "does not fit");
}

void domain_capacity(struct ask *a)
{
	const double weights = ask_must(a, "weights"), token = ask_must(a, "kv_per_token");
	const double gpus = ask_num(a, "gpus", 1),
		     overhead = ask_num(a, "runtime_overhead_per_gpu", constant(K_MARGIN));
	const double context = ask_must(a, ask_has(a, "contexts") ? "contexts" : "context");
	const double share = share_of(a), block = ask_num(a, "block", 1);
	struct card c;
	const double card = domain_memory(a, domain_card(a, NULL, &c) ? &c : NULL);
	double kv;

	if (need_above("kv_bytes_per_token", token, a->err) < 0 ||
		need_above("context", context, a->err) < 0 ||
		need_above("memory of the GPU", card, a->err) < 0 ||
		need_whole("gpus", gpus, 1, 1e6, a->err) < 0 ||
		need_not_below("weights", weights, a->err) < 0)
		ask_failed(a, "context", -E_SCHEMA);
	if (a->rc < 0)
		return;
	kv = gpus * (card * (share == 0 ? constant(K_VLLM_UTILISATION) : share) - overhead) -
	     weights;
	ask_put(a, "kv_bytes_total", kv);
	ask_put(a, "tokens", floor(fmax(0, kv) / token));
	ask_put(a, "sequences", serve_sequences(kv, token, context, block));
	ask_put_bool(a, "fits", kv > 0);
}

/* The model, or a usual one of that many parameters. */
static double shape(struct ask *a, struct llm *m)
{
	double params = ask_num(a, "params", NAN);

	domain_model(a, m, false);
	if (isnan(params) && m->stated > 0)
		params = m->stated;
	if (m->layers == 0 && !isnan(params)) {
		if (need_above("params", params, a->err) < 0)
			ask_failed(a, "params", -E_SCHEMA);
		llm_shape(params, m);
	}
	if (isnan(params))
		params = m->layers > 0 && m->hidden > 0 ? domain_params(a, m) : NAN;
	if (m->layers > 0 && m->hidden > 0 && a->rc == 0 && llm_check(m, a->err) < 0)
		ask_failed(a, "layers", -E_SCHEMA);
	return params;
}

static double active_of(const struct llm *m, double params)
{
	struct llm_parts p;

	if (m->experts > 0) {
		llm_parts(m, &p);
		return p.active;
	}
	return m->stated_active > 0 ? m->stated_active : params;
}

/* Card, model, ranks and weights; *rate: precision of the matrices. */
static void common(
	struct ask *a, struct speed *s, struct llm *m, struct card *c, const char *format)
{
	struct precision p = {0}, kv = {0};
	double params = shape(a, m), told;

	domain_precision(a, "precision", format, &p);
	domain_precision(a, "kv_precision", p.rate == RATE_BF16 ? "bf16" : "fp8", &kv);
	*s = (struct speed){.model = m, .pp = 1};
	s->tp = ask_num(a, "tp", 1);
	s->pp = ask_num(a, "pp", 1);
	if (need_whole("tp", s->tp, 1, 1024, a->err) < 0)
		ask_failed(a, "tp", -E_SCHEMA);
	if (need_whole("pp", s->pp, 1, 1024, a->err) < 0)
		ask_failed(a, "pp", -E_SCHEMA);
	s->gpus = s->tp * s->pp;
	s->bandwidth = ask_num(a, "bandwidth", c->bandwidth);
	s->memory = ask_has(a, "gpu_memory_gb") ? domain_memory(a, NULL) : c->memory;
	s->flops = card_flops(c, p.rate);
	s->busbw = ask_num(a, "busbw", card_busbw(c, s->tp));
	s->params_active = active_of(m, isnan(params) ? 0 : params);
	told = ask_num(a, "weight_bytes", ask_num(a, "weights", NAN));
	if (!isnan(told))
		s->weights = told;
	else if (m->hidden > 0 && strcmp(m->name, "a usual dense model") != 0)
		s->weights = llm_weight_bytes(m, &p, p.whole ? 0 : TENSOR_USUAL);
	else
		s->weights = params * p.bits / 8;
	s->kv_token = llm_kv_token(m, kv.bits / 8);
	if (need_above("weight_bytes", s->weights, a->err) < 0 ||
		need_above("bandwidth", s->bandwidth, a->err) < 0)
		ask_failed(a, "model", -E_SCHEMA);
	if (!isnan(params) && s->weights * 8 / params < 6)
		s->int4 = true;
}

void domain_decode(struct ask *a)
{
	struct speed s;
	struct llm m;
	struct card c;
	double batch, context, step;

	(void)domain_card(a, "A100-80GB-SXM", &c);
	if (a->rc < 0)
		return;
	common(a, &s, &m, &c, "bf16");
	batch = ask_num(a, "batch", 1);
	context = ask_num(a, "context", 0);
	if (need_above("batch", batch, a->err) < 0)
		ask_failed(a, "batch", -E_SCHEMA);
	if (a->rc < 0)
		return;
	s.interactive = batch == 1;
	step = speed_decode(&s, batch, context);
	ask_put(a, "tokens_per_s", batch / step);
	ask_put(a, "decode_s_per_token", step);
	ask_put(a, "itl_s", step);
}

void domain_latency(struct ask *a)
{
	static const char *const rest[] = {"output", "osl", NULL};
	struct speed s;
	struct llm m;
	struct card c;
	double input, batch, step, prefill;

	(void)domain_card(a, "A100-80GB-SXM", &c);
	if (a->rc < 0)
		return;
	common(a, &s, &m, &c, "bf16");
	input = ask_has(a, "input") ? ask_num(a, "input", 0) : ask_must(a, "isl");
	batch = ask_num(a, "batch", 1);
	ask_ignore(a, rest);
	if (need_above("input", input, a->err) < 0 || need_above("batch", batch, a->err) < 0)
		ask_failed(a, "input", -E_SCHEMA);
	if (a->rc < 0)
		return;
	s.interactive = batch == 1;
	step = speed_decode(&s, batch, input);
	prefill = speed_prefill(&s, input * batch);
	ask_put(a, "prefill_s", prefill);
	ask_put(a, "ttft_s", prefill);
	ask_put(a, "decode_s_per_token", step);
	ask_put(a, "itl_s", step);
	ask_put(a, "tpot_s", step);
}

/* "TP2", "PP4", "TP2PP2" and "TP2 PP2". */
static void parallel(struct ask *a, struct speed *s, double gpus)
{
	const char *text = ask_text(a, "parallel");

	for (const char *p = text; p && *p; p++) {
		if (strncasecmp(p, "tp", 2) == 0 && strtod(p + 2, NULL) >= 1)
			s->tp = strtod(p + 2, NULL);
		if (strncasecmp(p, "pp", 2) == 0 && strtod(p + 2, NULL) >= 1)
			s->pp = strtod(p + 2, NULL);
	}
	if (text)
		return;
	/* the smallest group that holds weights and some sequences; the rest are replicas */
	while (s->tp * s->pp < gpus &&
		s->weights > 0.75 * s->tp * s->pp * (s->memory - constant(K_RESERVE)))
		s->tp *= 2;
}

void domain_throughput(struct ask *a)
{
	static const char *const rest[] = {"scenario", "engine", "engine_version", NULL};
	struct speed s;
	struct llm m;
	struct card c;
	double gpus, isl, osl, batch, tpot, offline, server;

	(void)domain_card(a, NULL, &c);
	if (!c.id)
		ask_fail(a, "gpu", "'gpu' is missing");
	if (a->rc < 0)
		return;
	common(a, &s, &m, &c, c.flops[RATE_FP8] > 0 ? "fp8" : "bf16");
	gpus = ask_num(a, "gpus", s.tp * s.pp);
	if (need_whole("gpus", gpus, 1, 1e6, a->err) < 0)
		ask_failed(a, "gpus", -E_SCHEMA);
	parallel(a, &s, gpus);
	s.gpus = s.tp * s.pp;
	s.busbw = ask_num(a, "busbw", card_busbw(&c, s.tp));
	isl = ask_num(a, "isl", OPENORCA_TOKENS);
	osl = ask_num(a, "osl", OPENORCA_TOKENS);
	tpot = ask_num(a, "tpot_limit", INFINITY);
	(void)ask_num(a, "ttft_limit", 0);
	ask_ignore(a, rest);
	if (need_above("isl", isl, a->err) < 0 || need_above("osl", osl, a->err) < 0)
		ask_failed(a, "isl", -E_SCHEMA);
	if (fmod(gpus, s.gpus) != 0)
		ask_fail(a, "gpus", "%.0f GPUs are no multiple of TP %.0f x PP %.0f", gpus, s.tp,
			s.pp);
	if (m.context > 0 && isl + osl > m.context)
		ask_fail(a, "isl", "a context of %.0f is beyond the model's %.0f", isl + osl,
			m.context);
	if (a->rc < 0)
		return;
	batch = speed_batch(&s, isl, osl);
	if (batch < 1) {
		ask_fail(a, "gpus", "%.0f x %s do not hold the weights of %.1f GB and one sequence",
			s.gpus, c.id, s.weights / GB);
		return;
	}
	offline = speed_throughput(&s, batch, isl, osl) * gpus / s.gpus;
	batch = speed_batch_for(&s, tpot, isl + osl / 2, batch);
	server = batch < 1 ? 0 : speed_throughput(&s, batch, isl, osl) * gpus / s.gpus;
	ask_put(a, "output_tokens_per_s", offline);
	ask_put(a, "offline_tokens_per_s", offline);
	ask_put(a, "server_tokens_per_s", server);
	ask_put(a, "tokens_per_s_per_gpu", offline / gpus);
}
