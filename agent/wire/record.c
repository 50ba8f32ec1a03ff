/* record - names of results, and how many results make one. */
#include "agent/wire/record.h"

#include <string.h>

static const char *const NAMES[RESULT_N] = {
	[RESULT_OK] = "ok",
	[RESULT_CHANGED] = "changed",
	[RESULT_SKIPPED] = "skipped",
	[RESULT_FAILED] = "failed",
	[RESULT_DENIED] = "denied",
	[RESULT_TIMEOUT] = "timeout",
	[RESULT_INTERRUPTED] = "interrupted",
	[RESULT_UNKNOWN] = "unknown",
};

/* Gravest first. */
static const enum step_result GRAVITY[] = {RESULT_FAILED, RESULT_DENIED, RESULT_TIMEOUT,
	RESULT_INTERRUPTED, RESULT_UNKNOWN, RESULT_CHANGED, RESULT_OK, RESULT_SKIPPED};

const char *result_name(enum step_result r)
{
	return (unsigned)r < RESULT_N ? NAMES[r] : "unknown";
}

enum step_result result_parse(const char *name)
{
	for (unsigned i = 0; name && i < RESULT_N; i++)
		if (strcmp(NAMES[i], name) == 0)
			return (enum step_result)i;
	return RESULT_UNKNOWN;
}

json_t *result_counts_json(const struct result_counts *c)
{
	json_t *obj = json_object();

	for (unsigned i = 0; i < RESULT_N; i++)
		if (c->n[i] > 0)
			json_put_int(obj, NAMES[i], c->n[i]);
	return obj;
}

void result_counts_parse(const json_t *obj, struct result_counts *out)
{
	for (unsigned i = 0; i < RESULT_N; i++) {
		const int64_t v = json_get_int(obj, NAMES[i], 0);

		out->n[i] = v > 0 && v <= UINT32_MAX ? (unsigned)v : 0;
	}
}

enum step_result result_counts_sum(const struct result_counts *c)
{
	for (unsigned i = 0; i < sizeof GRAVITY / sizeof *GRAVITY; i++)
		if (c->n[GRAVITY[i]] > 0)
			return GRAVITY[i];
	return RESULT_OK;
}
