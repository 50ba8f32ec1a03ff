/*
 * world_call - orders of a rollout: one at a time a node, each under a number of its own, and what
 * their records say of the first step that failed.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/rollout/world_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REBOOT_NET (10 * CLOCK_SEC)

/* Those of one mode are numbered first, first + step, ...: none is given twice. */
static const struct {
	enum order_mode mode;
	unsigned first, step;
	bool acts; /* a journal on the node tells what came of it */
} CALLS[] = {
	[CALL_PLAN] = {ORDER_PLAN, 1, 1, false},
	[CALL_BEFORE] = {ORDER_FACTS, 1, 3, false},
	[CALL_STAGE] = {ORDER_STAGE, 1, 1, false},
	[CALL_HOLDERS] = {ORDER_FACTS, 2, 3, false},
	[CALL_APPLY] = {ORDER_APPLY, 1, 1, true},
	[CALL_VERIFY] = {ORDER_CHECK, 1, 2, false},
	[CALL_WATCHED] = {ORDER_CHECK, 2, 2, false},
	[CALL_FAILURE] = {ORDER_EVIDENCE, 1, 2, false},
	[CALL_UNDO] = {ORDER_UNDO, 1, 1, true},
	[CALL_AFTER] = {ORDER_FACTS, 3, 3, false},
	[CALL_EVIDENCE] = {ORDER_EVIDENCE, 2, 2, false},
};

void world_answer_clear(struct answer *a)
{
	free(a->reason);
	free(a->hint);
	json_decref(a->facts);
	*a = (struct answer){0};
}

bool world_is_good(const struct answer *a)
{
	return a->state == RESULT_OK || a->state == RESULT_CHANGED || a->state == RESULT_SKIPPED;
}

static int64_t reboot_wait(const struct world *w)
{
	const struct rollout_policy *p = &w->order->policy;

	return p->reboot_within * (p->power_cycle ? 2 : 1) + REBOOT_NET;
}

/* The order could not even be given. */
static void refuse(struct world *w, size_t i, const struct err *err)
{
	struct world_node *n = &w->at[i];

	if (err->code == E_IO || err->code == E_NOSPACE || err->code == E_INTERNAL) {
		w->broken = *err;
		return;
	}
	n->answer = (struct answer){.there = true,
		.call = n->next,
		.state = RESULT_FAILED,
		.reason = xstrdup(err->msg),
		.hint = xstrdup(err->hint)};
}

void world_pump(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];
	const enum call call = n->next;
	struct err err = {0};
	unsigned number;

	if (!n->waiting || n->calling || w->broken.code)
		return;
	n->waiting = false;
	n->ignored = false;
	world_answer_clear(&n->answer);
	n->fault = (struct fault){0};
	number = CALLS[call].first + n->given[call] * CALLS[call].step;
	if (crew_call(w->crew, i, CALLS[call].mode, number, CALLS[call].acts && n->again,
		    reboot_wait(w), &err) < 0) {
		refuse(w, i, &err);
		return;
	}
	n->given[call]++;
	n->calling = true;
	n->call = call;
}

void world_call(struct world *w, size_t i, enum call call)
{
	struct world_node *n = &w->at[i];

	n->waiting = true;
	n->next = call;
	world_answer_clear(&n->answer);
	world_pump(w, i);
}

void world_drop(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];

	n->waiting = false;
	world_answer_clear(&n->answer);
	if (!n->calling || n->ignored)
		return;
	n->ignored = true;
	crew_drop(w->crew, i);
}

/* --- what nodes say --- */

static bool is_fault(const json_t *record, enum order_mode mode)
{
	const char *ev = json_get_str(record, "ev", "");
	const enum step_result r = result_parse(json_get_str(record, "state", "unknown"));

	if (strcmp(ev, "check") == 0)
		return r != RESULT_OK && r != RESULT_SKIPPED;
	if (strcmp(ev, "step") != 0 && strcmp(ev, "handler") != 0 && strcmp(ev, "undo") != 0 &&
		strcmp(ev, "recipe") != 0)
		return false;
	if (r == RESULT_FAILED || r == RESULT_DENIED || r == RESULT_TIMEOUT)
		return true;
	return mode == ORDER_CHECK && r == RESULT_CHANGED &&
	       !json_get_bool(record, "always", false);
}

