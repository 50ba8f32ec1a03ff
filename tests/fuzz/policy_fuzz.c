/* policy_fuzz - any text as a rollout policy; what is read makes a plan whose limits are kept. */
#include "agent/base/err.h"
#include "controller/rollout/rollout.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rollout_domain DOMAINS[] = {{"rack", "R1"}, {"type", "x"}, {"nvl", "d1"}};
static const struct rollout_node NODES[] = {{"n1", DOMAINS, 3, false}, {"n2", DOMAINS, 3, false},
	{"n3", DOMAINS, 2, true}, {"n4", DOMAINS + 1, 1, false}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = {(const char *)data, size};
	struct arena *a = arena_new();
	struct rollout_policy policy;
	struct rollout *r;
	const size_t *who;

	if (rollout_policy_parse(a, "fuzz", text, &policy, NULL) == 0 &&
		rollout_new(&policy, NODES, 4, NULL, &r, NULL) == 0) {
		/* the window may be closed for days */
		const int64_t wall = rollout_window(r, 1000000000);
		const size_t n = rollout_admit(r, 0, wall, 0, &who);

		if (n > 0 && n + 1 > amount_of(policy.max_unavailable, 4))
			abort();
		rollout_free(r);
	}
	arena_free(a);
	return 0;
}
