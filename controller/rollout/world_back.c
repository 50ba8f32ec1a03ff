/*
 * world_back - the way back (undo, restart, facts as before, the fence opened), and nodes at rest.
 */
#include "agent/base/clock.h"
#include "controller/rollout/world_priv.h"

#include <stdio.h>
#include <string.h>

#define REASON_WAIT (20 * CLOCK_SEC) /* for a scheduler to take a reason, of nodes at rest */

static bool is_kept_off(const struct world *w, size_t i)
{
	const struct fence_view *v;

	if (!world_has_fence(w, i))
		return true;
	v = world_view(w, i);
	return fence_is_closed(v) ||
	       (fence_is_foreign(v) && (v->state == FENCE_CLOSED || v->state == FENCE_DOWN));
}

static void wait_for_undo(struct world *w, size_t i)
{
	const int64_t waited = w->now - w->at[i].entered;

	if (is_kept_off(w, i)) {
		w->at[i].phase = 2;
		world_call(w, i, CALL_UNDO);
		return;
	}
	if (waited >= w->order->policy.fence.deadline)
		world_move_jobs(w, i);
	world_note(w, i, "its jobs to end, before it is taken back");
}

/* A restart on the way back: who holds the fence does it, if the policy says so. */
static void look_undone(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];

	if (n->answer.there && world_is_good(&n->answer)) {
		n->phase = 3;
		world_call(w, i, CALL_AFTER);
	} else if (n->answer.there) {
		world_tell_failure(w, i, EVENT_FAILED);
	} else if (n->back && n->down) {
		n->down = false;
		if (w->fence)
			fence_want(w->fence, i, WANT_CLOSED, "it is taken back");
	} else if (n->down && !n->asked_restart) {
		n->asked_restart = true;
		if (w->fence && w->order->policy.reboot_by_fence)
			fence_want(w->fence, i, WANT_REBOOT, "it restarts, taken back");
	}
}

/* *differs: what is not as it was, or why that cannot be told. */
static bool is_as_before(struct world *w, size_t i, char differs[static 200])
{
	AUTO_BUF text = {0};
	AUTO_JSON before = NULL;

	buf_init(&text, 4u << 20);
	if (world_read_evidence(w, i, FACTS_BEFORE, &text, NULL) < 0 ||
		json_parse(buf_str(&text), 4u << 20, "facts", &before, NULL) < 0) {
		snprintf(differs, 200,
			"the facts from before are gone: nobody can tell whether it is as it was");
		return false;
	}
	return !facts_differ(before, w->at[i].answer.facts, differs);
}

static void look_after(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];
	char differs[200];

	if (!n->answer.there)
		return;
	if (!world_is_good(&n->answer) || !n->answer.facts) {
		world_tell_failure(w, i, EVENT_FAILED);
		return;
	}
	world_keep_facts(w, i, FACTS_AFTER);
	if (!is_as_before(w, i, differs)) {
		world_tell_word(w, i, EVENT_FAILED, differs, NULL, "not as before");
		return;
	}
	n->phase = 4;
	if (w->fence)
		fence_want(w->fence, i, WANT_OPEN, "as before");
	world_look(w, i);
}

void world_look_rollback(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];
	char why[200];

	if (n->phase == 0 && n->answer.there)
		n->phase = 1;
	if (n->phase == 1)
		wait_for_undo(w, i);
	else if (n->phase == 2)
		look_undone(w, i);
	else if (n->phase == 3)
		look_after(w, i);
	else if (n->phase == 4 && world_is_given_back(w, i, why))
		world_tell(w, i, EVENT_OK, *why ? why : "as before");
}

/* --- at rest --- */

static bool is_kept(enum node_state s)
{
	return s == STATE_QUARANTINED || s == STATE_UNREACHABLE;
}

/* The scheduler says of it what the run does. */
static bool is_told(struct world *w, size_t i)
{
	const enum node_state s = w->at[i].state;
	char why[200];

	if (!world_has_fence(w, i))
		return true;
	if (is_kept(s))
		return strstr(world_view(w, i)->reason, NODE_STATES[s]);
	return !world_view(w, i)->ours || world_is_given_back(w, i, why);
}

/* It has had the time for it. */
static bool is_late(const struct world *w, size_t i)
{
	const int64_t most =
		is_kept(w->at[i].state) ? REASON_WAIT : w->order->policy.timeouts[TIMEOUT_FENCE];

	return w->now - w->at[i].entered >= most;
}

void world_look_at_rest(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];
	struct err err = {0};
	const bool told = is_told(w, i);

	if (n->calling || n->waiting || (!told && !is_late(w, i)))
		return;
	if (!told && !is_kept(n->state))
		world_say_kept_off(w, i, world_view(w, i)->trouble);
	n->at_work = false;
	n->settled = true;
	if (crew_release(w->crew, i, &err) < 0)
		w->broken = err;
}
