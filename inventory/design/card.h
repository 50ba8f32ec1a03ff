/*
 * card - a GPU of the catalogue as the estimators need it, in base units.
 */
#pragma once

#include "inventory/catalog/catalog.h"
#include "inventory/design/precision.h"

struct card {
	const char *id, *name; /* of the catalogue */
	double memory;         /* bytes, as sold (decimal) */
	double visible;        /* bytes, as the driver shows it */
	double bandwidth;      /* B/s */
	double flops[4];       /* dense, by enum rate; 0: it has none */
	double nvlink;         /* one direction, B/s; 0: none */
	double pcie;           /* one direction, B/s */
	double watts;
	unsigned nvdec, domain;       /* GPUs that NVLink joins; 1: none */
	double price_low, price_high; /* NaN: unknown */
	const char *price_date;
	bool nvls, assumed;
};

/* By id or by any usual name, "A100-80GB-SXM", "RTX PRO 6000 SE". E_NOTFOUND. */
int card_find(const struct catalog *c, const char *name, struct card *out, struct err *err);
/* Dense rate for weights of that kind; falls back to bf16 where the card has none. FLOP/s. */
double card_flops(const struct card *c, enum rate rate);
/* All-reduce bus bandwidth inside a node of n of them, B/s. Sizing book 1.10. */
double card_busbw(const struct card *c, double n);
