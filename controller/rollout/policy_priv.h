/* policy_priv - reading a policy, shared by policy.c and policy_fence.c. */
#pragma once

#include "agent/base/yaml.h"
#include "controller/rollout/policy.h"

struct reader {
	struct arena *arena;
	const struct yaml_doc *doc;
	struct rollout_policy *out;
};

/* A time such as 90s or 8h, at most 30 days. */
int policy_read_span(const struct reader *r, const struct yaml_node *n, const char *what,
	int64_t *out, struct err *err);
/* The number of a word in a NULL-terminated list. */
int policy_read_word(const struct reader *r, const struct yaml_node *n, const char *what,
	const char *const *words, unsigned *out, struct err *err);

int policy_read_fence(const struct reader *r, const struct yaml_node *map, struct err *err);
int policy_read_reboot(const struct reader *r, const struct yaml_node *map, struct err *err);
int policy_read_timeouts(const struct reader *r, const struct yaml_node *map, struct err *err);
/* What does not go together, once all of it is read. */
int policy_judge_fence(const struct reader *r, const struct yaml_node *root, struct err *err);
