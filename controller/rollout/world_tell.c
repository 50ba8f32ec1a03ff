/*
 * world_tell - what came of a state's action on the way there: what agents, the scheduler and
 * clocks say, told to the drive.
 */
#include "agent/base/clock.h"
#include "agent/base/proc.h"
#include "controller/rollout/world_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEW_FRESH    (60 * CLOCK_SEC) /* what a scheduler said is good for so long */
#define CYCLE_TIMEOUT (300 * CLOCK_SEC)
#define UP_FRESH      (60 * CLOCK_SEC) /* it was there so long ago: it still is */

void world_tell_word(struct world *w, size_t i, enum node_event on, const char *why,
	const char *hint, const char *signature)
{
	struct world_node *n = &w->at[i];
	const struct drive_word word = {why, hint && *hint ? hint : NULL, signature};

	n->at_work = false;
	if (drive_tell(w->drive, i, n->state, on, &word))
		return;
	err_set(&w->broken, E_INTERNAL, "there is no way from '%s' by '%s'", NODE_STATES[n->state],
		NODE_EVENTS[on]);
}

void world_tell(struct world *w, size_t i, enum node_event on, const char *why)
{
	world_tell_word(w, i, on, why, NULL, NULL);
}

/* An order that failed: the agent's reason, or the first step that it told of. */
void world_tell_failure(struct world *w, size_t i, enum node_event on)
{
	const struct world_node *n = &w->at[i];
	const struct fault *f = &n->fault;
	const struct str reason = str_first_utf8(str_of(n->answer.reason), 470);
	char why[480], signature[200];

	if (reason.n > 0)
		snprintf(why, sizeof why, STR_FMT, STR_ARG(reason));
	else if (*f->signature)
		snprintf(why, sizeof why, "%s%s%s", f->what, *f->why ? ": " : "", f->why);
	else
		snprintf(why, sizeof why, "it ended as '%s'", result_name(n->answer.state));
	if (*f->signature)
		snprintf(signature, sizeof signature, "%s", f->signature);
	else
		snprintf(signature, sizeof signature, "%s: %s", NODE_STATES[n->state],
			result_name(n->answer.state));
	world_tell_word(w, i, on, why, n->answer.hint && *n->answer.hint ? n->answer.hint : f->hint,
		signature);
}

void world_note(struct world *w, size_t i, const char *words)
{
	drive_note(w->drive, i, w->at[i].state, words);
}

const struct fence_view *world_view(const struct world *w, size_t i)
{
	return fence_look(w->fence, i);
}

/* Somebody else took it while it was ours, or before. */
static void tell_foreign(struct world *w, size_t i, enum node_event on)
{
	char why[200] = "";

	(void)world_is_away(w, i, why);
	world_tell_word(w, i, on, why,
		"it is left as it is; give it back to its scheduler, then again", NULL);
}

/* --- preflight, staged --- */

static bool is_fresh(const struct world *w, const struct fence_view *v)
{
	return v->state != FENCE_UNASKED && w->now - v->at < VIEW_FRESH;
}

void world_keep_facts(struct world *w, size_t i, const char *name)
{
	AUTO_BUF text = {0};

	buf_init(&text, 4u << 20);
	json_write_pretty(w->at[i].answer.facts, &text);
	buf_add_char(&text, '\n');
	world_keep_evidence(w, i, name, buf_str(&text));
}

static void look_planned(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];

	if (n->answer.state == RESULT_OK || n->answer.state == RESULT_SKIPPED) {
		world_tell(w, i, EVENT_SKIP, "nothing is to be changed");
	} else if (n->answer.state == RESULT_CHANGED ||
		   (n->answer.state == RESULT_UNKNOWN && n->met && !*n->fault.signature)) {
		n->phase = 2;
		world_call(w, i, CALL_BEFORE);
	} else {
		world_tell_failure(
			w, i, n->answer.state == RESULT_TIMEOUT ? EVENT_TIMEOUT : EVENT_FAILED);
	}
}

