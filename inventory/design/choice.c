/* choice - every TP is tried; the fewest GPUs win, then the smaller group. */
#include "inventory/design/choice.h"

#include "inventory/design/constant.h"
#include "inventory/design/need.h"
#include "inventory/design/serve.h"
#include "inventory/design/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double context_of(const struct task *t)
{
	return t->all_context && t->model->context > 0 ? t->model->context : t->isl + t->osl;
}

static void speed_of(const struct task *t, const struct card *c, double tp, struct speed *s)
{
	struct llm_parts p;

	llm_parts(t->model, &p);
	*s = (struct speed){
		.model = t->model, .params_active = p.active, .gpus = tp, .tp = tp, .pp = 1};
	s->weights = llm_weight_bytes(t->model, &t->weights, t->weights.whole ? 0 : TENSOR_USUAL);
	s->kv_token = llm_kv_bytes(t->model, context_of(t), t->kv.bits / 8) / context_of(t);
	s->memory = c->memory;
	s->bandwidth = c->bandwidth;
	s->flops = card_flops(c, t->weights.rate);
	s->busbw = card_busbw(c, tp);
}

/* Sequences that the memory of one replica holds, at the context asked. */
static double sequences_of(const struct task *t, const struct card *c, const struct speed *s)
{
	const struct budget b = {.engine = ENGINE_VLLM,
		.card_bytes = c->visible,
		.share = t->utilisation,
		.weights = s->weights / s->tp,
		.activation = -1,
		.non_torch = -1,
		.tp = s->tp};
	const double copies = s->tp / llm_kv_split(t->model, s->tp);
	double kv;

	if (serve_budget(&b, &kv, NULL) < 0)
		return 0;
	return serve_sequences(
		kv * s->tp / copies, s->kv_token, context_of(t), constant(K_BLOCK_TOKENS));
}

static unsigned missing_of(const struct task *t, const struct card *c, double tp)
{
	return (t->weights.rate == RATE_FP8 && c->flops[RATE_FP8] == 0 ? FEATURE_FP8 : 0) |
	       (t->weights.rate == RATE_FP4 && c->flops[RATE_FP4] == 0 ? FEATURE_FP4 : 0) |
	       (tp > c->domain ? FEATURE_NVLINK : 0);
}

/* One TP; false (and why) when a replica of it cannot serve a single sequence in time. */
static bool try_tp(const struct task *t, double tp, struct choice *row)
{
	struct speed s;
	double held, quick, each;

	speed_of(t, &row->card, tp, &s);
	held = sequences_of(t, &row->card, &s);
	if (held < 1) {
		(void)snprintf(row->why, sizeof row->why,
			"%.0f x %.1f GB hold no sequence of %.0f tokens beside weights of %.1f GB",
			tp, row->card.memory / GB, context_of(t), s.weights / GB);
		return false;
	}
	row->ttft = speed_prefill(&s, t->isl);
	if (t->ttft > 0 && row->ttft > t->ttft) {
		(void)snprintf(row->why, sizeof row->why,
			"TTFT %.2f s without a queue, %.2f s allowed", row->ttft, t->ttft);
		return false;
	}
	quick = t->itl > 0 ? floor(speed_batch_for(&s, t->itl, context_of(t), held)) : held;
	if (quick < 1) {
		(void)snprintf(row->why, sizeof row->why,
			"%.1f ms a token even alone, %.1f ms allowed",
			1e3 * speed_decode(&s, 1, context_of(t)), 1e3 * t->itl);
		return false;
	}
	row->tp = tp;
	row->replicas = ceil(t->sequences / quick);
	row->gpus = tp * row->replicas;
	row->sequences = held * row->replicas;
	each = ceil(t->sequences / row->replicas);
	row->itl = speed_decode(&s, each, context_of(t));
	row->tokens_s = row->replicas * speed_throughput(&s, each, t->isl, t->osl);
	row->watts = row->gpus * row->card.watts;
	row->price_low = row->gpus * row->card.price_low;
	row->price_high = row->gpus * row->card.price_high;
	row->missing = missing_of(t, &row->card, tp);
	(void)snprintf(row->why, sizeof row->why, "bound by %s: %.0f sequences a replica",
		quick < held ? "the latency" : "memory", quick);
	return true;
}

