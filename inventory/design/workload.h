/*
 * workload - the designer's input: one YAML of tasks, what it leaves open, and the comparison.
 *
 *	design: name of it
 *	gpus: [h200-sxm-141gb, l40s]       # candidates; all of the catalogue when absent
 *	per_node: 8                        # GPUs of a server
 *	workloads:
 *	  - name: chat
 *	    kind: inference                # what this estimates today
 *	    model: llama-3.1-70b           # of the catalogue
 *	    precision: awq
 *	    kv_precision: bf16
 *	    prompt: 4096                   # tokens
 *	    answer: 512
 *	    sequences: 16                  # at once, or rps: requests a second
 *	    ttft_s: 2                      # limits
 *	    itl_ms: 50
 *
 * Every answer that is missing becomes a question with the default used and how far the number of
 * GPUs would move between a small and a large answer.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/yaml.h"
#include "inventory/design/choice.h"

#define WORKLOADS_MOST 32
#define QUESTIONS_MOST 16

struct question {
	const char *key;
	double used, low, high;     /* the default, and what others answer */
	double gpus_low, gpus_high; /* of the best card; NaN: does not fit then */
};

struct workload {
	const char *name;
	struct llm model;
	struct task task; /* task.model is &model */
	double rps;       /* 0: sequences told */
	unsigned n_questions;
	struct question questions[QUESTIONS_MOST];
	struct choice rows[CHOICE_MOST]; /* best first */
};

struct workload_set {
	const char *name;
	unsigned n, n_cards;
	struct workload at[WORKLOADS_MOST];
	struct card cards[CHOICE_MOST];
};

/* Reads and estimates all; texts live in the document's arena. Errors with their place. */
int workload_read(const struct yaml_doc *doc, const struct catalog *c, struct workload_set **out,
	struct err *err);
/* The comparison for a terminal: a table a task, the questions, what flips, the division. */
void workload_print(const struct workload_set *s, struct buf *out);
