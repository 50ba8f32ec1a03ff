/* domain_core - the table of the core's domains, and the inputs they share. */
#include "inventory/design/constant.h"
#include "inventory/design/domain_priv.h"
#include "inventory/design/llm_catalog.h"
#include "inventory/design/need.h"

#include <math.h>
#include <string.h>

static const struct catalog *known;

void domain_use(const struct catalog *c)
{
	known = c;
}

#define DOMAIN(fn)                                                                                \
	static int fn##_answer(const struct yaml_doc *d, const struct yaml_node *in, json_t *out, \
		struct err *err)                                                                  \
	{                                                                                         \
		return ask_run(d, in, out, err, fn);                                              \
	}
DOMAIN(domain_model_params)
DOMAIN(domain_weights)
DOMAIN(domain_kv)
DOMAIN(domain_budget)
DOMAIN(domain_capacity)
DOMAIN(domain_decode)
DOMAIN(domain_latency)
DOMAIN(domain_throughput)
DOMAIN(domain_states)
DOMAIN(domain_zero)
DOMAIN(domain_finetune)
DOMAIN(domain_activations)
DOMAIN(domain_parallelism)
DOMAIN(domain_time)
DOMAIN(domain_mfu)
DOMAIN(domain_moe)
DOMAIN(domain_video_decode)
DOMAIN(domain_video_inference)

const struct domain DOMAIN_CORE[] = {
	{"model.params", domain_model_params_answer},
	{"inference.weights", domain_weights_answer},
	{"inference.kv", domain_kv_answer},
	{"inference.budget", domain_budget_answer},
	{"inference.capacity", domain_capacity_answer},
	{"inference.decode", domain_decode_answer},
	{"inference.latency", domain_latency_answer},
	{"inference.throughput", domain_throughput_answer},
	{"training.states", domain_states_answer},
	{"training.zero", domain_zero_answer},
	{"training.finetune", domain_finetune_answer},
	{"training.activations", domain_activations_answer},
	{"training.parallelism", domain_parallelism_answer},
	{"training.time", domain_time_answer},
	{"training.mfu", domain_mfu_answer},
	{"training.moe", domain_moe_answer},
	{"video.decode", domain_video_decode_answer},
	{"video.inference", domain_video_inference_answer},
	{0},
};

static void kind_of_attention(struct ask *a, struct llm *m)
{
	const char *kind = ask_text(a, "attention");

	if (!kind)
		return;
	if (strcasecmp(kind, "mla") == 0)
		m->attention = ATTENTION_MLA;
	else if (strcasecmp(kind, "hybrid") == 0 || strcasecmp(kind, "swa") == 0)
		m->attention = ATTENTION_HYBRID;
	else if (strcasecmp(kind, "mha") == 0 || strcasecmp(kind, "gqa") == 0 ||
		 strcasecmp(kind, "mqa") == 0 || strcasecmp(kind, "full") == 0)
		m->attention = ATTENTION_FULL;
	else
		ask_fail(a, "attention",
			"'attention' is '%.30s', must be mha, gqa, mqa, mla, swa or hybrid", kind);
	if (strcasecmp(kind, "mqa") == 0 && m->kv_heads == 0)
		m->kv_heads = 1;
}

static void read_figure(struct ask *a, const char *key, double *to)
{
	const bool told = ask_has(a, key);
	const double v = ask_num(a, key, *to);

	if (told && need_not_below(key, v, a->err) < 0)
		ask_failed(a, key, -E_SCHEMA);
	if (told && v == 0 && strstr("layers hidden heads kv_heads head_dim", key))
		ask_fail(a, key, "'%s' is 0, must be above 0", key);
	*to = v;
}

static void read_shape(struct ask *a, struct llm *m)
{
	/* what cases call them beside */
	const struct {
		const char *key;
		double *to;
	} others[] = {{"sliding_window", &m->window}, {"swa_layers", &m->window_layers},
		{"sliding_layers", &m->window_layers}, {"mamba_layers", &m->linear_layers},
		{"state", &m->state_bytes}, {"max_context", &m->context}};

	for (const struct llm_field *f = LLM_FIELDS; f->key; f++)
		read_figure(a, f->key, llm_field(m, f));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		read_figure(a, others[i].key, others[i].to);
}

