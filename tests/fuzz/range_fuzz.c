/* range_fuzz - any text as a node range; what resolves folds and resolves to the same. */
#include "agent/base/mem.h"
#include "controller/fleet/range.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct node_row ROWS[] = {
	{.name = "gpu1",
		.rack = "R1",
		.role = "gpu",
		.site = "a",
		.state = "ready",
		.device_type = "t"},
	{.name = "gpu02",
		.rack = "R2",
		.role = "gpu",
		.site = "a",
		.state = "ready",
		.device_type = ""},
	{.name = "n1-s2",
		.rack = "",
		.role = "x",
		.site = "b",
		.state = "failed",
		.device_type = ""},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct node_rows all = {ROWS, sizeof ROWS / sizeof *ROWS, 0};
	struct node_refs refs = VEC_INIT, again = VEC_INIT;
	AUTO_STR expr = xstrndup((const char *)data, size);
	AUTO_BUF folded = {0};

	buf_init(&folded, 1 << 20);
	if (range_resolve(expr, &all, &refs, NULL) == 0) {
		range_fold(&refs, &folded);
		if (range_resolve(buf_text(&folded), &all, &again, NULL) != 0 || again.n != refs.n)
			abort();
	}
	vec_done(&refs);
	vec_done(&again);
	return 0;
}
