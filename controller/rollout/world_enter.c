/* world_enter - what each state begins: a want of the fence, an order, a watch. */
#include "agent/base/clock.h"
#include "controller/rollout/world_priv.h"

#include <stdio.h>
#include <string.h>

#define WHY_MAX 200

bool world_has_fence(const struct world *w, size_t i)
{
	const struct fence_view *v = w->fence ? fence_look(w->fence, i) : NULL;

	/* absent for a reason: it has the node by another name */
	return v && (v->state != FENCE_ABSENT || *v->reason);
}

static void want(struct world *w, size_t i, enum fence_want what, const char *why)
{
	char words[WHY_MAX];

	snprintf(words, sizeof words, "%.60s: %.120s", w->order->policy.name, why);
	if (w->fence)
		fence_want(w->fence, i, what, words);
}

static void keep_closed(struct world *w, size_t i)
{
	want(w, i, WANT_CLOSED, "it is changed");
}

/* --- by state --- */

static void enter_nothing(struct world *w, size_t i)
{
	(void)w;
	(void)i;
}

static void enter_staged(struct world *w, size_t i)
{
	world_call(w, i, CALL_STAGE);
}

static void enter_cordoned(struct world *w, size_t i)
{
	keep_closed(w, i);
}

static void enter_wait_jobs(struct world *w, size_t i)
{
	w->at[i].moved_jobs = false;
	enter_cordoned(w, i);
}

static void enter_drained(struct world *w, size_t i)
{
	enter_cordoned(w, i);
	world_call(w, i, CALL_HOLDERS);
}

static void enter_quiesced(struct world *w, size_t i)
{
	w->at[i].down = w->at[i].back = false;
	keep_closed(w, i);
	world_call(w, i, CALL_APPLY);
}

/* The apply goes on; after a crash it is asked after. */
static void follow_apply(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];
	const bool asked = n->call == CALL_APPLY && (n->calling || n->answer.there);

	if (!asked && !(n->waiting && n->next == CALL_APPLY))
		world_call(w, i, CALL_APPLY);
}

/* It went down in this run, under a driver that died: whoever opens it waits for its new daemon. */
static void remember_restart(struct world *w, size_t i)
{
	AUTO_JSON memory = NULL;

	if (!w->fence || !w->at[i].memory || !world_was_in(w, i, STATE_REBOOTING))
		return;
	if (json_parse(str_of(w->at[i].memory), 64u << 10, "memory", &memory, NULL) == 0)
		fence_restarts(w->fence, i, memory);
}

static void enter_rebooting(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];
	AUTO_BUF text = {0};

	buf_init(&text, 1u << 20);
	n->down = true;
	if (n->again)
		n->cycled = world_read_evidence(w, i, CYCLE_FILE, &text, NULL) == 0;
	if (w->order->policy.reboot_by_fence)
		want(w, i, WANT_REBOOT, "it restarts");
	else
		keep_closed(w, i);
	follow_apply(w, i);
}

static void enter_services(struct world *w, size_t i)
{
	w->at[i].down = true;
	keep_closed(w, i);
	follow_apply(w, i);
}

static void enter_verify(struct world *w, size_t i)
{
	keep_closed(w, i);
	world_call(w, i, CALL_VERIFY);
}

static void enter_returned(struct world *w, size_t i)
{
	want(w, i, WANT_OPEN, "its validators passed");
}

static void enter_soak(struct world *w, size_t i)
{
	world_call(w, i, CALL_WATCHED);
}

/* What failed is looked at before it is taken back. */
static void enter_rollback(struct world *w, size_t i)
{
	w->at[i].down = w->at[i].back = false;
	w->at[i].moved_jobs = w->at[i].asked_restart = false;
	want(w, i, WANT_CLOSED, "it is taken back");
	world_call(w, i, CALL_FAILURE);
}

static void enter_kept(struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];
	char words[WHY_MAX];

	snprintf(words, sizeof words, "%s: %.150s", NODE_STATES[n->state],
		n->reason ? n->reason : "see the run");
	want(w, i, WANT_CLOSED, words);
	world_call(w, i, CALL_EVIDENCE);
}

static void enter_rejected(struct world *w, size_t i)
{
	if (w->at[i].met && !w->at[i].again)
		world_call(w, i, CALL_EVIDENCE);
}

static void enter_given_back(struct world *w, size_t i)
{
	want(w, i, WANT_OPEN, "given back");
}

static void (*const ENTER[STATE_N])(struct world *w, size_t i) = {
	[STATE_ELIGIBLE] = enter_nothing,
	[STATE_PREFLIGHT] = enter_nothing,
	[STATE_STAGED] = enter_staged,
	[STATE_CORDONED] = enter_cordoned,
	[STATE_WAIT_JOBS] = enter_wait_jobs,
	[STATE_DRAINED] = enter_drained,
	[STATE_QUIESCED] = enter_quiesced,
	[STATE_INSTALLED] = follow_apply,
	[STATE_REBOOTING] = enter_rebooting,
	[STATE_SERVICES] = enter_services,
	[STATE_VERIFY] = enter_verify,
	[STATE_RETURNED] = enter_returned,
	[STATE_SOAK] = enter_soak,
	[STATE_DONE] = enter_given_back,
	[STATE_REJECTED] = enter_rejected,
	[STATE_RELEASED] = enter_given_back,
	[STATE_ROLLBACK] = enter_rollback,
	[STATE_UNDONE] = enter_given_back,
	[STATE_QUARANTINED] = enter_kept,
	[STATE_UNREACHABLE] = enter_kept,
	[STATE_ABORTED] = enter_given_back,
};

/* The states that one apply goes through. */
static bool follows_apply(enum node_state s)
{
	return s == STATE_INSTALLED || s == STATE_REBOOTING || s == STATE_SERVICES;
}

static bool may_have_restarted(enum node_state s)
{
	return s == STATE_REBOOTING || s == STATE_SERVICES || s == STATE_VERIFY ||
	       s == STATE_RETURNED || s == STATE_ROLLBACK;
}

void world_enter(void *ctx, size_t i, enum node_state state, unsigned tries, bool again)
{
	struct world *w = ctx;
	struct world_node *n = &w->at[i];

	if (!follows_apply(state))
		world_drop(w, i);
	n->state = state;
	n->tries = tries;
	n->again = again;
	n->phase = 0;
	n->entered = w->now;
	n->at_work = true;
	n->settled = false;
	if (!n->listed)
		*vec_push(&w->busy) = i;
	n->listed = true;
	if (again && may_have_restarted(state))
		remember_restart(w, i);
	ENTER[state](w, i);
	world_look(w, i);
}

void world_leave(void *ctx, size_t i, enum node_state state)
{
	struct world *w = ctx;

	(void)state;
	w->at[i].at_work = false;
}

bool world_is_away(void *ctx, size_t i, char why[static 200])
{
	const struct world *w = ctx;
	const struct fence_view *v = w->fence ? fence_look(w->fence, i) : NULL;

	if (!v || !fence_is_foreign(v))
		return false;
	const struct str by = str_first_utf8(str_of(v->by), 40);
	const struct str reason =
		str_first_utf8(str_of(*v->reason ? v->reason : "no reason is given"), 120);

	snprintf(why, 200, "%s%s" STR_FMT ": " STR_FMT, v->state == FENCE_DOWN ? "down" : "drained",
		by.n > 0 ? " by " : "", STR_ARG(by), STR_ARG(reason));
	return true;
}