void domain_model(struct ask *a, struct llm *m, bool need_layers)
{
	const char *name = ask_text(a, "model");
	const char *mlp = ask_text(a, "mlp"), *tied = ask_text(a, "tied");
	int rc;

	*m = (struct llm){0};
	if (name && known && (rc = llm_find(known, name, m, NULL, a->err)) < 0 && need_layers &&
		!ask_has(a, "layers"))
		ask_failed(a, "model", rc);
	read_shape(a, m);
	kind_of_attention(a, m);
	if (mlp)
		m->plain_mlp = strcmp(mlp, "plain") == 0 || strcmp(mlp, "gelu") == 0;
	if (tied)
		m->tied = strcmp(tied, "true") == 0;
	if (m->attention == ATTENTION_HYBRID && m->full_layers + m->window_layers == 0)
		m->window_layers = m->layers - m->linear_layers;
	if (m->attention == ATTENTION_HYBRID && m->window_layers == 0 && m->window > 0)
		m->window_layers = m->layers - m->full_layers - m->linear_layers;
	if (m->attention == ATTENTION_HYBRID && m->layers == 0)
		m->layers = m->full_layers + m->window_layers + m->linear_layers;
	if (m->heads == 0)
		m->heads = m->kv_heads;
	if (need_layers && a->rc == 0 && (rc = llm_check(m, a->err)) < 0)
		ask_failed(a, "layers", rc);
}

double domain_params(struct ask *a, struct llm *m)
{
	const char *rule = ask_text(a, "params_rule");
	const double stated = ask_num(a, "params", NAN);
	struct llm_parts p;

	if (!isnan(stated)) {
		if (need_above("params", stated, a->err) < 0)
			ask_failed(a, "params", -E_SCHEMA);
		return stated;
	}
	if (rule && strncmp(rule, "12", 2) == 0)
		return 12 * m->layers * m->hidden * m->hidden;
	if (rule && strcmp(rule, "gpt") != 0 && strcmp(rule, "llama") != 0)
		ask_fail(a, "params_rule", "the rule '%.40s' is not known; 12*L*h^2, gpt, llama",
			rule);
	if (m->hidden > 0 && (m->ffn > 0 || m->experts > 0)) {
		llm_parts(m, &p);
		return p.total;
	}
	if (m->stated > 0)
		return m->stated;
	if (m->hidden > 0 && m->layers > 0)
		return llm_gpt_params(m->layers, m->hidden, m->vocab, ask_num(a, "seq", 0));
	ask_fail(a, "params",
		"'params' is missing, and no model or architecture to compute it from");
	return 1;
}

bool domain_card(struct ask *a, const char *fallback, struct card *out)
{
	const char *name = ask_text(a, "gpu");
	int rc;

	*out = (struct card){0};
	if (!name)
		name = fallback;
	if (!name || !known)
		return false;
	rc = card_find(known, name, out, a->err);
	if (rc < 0)
		ask_failed(a, "gpu", rc);
	return rc == 0;
}

void domain_precision(struct ask *a, const char *key, const char *fallback, struct precision *out)
{
	const char *name = ask_text(a, key);
	int rc = precision_find(name ? name : fallback, out, a->err);

	if (rc < 0)
		ask_failed(a, key, rc);
}

double domain_memory(struct ask *a, const struct card *c)
{
	static const struct {
		const char *key;
		double scale;
	} keys[] = {{"gpu_visible_gib", GIB}, {"gpu_mib", MIB}, {"gpu_gib", GIB}, {"gpu_gb", GB},
		{"gpu_memory_gb", GB}, {"gpu_memory_gib", GIB}, {"vram_gb", GB}, {"vram_gib", GIB}};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const double v = ask_num(a, keys[i].key, NAN);

		if (isnan(v))
			continue;
		if (need_above(keys[i].key, v, a->err) < 0)
			ask_failed(a, keys[i].key, -E_SCHEMA);
		return v * keys[i].scale;
	}
	return c ? c->visible : 0;
}