static void look_preflight(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];

	if (n->phase == 0 && w->fence) {
		const struct fence_view *v = world_view(w, i);

		if (fence_is_foreign(v)) {
			tell_foreign(w, i, EVENT_FAILED);
			return;
		}
		if (v->state == FENCE_ABSENT && *v->reason) {
			world_tell_word(w, i, EVENT_FAILED, *v->trouble ? v->trouble : v->reason,
				"nodes must have the names that their scheduler gives them",
				"another name");
			return;
		}
		world_note(w, i, is_fresh(w, v) ? NULL : fence_silent(w->fence));
		if (!is_fresh(w, v))
			return;
	}
	if (n->phase == 0) {
		n->phase = 1;
		world_call(w, i, CALL_PLAN);
	} else if (n->phase == 1 && n->answer.there) {
		look_planned(w, i);
	} else if (n->phase == 2 && n->answer.there) {
		if (!world_is_good(&n->answer) || !n->answer.facts) {
			world_tell_failure(w, i, EVENT_FAILED);
			return;
		}
		world_keep_facts(w, i, FACTS_BEFORE);
		world_tell(w, i, EVENT_OK, "it would change");
	}
}

static void look_staged(struct world *w, size_t i)
{
	if (!w->at[i].answer.there)
		return;
	/* unknown: what hangs on an earlier step is fetched by the apply itself */
	if (!world_is_good(&w->at[i].answer) && w->at[i].answer.state != RESULT_UNKNOWN)
		world_tell_failure(w, i, EVENT_FAILED);
	else if (!world_has_fence(w, i))
		world_tell(w, i, EVENT_SKIP, "no scheduler has it");
	else if (w->order->policy.reboot_by_fence && !fence_can_reboot(w->fence))
		world_tell_word(w, i, EVENT_FAILED, "its scheduler cannot restart nodes",
			"say 'reboot: {by: agent}' in the policy", "no restart");
	else
		world_tell(w, i, EVENT_OK, NULL);
}

/* --- the fence --- */

static void look_cordoned(struct world *w, size_t i)
{
	const struct fence_view *v = world_view(w, i);

	if (fence_is_foreign(v))
		tell_foreign(w, i, EVENT_FAILED);
	else if (v->ours && (v->state == FENCE_CLOSING || fence_is_closed(v)))
		world_tell(w, i, EVENT_OK, NULL);
	else
		world_note(w, i,
			*v->trouble ? v->trouble : "the scheduler to take no new jobs for it");
}

/* What runs at the deadline is moved by policy, and has the grace to end. */
static void note_jobs(struct world *w, size_t i, const struct fence_view *v, int64_t left)
{
	char words[120], at[24];

	clock_format(w->wall + left, at);
	snprintf(words, sizeof words, "%u job%s to end, until %s", v->jobs, v->jobs == 1 ? "" : "s",
		at);
	world_note(w, i, words);
}

void world_move_jobs(struct world *w, size_t i)
{
	if (!w->at[i].moved_jobs)
		fence_move_jobs(w->fence, i, w->order->policy.fence.jobs);
	w->at[i].moved_jobs = true;
}

static void look_wait_jobs(struct world *w, size_t i)
{
	const struct rollout_fence *f = &w->order->policy.fence;
	const struct fence_view *v = world_view(w, i);
	const int64_t waited = w->now - drive_since(w->drive, i);
	const int64_t most = f->deadline + (f->jobs == FENCE_WAIT ? 0 : f->grace);
	char why[120];

	if (fence_is_closed(v)) {
		world_tell(w, i, EVENT_OK, NULL);
	} else if (fence_is_foreign(v)) {
		tell_foreign(w, i, EVENT_FAILED);
	} else if (v->state != FENCE_UNASKED && waited >= most) {
		snprintf(why, sizeof why, "%u job%s still ran at the deadline", v->jobs,
			v->jobs == 1 ? "" : "s");
		world_tell_word(w, i, EVENT_TIMEOUT, why,
			"'fence: {jobs: requeue}' of the policy moves them",
			"jobs at the deadline");
	} else {
		if (waited >= f->deadline)
			world_move_jobs(w, i);
		note_jobs(w, i, v, most - waited);
	}
}

