/* check_priv - what the files of catalog_check share. */
#pragma once

#include "inventory/catalog/catalog_check.h"

struct checker {
	const struct catalog *c, *reference;
	struct arena *a;
	struct catalog_findings *out;
	const struct catalog_entry *e;
};

/* A finding at the key's place, or the entry's when key is NULL. */
void check_find(struct checker *k, const char *rule, const char *key, bool remark, const char *fmt,
	...) __attribute__((format(printf, 5, 6)));
bool check_assumed(const struct checker *k, const char *key);
/* watts_max, else watts_planning; which one in *key. */
double check_watts(const struct checker *k, const char **key);

void check_gpu(struct checker *k);
