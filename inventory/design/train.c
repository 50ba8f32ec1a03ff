/* train - states, activations, fine-tuning and operations. */
#include "inventory/design/train.h"

#include "inventory/design/constant.h"
#include "inventory/design/need.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int train_zero(double params, double dp, double k, double stage[4], struct err *err)
{
	int rc;

	if ((rc = need_above("params", params, err)) < 0 ||
		(rc = need_whole("dp", dp, 1, 1e9, err)) < 0 ||
		(rc = need_not_below("optimizer_bytes", k, err)) < 0)
		return rc;
	stage[0] = (4 + k) * params;
	stage[1] = 4 * params + k * params / dp;
	stage[2] = 2 * params + (2 + k) * params / dp;
	stage[3] = (4 + k) * params / dp;
	return 0;
}

double train_activation_layer(const struct activations *a)
{
	const double sbh = a->seq * a->batch * a->hidden;
	const double scores = 5 * a->heads * a->seq / a->hidden;

	if (a->full)
		return 2 * sbh;
	if (a->sequence_parallel)
		return sbh / a->tp * (34 + (a->selective ? 0 : scores));
	return sbh * (10 + 24 / a->tp + (a->selective ? 0 : scores / a->tp));
}

double train_activation_llama(const struct llm *m, double seq, double batch, double tp)
{
	return seq * batch *
	       (8 * m->hidden + 4 * (m->heads + m->kv_heads) * m->head_dim + 6 * m->ffn) / tp;
}

double train_first_stage(double layers, double pp, double interleave)
{
	return layers * (interleave > 1 && pp > 1 ? 1 + (pp - 1) / (pp * interleave) : 1);
}

static bool has(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (; *text; text++)
		if (strncasecmp(text, word, n) == 0)
			return true;
	return false;
}

/* "4-bit", "8 bit", "4bit": the number before "bit". */
static double bits_of(const char *text)
{
	const char *p = text;

	for (; *p; p++) {
		if (!isdigit((unsigned char)*p) || (p > text && isalnum((unsigned char)p[-1])))
			continue;
		for (const char *q = p; *q; q++) {
			if (strncasecmp(q, "bit", 3) == 0)
				return strtod(p, NULL);
			if (!isdigit((unsigned char)*q) && *q != ' ' && *q != '-')
				break;
		}
	}
	return 0;
}

static double frozen_bits(double bits)
{
	return bits == 4 ? 4.127 : bits == 2 ? 2.127 : bits;
}

int train_method(const char *text, struct tuning *out, struct err *err)
{
	static const char *const frozen[] = {
		"lora", "dora", "oft", "freeze", "galore", "badam", "apollo", "adapter", NULL};
	const double bits = bits_of(text);

	*out = (struct tuning){.kind = TUNE_FROZEN};
	for (const char *const *f = frozen; *f; f++) {
		if (!has(text, *f))
			continue;
		out->bits = frozen_bits(bits > 0 ? bits : has(text, "qlora") ? 4 : 16);
		return 0;
	}
	out->kind = TUNE_FULL;
	if (has(text, "8-bit adam") || has(text, "8bit adam") || has(text, "adam8bit"))
		out->state_bytes = has(text, "no master") || has(text, "pure") ? 6 : 10;
	else if (has(text, "pure"))
		out->state_bytes = 8;
	else if (has(text, "amp") || has(text, "megatron"))
		out->state_bytes = 18;
	else if (has(text, "full") || has(text, "adam"))
		out->state_bytes = 16;
	else {
		(void)err_set(err, E_NOTFOUND, "there is no training method '%.80s'", text);
		return err_hint(err, "known: full, AMP, pure bf16, 8-bit Adam, LoRA, QLoRA N-bit, "
				     "freeze, GaLore");
	}
	return 0;
}

double train_lora_params(const struct llm *m, double rank)
{
	const double q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;

	return rank * m->layers *
	       (2 * (m->hidden + q) + 2 * (m->hidden + kv) + 3 * (m->hidden + m->ffn));
}

double train_tuning_bytes(
	const struct tuning *t, const struct llm *m, double params, double rank, double seq)
{
	/* inputs of each layer, one layer live, logits in 16 and 32 bits */
	const double activations = 2 * m->hidden * m->layers * seq +
				   train_activation_llama(m, seq, 1, 1) + 6 * m->vocab * seq;

	if (t->kind == TUNE_FULL)
		return params * t->state_bytes + activations;
	return params * t->bits / 8 + 16 * constant(K_LORA_SHARE) * params * rank / 16 +
	       activations + constant(K_FINETUNE_WORKSPACE);
}

double train_flops_token(double params, double layers, double hidden, double seq, bool recompute)
{
	return (recompute ? 8 : 6) * params + 12 * layers * hidden * seq;
}

double train_flops_step(const struct llm *m, double batch, double seq, bool recompute)
{
	const double h = m->hidden, l = m->layers;

	return (recompute ? 96 : 72) * batch * seq * l * h * h *
	       (1 + seq / (6 * h) + m->vocab / ((recompute ? 16 : 12) * l * h));
}