static void look_drained(struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];
	char who[200];

	if (!n->answer.there)
		return;
	if (!world_is_good(&n->answer))
		world_tell_failure(w, i, EVENT_FAILED);
	else if (facts_find_holder(n->answer.facts, who))
		world_tell_word(w, i, EVENT_FAILED, who,
			"end it on the node, or let its scheduler know of it", NULL);
	else
		world_tell(w, i, EVENT_OK, NULL);
}

/* --- the apply, and what it goes through --- */

static void look_quiesced(struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];

	if (n->down)
		world_tell(w, i, EVENT_OK, "it restarts now");
	else if (n->answer.there && world_is_good(&n->answer))
		world_tell(w, i, EVENT_OK, NULL);
	else if (n->answer.there)
		world_tell_failure(w, i, EVENT_FAILED);
}

static void look_installed(struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];

	if (n->down)
		world_tell(w, i, EVENT_OK, NULL);
	else if (n->answer.there && world_is_good(&n->answer))
		world_tell(w, i, EVENT_SKIP, NULL);
	else if (n->answer.there)
		world_tell_failure(w, i, EVENT_FAILED);
}

static void begin_cycle(struct world *w, size_t i)
{
	const char *const *command = w->order->policy.power_cycle;
	const char *argv[64];
	unsigned n = 0;
	struct err err = {0};

	while (n < 62 && command[n])
		n++;
	memcpy(argv, command, n * sizeof *argv);
	argv[n] = w->refs.at[i]->name;
	argv[n + 1] = NULL;
	w->at[i].cycled = true;
	w->cycled = i;
	/* durable before it begins: never twice, whoever drives on */
	world_keep_evidence(w, i, CYCLE_FILE, STR_LIT("begun\n"));
	if (w->broken.code == 0 && crew_commit(w->crew, &w->broken) == 0 &&
		program_start(&w->cycle, argv, PROC_ENV_CLEAN, w->now + CYCLE_TIMEOUT, &err) < 0)
		world_keep_evidence(w, i, CYCLE_FILE, str_of(err.msg));
}

/* It answers, and has not gone down: the request was lost, or its shutdown hangs. */
static bool is_up(const struct world *w, size_t i)
{
	return w->at[i].up_at > drive_since(w->drive, i) && w->now - w->at[i].up_at < UP_FRESH;
}

static void tell_not_restarted(struct world *w, size_t i)
{
	char why[160], span[24];

	clock_format_span(w->now - drive_since(w->drive, i), span);
	snprintf(why, sizeof why,
		"it has not gone down for its restart within %s, and still answers", span);
	world_tell_word(w, i, EVENT_TIMEOUT, why, "restart it by hand; it then goes on by itself",
		"restart: did not go down");
}

static void tell_unreachable(struct world *w, size_t i)
{
	const bool cycled = w->at[i].cycled;
	char why[160], span[24];

	clock_format_span(w->now - drive_since(w->drive, i), span);
	snprintf(why, sizeof why, "it did not come back from its restart within %s%s", span,
		cycled ? ", nor after its power was cycled" : "");
	world_tell_word(w, i, EVENT_TIMEOUT, why, "look at its console", "restart: no answer");
}

static void look_at_time(struct world *w, size_t i)
{
	const struct rollout_policy *p = &w->order->policy;
	const int64_t waited = w->now - drive_since(w->drive, i);

	if (waited < p->reboot_within)
		world_note(w, i, is_up(w, i) ? "it to go down for its restart" : "its restart");
	else if (is_up(w, i))
		tell_not_restarted(w, i);
	else if (!p->power_cycle || (w->at[i].cycled && waited >= 2 * p->reboot_within))
		tell_unreachable(w, i);
	else if (w->at[i].cycled)
		world_note(w, i, "its restart; its power was cycled");
	else if (!program_runs(&w->cycle))
		begin_cycle(w, i);
}

