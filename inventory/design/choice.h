/*
 * choice - GPUs of the catalogue compared for one task of inference, and what would flip it.
 *
 * For each card the smallest number that holds the weights, the sequences at their context and
 * the limits of latency; cards divide into replicas of TP ranks. Pure: no look-ups, no output.
 */
#pragma once

#include "inventory/design/card.h"
#include "inventory/design/llm.h"

#define CHOICE_WHY  200
#define CHOICE_MOST 64

struct task {
	const struct llm *model;
	struct precision weights, kv;
	double isl, osl;    /* tokens of a prompt, of an answer */
	double sequences;   /* at once */
	double itl, ttft;   /* limits in seconds; 0: none */
	double utilisation; /* of the card's memory; 0: the engine's default */
	double per_node;    /* GPUs of a server; TP stays inside */
	bool all_context;   /* memory for the model's whole context, not isl + osl */
};

enum feature {
	FEATURE_FP8 = 1,
	FEATURE_FP4 = 2,
	FEATURE_NVLINK = 4, /* for all ranks of the TP group */
};

struct choice {
	struct card card;
	bool fits;
	char why[CHOICE_WHY]; /* what binds, or why not */
	double tp, replicas, gpus;
	double sequences;                    /* that its memory holds, all replicas */
	double tokens_s, itl, ttft;          /* at the sequences asked */
	double watts, price_low, price_high; /* of the cards; NaN: no price known */
	unsigned missing;                    /* features the task would use and the card lacks */
};

/* A row for each card, best first: those that fit, by price, then by count and watts. */
int choice_compare(const struct task *t, const struct card *cards, unsigned n, struct choice *rows,
	struct err *err);

struct flip {
	char when[CHOICE_WHY]; /* "context x4 (131,072 tokens)" */
	const char *from, *to; /* ids; to NULL: nothing fits then */
};
/* Changes one assumption at a time; those that change the first row. Returns how many. */
unsigned choice_flips(const struct task *t, const struct card *cards, unsigned n, struct flip *out,
	unsigned most);

/* Cards of one model over several tasks: each its own GPUs, one more if spare. 0: one does not fit.
 */
double choice_divide(
	const struct task *tasks, unsigned n, const struct card *card, bool spare, double *each);