/* Alike are those that failed at the same place of a recipe in the same way. */
static void sign_fault(struct fault *f, const json_t *record, enum order_mode mode)
{
	snprintf(f->signature, sizeof f->signature, "%s %.60s %lld %.20s %.20s %.12s",
		order_mode_name(mode), json_get_str(record, "recipe", ""),
		(long long)json_get_int(record, "step", 0), json_get_str(record, "kind", ""),
		json_get_str(record, "ev", ""), json_get_str(record, "state", ""));
}

static struct str first_of(const char *text, size_t n)
{
	return str_first_utf8(str_of(text), n);
}

static void keep_fault(struct fault *f, const json_t *record, enum order_mode mode)
{
	const struct str name =
		first_of(json_get_str(record, "name", json_get_str(record, "handler", "")), 120);
	const struct str why = first_of(json_get_str(record, "why", ""), 220);
	const struct str hint = first_of(json_get_str(record, "hint", ""), 230);
	const bool differs = strcmp(json_get_str(record, "state", ""), "changed") == 0;

	if (*f->signature || !is_fault(record, mode))
		return;
	sign_fault(f, record, mode);
	snprintf(f->what, sizeof f->what, "%.60s%s" STR_FMT, json_get_str(record, "recipe", ""),
		name.n > 0 ? ": " : "", STR_ARG(name));
	snprintf(f->why, sizeof f->why, "%s" STR_FMT, differs ? "differs: " : "", STR_ARG(why));
	snprintf(f->hint, sizeof f->hint, STR_FMT, STR_ARG(hint));
}

void world_crew_event(void *ctx, size_t i, enum order_mode mode, const json_t *record)
{
	struct world *w = ctx;
	struct world_node *n = &w->at[i];
	const char *ev = json_get_str(record, "ev", "");

	n->met = true;
	if (n->ignored)
		return;
	keep_fault(&n->fault, record, mode);
	if (strcmp(ev, "rebooting") == 0) {
		n->down = true;
		if (w->fence && !w->order->policy.reboot_by_fence)
			fence_restarts(w->fence, i, NULL);
	} else if (strcmp(ev, "back") == 0 || (strcmp(ev, "resume") == 0 && n->down)) {
		n->down = n->back = true; /* its going may have been told to a driver that died */
	} else if (strcmp(ev, "up") == 0) {
		n->up_at = w->now;
	} else {
		return;
	}
	world_look(w, i);
}

void world_crew_done(void *ctx, size_t i, enum order_mode mode, const struct node_result *result,
	const json_t *facts)
{
	struct world *w = ctx;
	struct world_node *n = &w->at[i];

	(void)mode;
	n->calling = false;
	if (facts || (result->plan_hash && *result->plan_hash))
		n->met = true;
	if (n->ignored) {
		n->ignored = false;
	} else {
		world_answer_clear(&n->answer);
		n->answer = (struct answer){.there = true,
			.call = n->call,
			.state = result->state,
			.heard = result->agent_process > 0,
			.reason = result->reason ? xstrdup(result->reason) : NULL,
			.hint = result->hint ? xstrdup(result->hint) : NULL,
			.facts = facts ? json_deep_copy(facts) : NULL};
	}
	world_pump(w, i);
	world_look(w, i);
}

/* What we keep ourselves is not a node's to write: a rollback is judged by it. */
static bool is_reserved(const char *name)
{
	return strcmp(name, CYCLE_FILE) == 0 || strcmp(name, FACTS_BEFORE) == 0 ||
	       strcmp(name, FACTS_AFTER) == 0;
}

void world_crew_evidence(void *ctx, size_t i, const char *name, struct str bytes)
{
	if (!is_reserved(name))
		world_keep_evidence(ctx, i, name, bytes);
}
