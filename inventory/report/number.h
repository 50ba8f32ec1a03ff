/*
 * number - figures with units as a language writes them; the one place that does.
 *
 * Units are named in one spelling everywhere ("A", "kW", "C", "m2", "l/min") and
 * turned here: A and °C in English, А and °C in Russian. Decimal comma in Russian;
 * a narrow no-break space before the unit and between thousands from 10,000 on.
 */
#pragma once

#include "inventory/report/text.h"

/* "-" (a dash) for what is not stated. */
void number_add(struct buf *out, enum text_lang lang, double v, int decimals);
/* With its unit; decimals as the unit's figures deserve, W of a kilowatt and more as kW. */
void number_add_unit(struct buf *out, enum text_lang lang, double v, const char *unit);
/* A share as "62 %". */
void number_add_share(struct buf *out, enum text_lang lang, double share);
/* The unit as the language writes it; unknown ones as they are. */
const char *number_unit(enum text_lang lang, const char *unit);
/* How many decimals figures in that unit deserve. */
int number_decimals(const char *unit);
/*
 * Arithmetic written plainly ("0.80 x 63 A = 50.40 A") as the language writes it.
 * What stands in 'quotes' is a name and stays, in the language's quotes.
 */
void number_add_arithmetic(struct buf *out, enum text_lang lang, const char *text);
