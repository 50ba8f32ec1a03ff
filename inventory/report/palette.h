/*
 * palette - the colours of pages and pictures: apart for colour-blind eyes, and never
 * the only sign. Feeds have a dash of their own too, verdicts a word.
 */
#pragma once

#include "inventory/audit/rule.h"

#define PALETTE_FEEDS 6

struct verdict_colour {
	const char *ink, *tint;
};
struct feed_colour {
	const char *ink, *dash; /* dash as stroke-dasharray wants it */
};

struct verdict_colour palette_verdict(enum audit_verdict v);
struct feed_colour palette_feed(unsigned i); /* again from the first after PALETTE_FEEDS */
