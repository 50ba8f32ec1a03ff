/* workload_print - the comparison as text. */
#include "inventory/design/constant.h"
#include "inventory/design/workload.h"

#include <math.h>
#include <string.h>

static void print_price(const struct choice *r, struct buf *out)
{
	if (isnan(r->price_low))
		buf_addf(out, "%17s", "price unknown");
	else
		buf_addf(out, "%7.0f-%.0f kUSD", r->price_low / 1e3, r->price_high / 1e3);
	if (r->card.price_date)
		buf_addf(out, " (%s)", r->card.price_date);
}

static void print_row(const struct choice *r, struct buf *out)
{
	if (!r->fits) {
		buf_addf(out, "  %-24s no: %s\n", r->card.id, r->why);
		return;
	}
	buf_addf(out, "  %-24s %4.0f %3.0f %6.0f %8.0f %7.0f %7.1f %8.0f ", r->card.id, r->gpus,
		r->tp, r->sequences, r->tokens_s, 1e3 * r->ttft, 1e3 * r->itl, r->watts);
	print_price(r, out);
	buf_addf(out, "; %s%s%s%s\n", r->why, r->missing & FEATURE_FP8 ? "; no FP8" : "",
		r->missing & FEATURE_FP4 ? "; no FP4" : "",
		r->missing & FEATURE_NVLINK ? "; TP over PCIe" : "");
}

static void print_gpus(double gpus, struct buf *out)
{
	if (isnan(gpus))
		buf_add_text(out, "none that fits");
	else
		buf_addf(out, "%.0f GPUs", gpus);
}

static void print_questions(const struct workload *w, struct buf *out)
{
	for (unsigned i = 0; i < w->n_questions; i++) {
		const struct question *q = &w->questions[i];

		buf_addf(out, "  question: what is '%s'? %.0f is used; %.0f would need ", q->key,
			q->used, q->low);
		print_gpus(q->gpus_low, out);
		buf_addf(out, ", %.0f ", q->high);
		print_gpus(q->gpus_high, out);
		buf_add_char(out, '\n');
	}
}

static void print_flips(const struct workload_set *s, const struct workload *w, struct buf *out)
{
	struct flip flips[8];
	const unsigned n = choice_flips(&w->task, s->cards, s->n_cards, flips, 8);

	for (unsigned i = 0; i < n; i++)
		buf_addf(out, "  with %s the choice is %s\n", flips[i].when,
			flips[i].to ? flips[i].to : "none of these");
}

static void print_division(const struct workload_set *s, struct buf *out)
{
	struct task tasks[WORKLOADS_MOST];
	double each[WORKLOADS_MOST];

	if (s->n < 2)
		return;
	for (unsigned i = 0; i < s->n; i++)
		tasks[i] = s->at[i].task;
	buf_add_text(out, "one card for all, with one to spare:\n");
	for (unsigned c = 0; c < s->n_cards; c++) {
		const double sum = choice_divide(tasks, s->n, &s->cards[c], true, each);

		if (sum == 0)
			continue;
		buf_addf(out, "  %-24s %4.0f =", s->cards[c].id, sum);
		for (unsigned i = 0; i < s->n; i++)
			buf_addf(out, " %s %.0f +", s->at[i].name, each[i]);
		buf_add_text(out, " 1\n");
	}
}

void workload_print(const struct workload_set *s, struct buf *out)
{
	buf_addf(out, "%s\n", s->name);
	for (unsigned i = 0; i < s->n; i++) {
		const struct workload *w = &s->at[i];

		buf_addf(out, "%s: %s in %s, %.0f sequences of %.0f + %.0f tokens\n", w->name,
			w->model.name, w->task.weights.name, w->task.sequences, w->task.isl,
			w->task.osl);
		buf_addf(out, "  %-24s %4s %3s %6s %8s %7s %7s %8s %s\n", "CARD", "GPUS", "TP",
			"HOLD", "TOK/S", "TTFT ms", "ITL ms", "WATTS", "PRICE OF THE CARDS");
		for (unsigned k = 0; k < s->n_cards; k++)
			print_row(&w->rows[k], out);
		print_questions(w, out);
		print_flips(s, w, out);
	}
	print_division(s, out);
	buf_add_text(out,
		"bands: throughput +-45 %, TTFT without a queue +-25 %, memory +-2 GiB a GPU; "
		"formulas CAP-1 BUD-1 SPD-1 SPD-2 SPD-3\n");
}
