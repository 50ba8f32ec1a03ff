/*
 * traffic - what GPUs of a training layout say to each other in a step, against what they compute.
 *
 * Sizing book 1.10 and 1.11: tensor parallelism is exposed, data parallelism hides behind 0.7 of
 * the backward pass, pipelines send a boundary a microbatch, experts exchange tokens twice each
 * way. A level whose share of the step is too large says so: that is the lint's figure.
 */
#pragma once

#include "inventory/design/pace.h"

enum level {
	LEVEL_TP,
	LEVEL_PP,
	LEVEL_DP,
	LEVEL_EP,
	LEVELS,
};

struct wires {
	double domain;  /* GPUs that NVLink joins */
	double inside;  /* all-reduce bus bandwidth in the domain, B/s */
	double outside; /* of one GPU's share of the network, B/s one way */
};

struct step {
	double compute; /* seconds of a step without any talk */
	struct {
		double bytes;   /* a GPU sends in a step */
		double seconds; /* that takes */
		double exposed; /* of it not hidden by compute */
		bool crosses;   /* leaves the NVLink domain */
	} level[LEVELS];
	double seconds; /* compute, bubble and what is exposed */
};

/* zero: stage 0 to 3; batch: sequences of seq tokens in a step; ep: ranks of the experts. +-30 %.
 */
int traffic_step(const struct llm *m, const struct layout *l, const struct card *c,
	const struct wires *w, double batch, double seq, int zero, double ep, struct step *out,
	struct err *err);
/* The level that costs most of the step, and its share; LEVELS: none is exposed. */
enum level traffic_worst(const struct step *s, double *share);
