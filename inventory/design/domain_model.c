/* domain_model - model.params, inference.weights, inference.kv. */
#include "inventory/design/constant.h"
#include "inventory/design/domain_priv.h"
#include "inventory/design/need.h"

#include <math.h>
#include <string.h>

void domain_model_params(struct ask *a)
{
	const char *family = ask_text(a, "family");
	struct llm m;
	struct llm_parts p;
	double seq;

	domain_model(a, &m, true);
	seq = ask_num(a, "seq", m.positions);
	if (a->rc < 0)
		return;
	if (m.hidden == 0)
		ask_fail(a, "hidden", "'hidden' is missing");
	if ((family && strcmp(family, "gpt") == 0) || m.ffn + m.expert_ffn == 0) {
		ask_put(a, "params", llm_gpt_params(m.layers, m.hidden, m.vocab, seq));
		return;
	}
	llm_parts(&m, &p);
	ask_put(a, "params", p.total);
	ask_put(a, "active_params", p.active);
	ask_put(a, "embedding_params", p.embeddings + p.head);
}

static unsigned unquantised(struct ask *a)
{
	static const struct {
		const char *name;
		unsigned mask;
	} names[] = {{"embeddings", TENSOR_EMBEDDINGS}, {"embedding", TENSOR_EMBEDDINGS},
		{"lm_head", TENSOR_HEAD}, {"head", TENSOR_HEAD}, {"attention", TENSOR_ATTENTION},
		{"mlp", TENSOR_MLP}, {"router", TENSOR_ROUTER}, {"experts", TENSOR_EXPERTS},
		{"norms", 0}};
	const struct yaml_node *list = ask_node(a, "unquantised");
	unsigned mask = 0;

	if (!list)
		return TENSOR_USUAL;
	for (unsigned i = 0; i < list->n && list->kind == YAML_LIST; i++) {
		bool hit = false;

		for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
			if (list->item[i]->kind == YAML_SCALAR &&
				str_is(list->item[i]->text, names[k].name)) {
				mask |= names[k].mask;
				hit = true;
			}
		if (!hit)
			ask_fail(a, "unquantised",
				"'unquantised' knows embeddings, lm_head, attention, mlp, router, experts, norms");
	}
	return mask;
}

void domain_weights(struct ask *a)
{
	struct precision p = {0};
	struct llm m;
	double bits, group, bytes, tp;
	unsigned mask;
	int rc;

	domain_model(a, &m, true);
	domain_precision(a, "precision", "bf16", &p);
	mask = ask_has(a, "unquantised") || !p.whole ? unquantised(a) : 0;
	bits = ask_num(a, "bits", floor(p.bits));
	group = ask_num(a, "group", NAN);
	if (!isnan(group) && (rc = precision_grouped(bits, group, ask_num(a, "scale_bits", 16),
				      ask_num(a, "zero_bits", 0), &p, a->err)) < 0)
		ask_failed(a, "group", rc);
	tp = ask_num(a, "tp", 1);
	if (need_whole("tp", tp, 1, 100000, a->err) < 0)
		ask_failed(a, "tp", -E_SCHEMA);
	if (a->rc < 0)
		return;
	bytes = llm_weight_bytes(&m, &p, mask);
	ask_put(a, "weights_bytes", bytes);
	ask_put(a, "weights_bytes_per_gpu", bytes / tp);
}

static double value_bytes(struct ask *a)
{
	struct precision p;
	double bytes = ask_num(a, "bytes", NAN);

	if (isnan(bytes))
		bytes = ask_num(a, "kv_value_bytes", NAN);
	if (isnan(bytes)) {
		domain_precision(
			a, ask_has(a, "kv_precision") ? "kv_precision" : "precision", "bf16", &p);
		bytes = p.bits / 8;
	}
	if (need_above("bytes", bytes, a->err) < 0)
		ask_failed(a, "bytes", -E_SCHEMA);
	return bytes;
}

void domain_kv(struct ask *a)
{
	const char *key = ask_has(a, "contexts") ? "contexts" : "context";
	struct llm m;
	double bytes, context, tp, sequences, kv;

	domain_model(a, &m, true);
	bytes = value_bytes(a);
	context = ask_num(a, key, NAN);
	tp = ask_num(a, "tp", 1);
	sequences = ask_num(a, "sequences", ask_num(a, "batch", 1));
	if (!isnan(context) && need_above(key, context, a->err) < 0)
		ask_failed(a, key, -E_SCHEMA);
	if (need_whole("tp", tp, 1, 100000, a->err) < 0)
		ask_failed(a, "tp", -E_SCHEMA);
	if (m.context > 0 && context > m.context)
		ask_fail(
			a, key, "a context of %.0f is beyond the model's %.0f", context, m.context);
	if (a->rc < 0)
		return;
	ask_put(a, "kv_bytes_per_token", llm_kv_token(&m, bytes));
	ask_put(a, "kv_bytes_per_token_per_gpu", llm_kv_token(&m, bytes) / llm_kv_split(&m, tp));
	if (isnan(context))
		return;
	kv = llm_kv_bytes(&m, context, bytes) * sequences;
	ask_put(a, "kv_bytes", kv);
	ask_put(a, "kv_bytes_per_gpu", kv / llm_kv_split(&m, tp));
}
