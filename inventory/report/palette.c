/* palette - feeds by Okabe and Ito; verdicts keep a contrast of 4.5 to 1 on their tint. */
#include "inventory/report/palette.h"

struct verdict_colour palette_verdict(enum audit_verdict v)
{
	static const struct verdict_colour all[AUDIT_VERDICT_N] = {
		[AUDIT_PASS] = {"#00594f", "#e0f0ed"},
		[AUDIT_WARN] = {"#7a4f00", "#fdf0cc"},
		[AUDIT_CONDITIONAL] = {"#53348a", "#ebe4f5"},
		[AUDIT_FAIL] = {"#a50f15", "#fcdcda"},
	};

	return all[v < AUDIT_VERDICT_N ? v : AUDIT_FAIL];
}

struct feed_colour palette_feed(unsigned i)
{
	static const struct feed_colour all[PALETTE_FEEDS] = {
		{"#0072b2", "none"},
		{"#d55e00", "7 2"},
		{"#009e73", "2 2"},
		{"#b0528c", "8 2 2 2"},
		{"#3a9bd0", "4 3"},
		{"#b77f00", "1 2"},
	};

	return all[i % PALETTE_FEEDS];
}
