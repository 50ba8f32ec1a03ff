/*
 * record - one line of a run's journal, which is also one event on the wire.
 *
 * JSON object, one per line: seq (1, 2, ...), at (wall ns), ev, and:
 *	start    run, mode, recipes [name], bundle, by, boot_id    in the journal only
 *	recipe   recipe, state ("skipped" with why) - only when not plain ok
 *	intent   recipe, step, name, kind, args, before     fsync'd before the step acts; args
 *without secrets, before as in step.h notify   recipe, handler                    fsync'd before
 *the change that calls for it step     recipe, step, name, kind, state, why, hint, diff, took_us;
 *never for an unchanged or skipped step; in a plan "changed" means that it would change handler
 *recipe, handler, state, why, hint, took_us check    recipe, name, state, why, hint     only when
 *it failed, or could not be told since    recipe, step, name, why            resumed: finished
 *before, and differs now resume   boot_id, by                        the run goes on from here end
 *state, counts, plan_hash, reason, took_us, cpu_us
 *
 * step is the 1-based index in its recipe. A torn line (power cut) is passed over by the reader.
 */
#pragma once

#include "agent/base/json.h"

enum step_result {
	RESULT_OK,
	RESULT_CHANGED,
	RESULT_SKIPPED,
	RESULT_FAILED,
	RESULT_DENIED,
	RESULT_TIMEOUT,
	RESULT_INTERRUPTED,
	RESULT_UNKNOWN,
	RESULT_N
};

const char *result_name(enum step_result r);
/* RESULT_UNKNOWN for a word that is none. */
enum step_result result_parse(const char *name);

struct result_counts {
	unsigned n[RESULT_N];
};
json_t *result_counts_json(
	const struct result_counts *c); /* only what is not zero; new reference */
void result_counts_parse(const json_t *obj, struct result_counts *out);
/* The state of a whole: failed > denied > timeout > interrupted > unknown > changed > ok > skipped.
 */
enum step_result result_counts_sum(const struct result_counts *c);
