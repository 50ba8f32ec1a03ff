/* llm - parameters, weights and KV cache from the architecture alone. */
#include "inventory/design/llm.h"

#include "inventory/design/constant.h"
#include "inventory/design/need.h"

#include <math.h>

#define LAYERS_MOST 10000
#define WIDTH_MOST  10000000

#define FIELD(key, member)                        \
	{                                         \
		key, offsetof(struct llm, member) \
	}

const struct llm_field LLM_FIELDS[] = {
	FIELD("layers", layers),
	FIELD("hidden", hidden),
	FIELD("heads", heads),
	FIELD("kv_heads", kv_heads),
	FIELD("head_dim", head_dim),
	FIELD("ffn", ffn),
	FIELD("vocab", vocab),
	FIELD("positions", positions),
	FIELD("experts", experts),
	FIELD("experts_active", experts_active),
	FIELD("experts_shared", experts_shared),
	FIELD("expert_ffn", expert_ffn),
	FIELD("dense_layers", dense_layers),
	FIELD("kv_lora_rank", kv_lora),
	FIELD("q_lora_rank", q_lora),
	FIELD("rope_head_dim", rope_dim),
	FIELD("nope_head_dim", nope_dim),
	FIELD("v_head_dim", v_dim),
	FIELD("window", window),
	FIELD("full_layers", full_layers),
	FIELD("window_layers", window_layers),
	FIELD("linear_layers", linear_layers),
	{NULL, 0},
};

double *llm_field(struct llm *m, const struct llm_field *f)
{
	return (double *)(void *)((char *)m + f->at);
}

static int check_experts(const struct llm *m, struct err *err)
{
	int rc;

	if (m->experts == 0)
		return 0;
	if ((rc = need_whole("experts", m->experts, 2, 100000, err)) < 0 ||
		(rc = need_whole("experts_active", m->experts_active, 1, m->experts, err)) < 0)
		return rc;
	if (m->dense_layers > m->layers)
		return err_set(
			err, E_CONFLICT, "%.0f dense layers of %.0f", m->dense_layers, m->layers);
	return need_above("expert_ffn", m->expert_ffn, err);
}

static int check_layers(const struct llm *m, struct err *err)
{
	const double sum = m->full_layers + m->window_layers + m->linear_layers;

	if (m->attention == ATTENTION_HYBRID && sum > m->layers)
		return err_set(err, E_CONFLICT,
			"%.0f full, %.0f windowed and %.0f linear layers are more than the %.0f layers",
			m->full_layers, m->window_layers, m->linear_layers, m->layers);
	if (m->window_layers > 0)
		return need_above("window", m->window, err);
	return 0;
}

int llm_check(struct llm *m, struct err *err)
{
	int rc;

	if ((rc = need_whole("layers", m->layers, 1, LAYERS_MOST, err)) < 0)
		return rc;
	if (m->attention == ATTENTION_MLA)
		return (rc = need_above("kv_lora_rank", m->kv_lora, err)) < 0
			       ? rc
			       : check_experts(m, err);
	if ((rc = need_whole("heads", m->heads, 1, WIDTH_MOST, err)) < 0)
		return rc;
	if (m->head_dim == 0 && m->hidden > 0)
		m->head_dim = floor(m->hidden / m->heads);
	if (m->kv_heads == 0)
		m->kv_heads = m->heads;
	if ((rc = need_whole("head_dim", m->head_dim, 1, WIDTH_MOST, err)) < 0 ||
		(rc = need_whole("kv_heads", m->kv_heads, 1, WIDTH_MOST, err)) < 0)
		return rc;
	if (fmod(m->heads, m->kv_heads) != 0)
		return err_set(err, E_CONFLICT, "%.0f heads are not a multiple of %.0f KV heads",
			m->heads, m->kv_heads);
	if ((rc = check_layers(m, err)) < 0)
		return rc;
	return check_experts(m, err);
}

void llm_shape(double params, struct llm *out)
{
	const double aspect = constant(K_ASPECT);
	const double hidden = cbrt(params * aspect / 12);

	*out = (struct llm){.name = "a usual dense model"};
	out->layers = fmax(1, round(hidden / aspect));
	out->hidden = hidden;
	out->heads = fmax(1, round(hidden / 128));
	out->kv_heads = out->heads;
	out->head_dim = 128;
	out->ffn = 8 * hidden / 3;
	out->vocab = constant(K_VOCABULARY);
	out->stated = params;
}

double llm_gpt_params(double layers, double hidden, double vocab, double seq)
{
	return 12 * layers * hidden * hidden *
	       (1 + 13 / (12 * hidden) + (vocab + seq) / (12 * layers * hidden));
}

