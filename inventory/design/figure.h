/*
 * figure - one answer of the designer: a value in base units, its formula, its band.
 *
 * Base units: bytes, seconds, FLOP/s, B/s, watts, tokens/s, USD. The band is the error to print:
 * relative, absolute, or both (the larger counts). text is the formula with its symbols.
 */
#pragma once

#include "agent/base/buf.h"

enum unit {
	UNIT_COUNT,
	UNIT_BYTES,
	UNIT_SECONDS,
	UNIT_FLOPS,
	UNIT_BYTES_S,
	UNIT_TOKENS_S,
	UNIT_WATTS,
	UNIT_SHARE, /* printed as a percentage */
	UNIT_USD,
};

struct formula {
	const char *id; /* "KV-1": stable, for documents */
	const char *text;
	const char *source;
	enum unit unit;
	double band, band_abs;
};

struct figure {
	double value;
	const struct formula *formula;
	bool assumed; /* a default or a constant that is only assumed takes part */
};

/* The formulas by id; NULL: none. The last of the table has a NULL id. */
extern const struct formula FORMULAS[];
const struct formula *formula_find(const char *id);
/* "67.7 GiB +-2 GiB", "1,373 tok/s +-45 %". */
void figure_print(const struct figure *f, struct buf *out);
void unit_print(double value, enum unit unit, struct buf *out);
