/*
 * record - one line of a run's journal, which is also one event on the wire.
 *
 * A JSON object: seq (1, 2, ...), at (wall ns), ev, and what ev says:
 *	start      run, mode, recipes [name], bundle, by, boot_id; in the journal only
 *	recipe     recipe, state ("skipped" with why); only when not plain ok
 *	intent     recipe, step, item, name, kind, boot_id, args, before, notify; fsync'd before the
 *	           step acts. args without secrets, before as in step.h. undo: the id of what is
 *	           taken back
 *	notify     recipe, handler; fsync'd before the change that calls for it
 *	step       recipe, step, item, name, kind, state, why, hint, diff, took_us, after; never for
 *	           an unchanged or skipped step, unless it has something to tell (then "ok"). In a
 *	           plan "changed" means that it would change. always: true: it differs by nature
 *	stage      as step: what an apply would need was fetched (why), or could not be; on the link
 *	           only. Of steps taken together one record, of the first
 *	handler    recipe, handler, state, why, hint, took_us
 *	check      recipe, name, id, state, why, hint; only when it failed, or could not be told; or
 *	           with level "warn" and state "ok": false, and no failure
 *	undo       recipe, step, name, kind, entry, state, why, hint; what became of one remembered
 *	           change. done: true: it is remembered no longer; with undo_of (a run) its share
 *	defective  recipe, why, hint; steps changed something in two applies running
 *	since      recipe, step, name, why; resumed: finished before, and differs now
 *	rebooting  recipe, step, name, boot_id, within (s); the node goes down now, or waits for
 *	           whoever is to restart it (asked: true). undo: true: at the end of an undo
 *	waits      why ("needs secret 'NAME'"); the run stands still until it is resumed
 *	resume     boot_id, by; the run goes on from here
 *	end        state, counts, plan_hash, reason, hint, took_us, cpu_us
 *
 * step is the 1-based index in its recipe, item the 1-based one in the list of each. A torn line
 * (power cut) is passed over by the reader. args, before, after stay on the node.
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