static void look_rebooting(struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];
	const bool answered = n->answer.there && n->answer.state != RESULT_TIMEOUT &&
			      n->answer.state != RESULT_UNKNOWN;

	if (n->back || (n->answer.there && world_is_good(&n->answer)))
		world_tell(w, i, EVENT_OK, NULL);
	else if (answered && n->answer.state == RESULT_DENIED)
		world_tell_failure(w, i, EVENT_FAILED);
	else if (answered && (n->answer.heard || *n->fault.signature))
		world_tell(w, i, EVENT_OK, NULL); /* it lives, and something failed since */
	else if (n->answer.there && is_up(w, i))
		tell_not_restarted(w, i);
	else if (n->answer.there && !w->order->policy.power_cycle)
		tell_unreachable(w, i);
	else
		look_at_time(w, i);
}

static void look_services(struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];

	if (n->answer.there && world_is_good(&n->answer))
		world_tell(w, i, EVENT_OK, NULL);
	else if (n->answer.there)
		world_tell_failure(w, i, EVENT_FAILED);
	else
		world_note(w, i, "its apply to end");
}

/* --- proven, and given back --- */

/* A step that differs by its nature is no failure. */
static bool is_proven(const struct world_node *n)
{
	return world_is_good(&n->answer) && !*n->fault.signature;
}

static void look_verify(struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];

	if (n->answer.there && is_proven(n))
		world_tell(w, i, EVENT_OK, NULL);
	else if (n->answer.there)
		world_tell_failure(w, i, EVENT_FAILED);
}

/* Whether the node is no longer kept off by us: it is open, or somebody else keeps it now. */
bool world_is_given_back(struct world *w, size_t i, char why[static 200])
{
	const struct fence_view *v;

	*why = '\0';
	if (!world_has_fence(w, i))
		return true;
	v = world_view(w, i);
	if (v->state == FENCE_UNASKED || v->ours)
		return false;
	if (v->state == FENCE_OPEN)
		return true;
	return fence_is_foreign(v) && v->state != FENCE_DOWN && world_is_away(w, i, why);
}

static void look_returned(struct world *w, size_t i)
{
	char why[200];

	if (world_is_given_back(w, i, why))
		world_tell(w, i, EVENT_OK,
			*why                    ? why
			: world_has_fence(w, i) ? NULL
						: "no scheduler has it");
	else
		world_note(w, i,
			*world_view(w, i)->trouble ? world_view(w, i)->trouble
						   : "the scheduler to take it back");
}

static void look_soak(struct world *w, size_t i)
{
	look_verify(w, i);
}

static void (*const LOOK[STATE_N])(struct world *w, size_t i) = {
	[STATE_PREFLIGHT] = look_preflight,
	[STATE_STAGED] = look_staged,
	[STATE_CORDONED] = look_cordoned,
	[STATE_WAIT_JOBS] = look_wait_jobs,
	[STATE_DRAINED] = look_drained,
	[STATE_QUIESCED] = look_quiesced,
	[STATE_INSTALLED] = look_installed,
	[STATE_REBOOTING] = look_rebooting,
	[STATE_SERVICES] = look_services,
	[STATE_VERIFY] = look_verify,
	[STATE_RETURNED] = look_returned,
	[STATE_SOAK] = look_soak,
	[STATE_ROLLBACK] = world_look_rollback,
};

void world_look(struct world *w, size_t i)
{
	struct world_node *n = &w->at[i];

	if (!n->at_work || w->broken.code)
		return;
	if (LOOK[n->state])
		LOOK[n->state](w, i);
	else if (node_is_terminal(n->state))
		world_look_at_rest(w, i);
}