static void choose_tp(const struct task *t, const struct card *card, struct choice *out)
{
	struct choice best = {.card = *card};

	for (double tp = 1; tp <= t->per_node; tp *= 2) {
		struct choice row = {.card = *card};

		if (t->model->heads > 0 && fmod(t->model->heads, tp) != 0)
			continue;
		if (!try_tp(t, tp, &row)) {
			if (!best.fits)
				memcpy(best.why, row.why, sizeof best.why);
			continue;
		}
		row.fits = true;
		if (!best.fits || row.gpus < best.gpus)
			best = row;
	}
	*out = best;
}

static int order(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	const double px = (x->price_low + x->price_high) / 2,
		     py = (y->price_low + y->price_high) / 2;

	if (x->fits != y->fits)
		return x->fits ? -1 : 1;
	if (isnan(px) != isnan(py))
		return isnan(px) ? 1 : -1;
	if (x->fits && px != py && !isnan(px))
		return px < py ? -1 : 1;
	if (x->gpus != y->gpus)
		return x->gpus < y->gpus ? -1 : 1;
	if (x->watts != y->watts)
		return x->watts < y->watts ? -1 : 1;
	return strcmp(x->card.id, y->card.id);
}

int choice_compare(const struct task *t, const struct card *cards, unsigned n, struct choice *rows,
	struct err *err)
{
	int rc;

	if ((rc = need_above("input tokens", t->isl, err)) < 0 ||
		(rc = need_above("output tokens", t->osl, err)) < 0 ||
		(rc = need_whole("sequences", t->sequences, 1, 1e6, err)) < 0 ||
		(rc = need_whole("GPUs of a server", t->per_node, 1, 1024, err)) < 0)
		return rc;
	if (t->model->hidden == 0 || t->model->layers == 0)
		return err_set(
			err, E_SCHEMA, "the architecture of '%s' is not known", t->model->name);
	if (t->model->context > 0 && t->isl + t->osl > t->model->context)
		return err_set(err, E_CONFLICT, "a context of %.0f is beyond the %.0f of '%s'",
			t->isl + t->osl, t->model->context, t->model->name);
	for (unsigned i = 0; i < n; i++)
		choose_tp(t, &cards[i], &rows[i]);
	if (n > 1)
		qsort(rows, n, sizeof *rows, order);
	return 0;
}

static const char *winner(const struct task *t, const struct card *cards, unsigned n)
{
	static _Thread_local struct choice rows[CHOICE_MOST];

	if (n > CHOICE_MOST)
		n = CHOICE_MOST;
	if (n == 0 || choice_compare(t, cards, n, rows, NULL) < 0 || !rows[0].fits)
		return NULL;
	return rows[0].card.id;
}

unsigned choice_flips(
	const struct task *t, const struct card *cards, unsigned n, struct flip *out, unsigned most)
{
	const char *from = winner(t, cards, n);
	struct {
		struct task task;
		char when[CHOICE_WHY];
	} tries[6];
	unsigned found = 0, k = 0;

#define TRY(field, by, ...)                                                       \
	do {                                                                      \
		tries[k].task = *t;                                               \
		tries[k].task.field *= by;                                        \
		(void)snprintf(tries[k].when, sizeof tries[k].when, __VA_ARGS__); \
		k++;                                                              \
	} while (0)
	TRY(isl, 4, "prompts x4 (%.0f tokens)", 4 * t->isl);
	TRY(sequences, 4, "four times the sequences (%.0f)", 4 * t->sequences);
	TRY(sequences, 16, "sixteen times the sequences (%.0f)", 16 * t->sequences);
	TRY(itl, 0.5, "half the time per token (%.1f ms)", 500 * t->itl);
	TRY(ttft, 0.5, "half the time to the first token (%.2f s)", t->ttft / 2);
	TRY(weights.bits, 2, "weights of twice the bits (%.3g)", 2 * t->weights.bits);
#undef TRY
	for (unsigned i = 0; i < k && found < most; i++) {
		const char *to = winner(&tries[i].task, cards, n);

		if (from == to || (from && to && strcmp(from, to) == 0))
			continue;
		out[found].from = from;
		out[found].to = to;
		memcpy(out[found++].when, tries[i].when, sizeof tries[i].when);
	}
	return found;
}

double choice_divide(
	const struct task *tasks, unsigned n, const struct card *card, bool spare, double *each)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		struct choice row;

		if (choice_compare(&tasks[i], card, 1, &row, NULL) < 0 || !row.fits)
			return 0;
		each[i] = row.gpus;
		sum += row.gpus;
	}
	return sum + (spare ? 1 : 0);
}
