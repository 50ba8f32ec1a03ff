/* llm_config - keys by their names in several families. */
#include "inventory/design/llm_config.h"

#include "agent/base/json.h"

#include <string.h>

/* The first of the names that is a number; 0: none. */
static double num(const json_t *o, const char *const *names)
{
	for (; *names; names++) {
		const json_t *v = json_object_get(o, *names);

		if (json_is_number(v))
			return json_number_value(v);
	}
	return 0;
}

#define NUM(o, ...) num(o, (const char *const[]){__VA_ARGS__, NULL})

static void read_widths(const json_t *o, struct llm *m)
{
	m->layers = NUM(o, "num_hidden_layers", "n_layer", "num_layers");
	m->hidden = NUM(o, "hidden_size", "n_embd", "d_model");
	m->heads = NUM(o, "num_attention_heads", "n_head", "num_heads");
	m->kv_heads = NUM(o, "num_key_value_heads", "num_kv_heads");
	m->head_dim = NUM(o, "head_dim");
	m->ffn = NUM(o, "intermediate_size", "n_inner", "ffn_hidden_size");
	m->vocab = NUM(o, "vocab_size");
	m->context = NUM(o, "max_position_embeddings", "n_positions", "max_sequence_length");
	m->kv_lora = NUM(o, "kv_lora_rank");
	m->q_lora = NUM(o, "q_lora_rank");
	m->rope_dim = NUM(o, "qk_rope_head_dim");
	m->nope_dim = NUM(o, "qk_nope_head_dim");
	m->v_dim = NUM(o, "v_head_dim");
	if (m->kv_lora > 0)
		m->attention = ATTENTION_MLA;
}

static void read_experts(const json_t *o, struct llm *m)
{
	m->experts = NUM(o, "n_routed_experts", "num_local_experts", "num_experts");
	if (m->experts <= 1) {
		m->experts = 0;
		return;
	}
	m->experts_active = NUM(o, "num_experts_per_tok", "experts_per_token", "moe_topk");
	m->experts_shared = NUM(o, "n_shared_experts");
	m->expert_ffn = NUM(o, "moe_intermediate_size");
	m->dense_layers = NUM(o, "first_k_dense_replace");
	if (m->expert_ffn == 0)
		m->expert_ffn = m->ffn;
}

/* layer_types tells each layer; without it sliding_window means all of them, unless switched off.
 */
static void read_kinds(const json_t *o, struct llm *m)
{
	const json_t *types = json_object_get(o, "layer_types"), *v;
	size_t i;

	m->window = NUM(o, "sliding_window");
	if (json_object_get(o, "use_sliding_window") &&
		!json_get_bool(o, "use_sliding_window", true))
		m->window = 0;
	if (!json_is_array(types)) {
		if (m->window > 0) {
			m->attention = ATTENTION_HYBRID;
			m->window_layers = m->layers;
		}
		return;
	}
	json_array_foreach(types, i, v)
	{
		const char *kind = json_string_value(v);

		if (kind && strcmp(kind, "full_attention") == 0)
			m->full_layers++;
		else if (kind && strcmp(kind, "sliding_attention") == 0)
			m->window_layers++;
		else
			m->linear_layers++;
	}
	if (m->window_layers + m->linear_layers > 0)
		m->attention = ATTENTION_HYBRID;
	/* the state of a gated delta layer, in 32 bits */
	m->state_bytes = 4 * NUM(o, "linear_num_value_heads") * NUM(o, "linear_key_head_dim") *
			 NUM(o, "linear_value_head_dim");
}

static void read_family(const json_t *o, struct llm *m)
{
	const char *type = json_get_str(o, "model_type", "");

	m->tied = json_get_bool(o, "tie_word_embeddings", false);
	m->qkv_bias = strcmp(type, "qwen2") == 0 || strcmp(type, "qwen2_moe") == 0;
	if (strcmp(type, "gpt2") == 0 || strcmp(type, "opt") == 0) {
		m->plain_mlp = true;
		m->tied = true;
		m->positions = m->context;
		if (m->ffn == 0)
			m->ffn = 4 * m->hidden;
	}
}

int llm_config_read(struct str text, const char *name, struct llm *out, struct err *err)
{
	AUTO_JSON doc = NULL;
	const json_t *o;
	struct llm m = {0};
	int rc = json_parse(text, LLM_CONFIG_MOST, name, &doc, err);

	if (rc < 0)
		return rc;
	o = json_object_get(doc, "text_config");
	if (!json_is_object(o))
		o = doc;
	read_widths(o, &m);
	read_experts(o, &m);
	read_kinds(o, &m);
	read_family(o, &m);
	if (m.hidden == 0 || m.vocab == 0)
		return err_at(err, E_SCHEMA, name, 1, 1,
			"no 'hidden_size' or 'vocab_size': not a language "
			"model's config.json");
	rc = llm_check(&m, err);
	if (rc < 0)
		return err_wrap(err, "%s", name);
	*out = m;
	return 0;
}
