/* look - one node's records and result as a report on drift. */
#include "controller/serve/look.h"

#include "agent/base/clock.h"

#include <string.h>

#define DIFF_HEAD 2000 /* bytes kept of a finding's diff */

void look_begin(struct look *l, struct arena *a, const struct node_row *node)
{
	*l = (struct look){.arena = a};
	l->report = (struct drift_report){.node = node->id,
		.node_name = node->name,
		.run = "",
		.recipes = "",
		.reason = "",
		.hint = "",
		.state = DRIFT_UNKNOWN};
	l->report.findings = arena_alloc(a, DRIFT_FINDINGS_MAX * sizeof *l->report.findings);
}

/* Whole lines of the diff. */
static const char *head_of(struct arena *a, const char *diff)
{
	struct str text = str_of(diff);

	if (text.n > DIFF_HEAD) {
		size_t n = DIFF_HEAD;

		while (n > 0 && text.p[n - 1] != '\n')
			n--;
		text = str_first(text, n);
	}
	return arena_text(a, text);
}

static void add_finding(struct look *l, const json_t *record, const char *state)
{
	struct drift_report *r = &l->report;
	struct arena *a = l->arena;

	if (r->n_found++ >= DRIFT_FINDINGS_MAX)
		return;
	r->findings[r->n++] = (struct drift_finding){
		.recipe = arena_strdup(a, json_get_str(record, "recipe", "")),
		.step = (unsigned)json_get_int(record, "step", 0),
		.name = arena_strdup(a, json_get_str(record, "name", "")),
		.state = state,
		.why = arena_strdup(a, json_get_str(record, "why", "")),
		.diff = head_of(a, json_get_str(record, "diff", "")),
	};
}

/* A handler only follows a step that is told already; a step that differs by nature is no drift. */
void look_record(struct look *l, const json_t *record)
{
	const char *ev = json_get_str(record, "ev", "");
	const enum step_result state = result_parse(json_get_str(record, "state", ""));
	const bool is_check = strcmp(ev, "check") == 0;

	if (!is_check && strcmp(ev, "step") != 0 && strcmp(ev, "recipe") != 0)
		return;
	if (state == RESULT_UNKNOWN) {
		l->unknown++;
		return;
	}
	if (state == RESULT_OK || state == RESULT_SKIPPED || json_get_bool(record, "always", false))
		return;
	if (!is_check && state != RESULT_CHANGED)
		l->step_failed = true;
	add_finding(l, record, is_check ? "fails" : state == RESULT_CHANGED ? "differs" : "failed");
}

/* The node said what it found, though not all of it may have been good. */
static enum drift_state judge(const struct look *l, const struct node_result *r)
{
	const bool answered = r->state == RESULT_OK || r->state == RESULT_CHANGED ||
			      r->state == RESULT_SKIPPED || (r->plan_hash && *r->plan_hash);

	if (l->step_failed || (!answered && l->report.n_found == 0))
		return r->state == RESULT_UNKNOWN && !l->step_failed ? DRIFT_UNKNOWN : DRIFT_FAILED;
	if (l->report.n_found > 0)
		return DRIFT_DRIFT;
	return l->unknown > 0 ? DRIFT_UNKNOWN : DRIFT_OK;
}

void look_end(struct look *l, const struct node_result *r, bool reached)
{
	struct drift_report *d = &l->report;

	d->at = clock_wall() / CLOCK_SEC;
	d->reason = arena_strdup(l->arena, r->reason ? r->reason : "");
	d->hint = arena_strdup(l->arena, r->hint ? r->hint : "");
	d->state = reached ? judge(l, r) : DRIFT_UNREACHABLE;
	if (d->state == DRIFT_OK || d->state == DRIFT_DRIFT)
		d->reason = d->hint = "";
	if (d->state == DRIFT_UNKNOWN && !*d->reason)
		d->reason =
			arena_printf(l->arena, "%u step%s cannot be told before others are done",
				l->unknown, l->unknown == 1 ? "" : "s");
}