static double attention_params(const struct llm *m)
{
	const double q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;

	if (m->attention != ATTENTION_MLA)
		return 2 * m->hidden * q + 2 * m->hidden * kv + (m->qkv_bias ? q + 2 * kv : 0);
	return (m->q_lora > 0 ? m->hidden * m->q_lora +
					m->q_lora * m->heads * (m->nope_dim + m->rope_dim)
			      : m->hidden * m->heads * (m->nope_dim + m->rope_dim)) +
	       m->hidden * (m->kv_lora + m->rope_dim) +
	       m->kv_lora * m->heads * (m->nope_dim + m->v_dim) + m->heads * m->v_dim * m->hidden;
}

void llm_parts(const struct llm *m, struct llm_parts *p)
{
	const double matrices = m->plain_mlp ? 2 : 3;
	const double sparse = m->experts > 0 ? m->layers - m->dense_layers : 0;
	const double one = matrices * m->hidden * m->expert_ffn;
	double chosen;

	*p = (struct llm_parts){0};
	p->embeddings = m->vocab * m->hidden + (m->plain_mlp ? m->positions * m->hidden : 0);
	p->head = m->tied ? 0 : m->vocab * m->hidden;
	p->norms = m->layers * 2 * m->hidden * (m->plain_mlp ? 2 : 1) + m->hidden;
	p->attention = m->layers * attention_params(m);
	p->mlp = (m->layers - sparse) * matrices * m->hidden * m->ffn +
		 sparse * m->experts_shared * one;
	p->experts = sparse * m->experts * one;
	p->router = sparse * m->experts * m->hidden;
	p->total =
		p->embeddings + p->head + p->norms + p->attention + p->mlp + p->experts + p->router;
	chosen = m->experts > 0 ? m->experts_active / m->experts : 0;
	p->active = p->total - p->experts * (1 - chosen);
	if (m->hidden == 0 || m->ffn + m->expert_ffn == 0) {
		p->total = m->stated;
		p->active = m->stated_active > 0 ? m->stated_active : m->stated;
		p->mlp = p->total;
	}
}

double llm_weight_bytes(const struct llm *m, const struct precision *p, unsigned unquantised)
{
	struct llm_parts parts;
	double bytes;

	llm_parts(m, &parts);
	if (p->bits >= 16)
		return parts.total * p->bits / 8;
	bytes = parts.norms * 2;
#define CLASS(mask, n) bytes += (n) * (unquantised & (mask) ? 2 : p->bits / 8)
	CLASS(TENSOR_EMBEDDINGS, parts.embeddings);
	CLASS(TENSOR_HEAD, parts.head);
	CLASS(TENSOR_ATTENTION, parts.attention);
	CLASS(TENSOR_MLP, parts.mlp);
	CLASS(TENSOR_ROUTER, parts.router);
	CLASS(TENSOR_EXPERTS, parts.experts);
#undef CLASS
	return bytes;
}

double llm_experts_touched(double experts, double active, double batch)
{
	return experts * (1 - pow(1 - active / experts, batch));
}

double llm_step_bytes(const struct llm *m, double weight_bytes, double batch)
{
	struct llm_parts p;
	double share;

	if (m->experts == 0)
		return weight_bytes;
	llm_parts(m, &p);
	share = p.total > 0 ? p.experts / p.total : 0;
	return weight_bytes *
	       (1 - share * (1 - llm_experts_touched(m->experts, m->experts_active, batch) /
					    m->experts));
}

double llm_kv_token(const struct llm *m, double value_bytes)
{
	const double layer = 2 * m->kv_heads * m->head_dim * value_bytes;

	if (m->attention == ATTENTION_MLA)
		return m->layers * (m->kv_lora + m->rope_dim) * value_bytes;
	if (m->attention == ATTENTION_HYBRID)
		return layer * (m->full_layers + m->window_layers);
	return layer * m->layers;
}

double llm_kv_bytes(const struct llm *m, double context, double value_bytes)
{
	const double layer = 2 * m->kv_heads * m->head_dim * value_bytes;

	if (m->attention != ATTENTION_HYBRID)
		return context * llm_kv_token(m, value_bytes);
	return layer * (m->full_layers * context + m->window_layers * fmin(context, m->window)) +
	       m->linear_layers * m->state_bytes;
}

double llm_kv_split(const struct llm *m, double tp)
{
	return m->attention == ATTENTION_MLA ? 1 : fmin(tp, m->kv_heads);
}
