/* drive - turns: who was told something, whose time is over, who turns back, who goes; then one
 * commit, and only then what follows from it. */
#include "controller/rollout/drive.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/drive_priv.h"

#include <stdlib.h>
#include <string.h>

#define SIGNATURE_MAX 64

struct drive *drive_new(const struct rollout_policy *policy, struct rollout *r, size_t n,
	const struct drive_world *world)
{
	struct drive *d = xcalloc(1, sizeof *d);

	d->policy = policy;
	d->r = r;
	d->world = *world;
	d->n = n;
	d->nodes = xcalloc(n + 1, sizeof *d->nodes);
	for (size_t i = 0; i < n; i++)
		d->nodes[i].due = INT64_MAX;
	d->forgiven = INT64_MIN;
	d->fresh = true;
	return d;
}

void drive_free(struct drive *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++) {
		drive_told_done(&d->nodes[i].told);
		drive_told_done(&d->nodes[i].word);
		free(d->nodes[i].note);
	}
	free(d->nodes);
	free(d->asked_why);
	vec_done(&d->active);
	vec_done(&d->moved);
	free(d);
}

/* --- what is told between turns --- */

void drive_resume(struct drive *d, unsigned stage, int64_t forgiven)
{
	d->forgiven = forgiven;
	rollout_restore_stage(d->r, stage);
}

void drive_place(struct drive *d, size_t node, enum node_state state, unsigned tries, int64_t since,
	const struct drive_word *word)
{
	struct node *n = &d->nodes[node];

	if (state == STATE_ELIGIBLE || n->placed)
		return;
	n->state = state;
	n->tries = tries;
	n->since = since;
	n->placed = n->again = n->moving = true;
	drive_told_set(&n->word, word);
	*vec_push(&d->moved) = node;
	*vec_push(&d->active) = node;
	drive_restore(d, node);
}

/* Ways that only the drive itself goes. */
static bool is_own(enum node_state state, enum node_event on)
{
	return state == STATE_ELIGIBLE || on == EVENT_ABORT ||
	       (state == STATE_SOAK && on == EVENT_SKIP);
}

bool drive_tell(struct drive *d, size_t node, enum node_state state, enum node_event on,
	const struct drive_word *word)
{
	struct node *n = &d->nodes[node];

	if (is_own(state, on) || node_next(state, on) == STATE_N)
		return false;
	if (n->state != state || n->phase != PHASE_ACT)
		return true;
	n->phase = PHASE_TOLD;
	n->on = on;
	n->due = INT64_MAX;
	drive_told_set(&n->told, word);
	d->fresh = true;
	return true;
}

void drive_note(struct drive *d, size_t node, enum node_state state, const char *words)
{
	struct node *n = &d->nodes[node];

	if (n->state != state || n->phase != PHASE_ACT)
		return;
	free(n->note);
	n->note = words && *words ? xstrdup(words) : NULL;
}

void drive_ask(struct drive *d, enum drive_asked asked, const char *why)
{
	if (d->asked == DRIVE_ABORT)
		return;
	d->asked = asked;
	free(d->asked_why);
	d->asked_why = why && *why ? xstrdup(why) : NULL;
	d->fresh = true;
}

void drive_forgive(struct drive *d)
{
	rollout_reset_breaker(d->r);
	d->forgiven = d->now;
	d->fresh = true;
}

/* --- who is away --- */

void drive_look_at(struct drive *d, size_t i)
{
	struct node *n = &d->nodes[i];
	const size_t taken = rollout_taken(d->r);
	char why[200] = "";
	bool away;

	if (!d->world.is_away)
		return;
	away = d->world.is_away(d->world.ctx, i, why);
	rollout_take(d->r, i, away);
	if (taken != rollout_taken(d->r))
		d->changed = d->now;
	if (n->state != STATE_ELIGIBLE || (!away && !n->note) ||
		(away && n->note && strcmp(n->note, why) == 0))
		return;
	free(n->note);
	n->note = away && why[0] ? xstrdup(why) : NULL;
}

/* Of those who are out, the fence is ours. */
static void look_at_away(struct drive *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const enum rollout_place p = rollout_place_of(d->r, i);

		if (p != NODE_OUT && p != NODE_FAILED)
			drive_look_at(d, i);
	}
}

/* --- what became of those under way --- */

static bool is_retried(const struct drive *d, const struct node *n)
{
	return (n->state == STATE_PREFLIGHT || n->state == STATE_STAGED) &&
	       (n->on == EVENT_FAILED || n->on == EVENT_TIMEOUT) && n->tries < d->policy->retry;
}

/* A node that is back at work and failed its second check: down once more only where that fits.
 * False: it waits for those who are out. */
static bool is_spared(struct drive *d, size_t i)
{
	struct node *n = &d->nodes[i];
	AUTO_STR words = NULL;
	AUTO_STR why = NULL;
	AUTO_BUF held;

	buf_init(&held, 300);
	if (rollout_recall(d->r, i, &held))
		return true;
	words = xasprintf("must be taken back, but %s", buf_text(&held));
	if (rollout_count(d->r, NODE_OUT) > 0) {
		free(n->note);
		n->note = words;
		words = NULL;
		return false;
	}
	why = xasprintf("%s; %s", n->told.why ? n->told.why : "its second check failed", words);
	free(n->told.why);
	n->told.why = why;
	why = NULL;
	n->on = EVENT_SKIP;
	return true;
}

static int draw(struct drive *d, size_t i, struct err *err)
{
	struct node *n = &d->nodes[i];
	struct drive_word word;

	if (drive_is_gated(d, n))
		return 0;
	if (is_retried(d, n))
		return drive_try_again(d, i, err);
	if (drive_unit_waits(d, i))
		return 0;
	if (n->state == STATE_SOAK && n->on == EVENT_FAILED &&
		d->policy->on_failure == ON_FAILURE_ROLLBACK && !is_spared(d, i))
		return 0;
	word = (struct drive_word){n->told.why, n->told.hint, n->told.signature};
	return drive_go(d, i, n->on, &word, err);
}

/* Its time is over: as if the world had said so. Of a watch there is no way by that name. */
static void time_out(struct drive *d, struct node *n)
{
	const int64_t limit = drive_limit(d, n->state);
	AUTO_STR why = NULL;
	char span[24], signature[SIGNATURE_MAX];

	clock_format_span(limit, span);
	why = xasprintf("%s has not ended within %s", NODE_STATES[n->state], span);
	snprintf(signature, sizeof signature, "%s timeout", NODE_STATES[n->state]);
	drive_told_set(&n->told, &(struct drive_word){why, NULL, signature});
	n->on = n->state == STATE_SOAK ? EVENT_FAILED : EVENT_TIMEOUT;
	n->phase = PHASE_TOLD;
	n->due = INT64_MAX;
	n->act_ends = true;
	n->left = n->state;
}

static bool turns_back(const struct drive *d, const struct node *n)
{
	return d->asked == DRIVE_ABORT && node_next(n->state, EVENT_ABORT) != STATE_N;
}

static int turn_back(struct drive *d, size_t i, struct err *err)
{
	const struct drive_word word = {d->asked_why, NULL, NULL};

	return drive_go(d, i, EVENT_ABORT, &word, err);
}

static int look_at_active(struct drive *d, struct err *err)
{
	int rc = 0;

	for (size_t k = 0; k < d->active.n && rc == 0; k++) {
		const size_t i = d->active.at[k];
		struct node *n = &d->nodes[i];

		if (n->moving)
			continue;
		if (n->phase == PHASE_ACT && n->due <= d->now)
			time_out(d, n);
		if (turns_back(d, n))
			rc = turn_back(d, i, err);
		else if (n->phase == PHASE_TOLD)
			rc = draw(d, i, err);
	}
	return rc;
}

/* --- who goes --- */

/* Those who were never begun with. */
static int turn_back_waiting(struct drive *d, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < d->n && rc == 0; i++)
		if (d->nodes[i].state == STATE_ELIGIBLE)
			rc = turn_back(d, i, err);
	d->turned_back = true;
	return rc;
}

static int admit(struct drive *d, struct err *err)
{
	const size_t *who;
	size_t n;
	int rc = 0;

	if (d->asked == DRIVE_ABORT)
		return d->turned_back ? 0 : turn_back_waiting(d, err);
	if (d->asked == DRIVE_PAUSE)
		return 0;
	n = rollout_admit(d->r, d->now, d->wall / CLOCK_SEC, 0, &who);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = drive_go(d, who[i], EVENT_OK, NULL, err);
	return rc;
}

/* --- the end --- */

/* Nobody is under way: those who are out have changed nothing, and stand at the gate. */
static bool is_quiet(const struct drive *d)
{
	for (size_t k = 0; k < d->active.n; k++) {
		const struct node *n = &d->nodes[d->active.at[k]];

		if (!node_is_terminal(n->state) &&
			!(n->state == STATE_STAGED && n->phase == PHASE_TOLD))
			return false;
	}
	return true;
}

static bool judge_over(const struct drive *d)
{
	if (rollout_is_finished(d->r))
		return true;
	if (drive_paused(d))
		return is_quiet(d);
	return d->asked == DRIVE_GO && rollout_is_stuck(d->r) &&
	       (rollout_taken(d->r) == 0 || d->now - d->changed >= DRIVE_STUCK_WAIT);
}

static int tell_left_out(struct drive *d, size_t i, struct err *err)
{
	AUTO_BUF words;

	buf_init(&words, 400);
	drive_waits(d, i, &words);
	drive_told_set(&d->nodes[i].word, &(struct drive_word){buf_text(&words), NULL, NULL});
	return drive_remark(d, i, EVENT_SKIP, err);
}

static int tell_rest(struct drive *d, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < d->n && rc == 0; i++)
		if (d->nodes[i].state == STATE_ELIGIBLE)
			rc = tell_left_out(d, i, err);
	return rc;
}

static int judge_rest(struct drive *d, struct err *err)
{
	const int64_t changed = d->changed;
	int rc = 0;

	d->over = d->kept == 0 && d->moved.n == 0 && judge_over(d);
	if (d->over && !drive_paused(d) && !d->told_rest)
		rc = tell_rest(d, err);
	d->told_rest = d->over && !drive_paused(d);
	d->changed = changed; /* a remark is no news */
	return rc;
}

/* --- turns --- */

static int commit(struct drive *d, struct err *err)
{
	int rc = 0;

	if (d->kept > 0)
		rc = d->world.commit(d->world.ctx, err);
	d->kept = 0;
	d->failed = d->failed || rc < 0;
	return rc;
}

static void begin_moved(struct drive *d)
{
	for (size_t k = 0; k < d->moved.n; k++)
		drive_begin(d, d->moved.at[k]);
	d->moved.n = 0;
}

/* Those whose wait is over, for a try more or a watch. */
static void enter_due(struct drive *d)
{
	for (size_t k = 0; k < d->active.n; k++) {
		struct node *n = &d->nodes[d->active.at[k]];

		if (n->phase == PHASE_STAND && n->due <= d->now)
			drive_enter(d, d->active.at[k]);
	}
}

static void forget_ended(struct drive *d)
{
	size_t kept = 0;

	for (size_t k = 0; k < d->active.n; k++)
		if (!node_is_terminal(d->nodes[d->active.at[k]].state))
			d->active.at[kept++] = d->active.at[k];
	d->active.n = kept;
}

/* Placed nodes whose policy has decided already move before they are entered. */
static int first_turn(struct drive *d, struct err *err)
{
	int rc = 0;

	if (d->begun)
		return 0;
	d->begun = true;
	d->changed = d->now;
	for (size_t k = 0; k < d->moved.n && rc == 0; k++)
		rc = drive_go_on(d, d->moved.at[k], err);
	return rc;
}

static int one_round(struct drive *d, bool *more, struct err *err)
{
	int rc = first_turn(d, err);

	d->fresh = false;
	if (rc == 0)
		rc = look_at_active(d, err);
	if (rc == 0)
		rc = admit(d, err);
	if (rc == 0)
		rc = judge_rest(d, err);
	*more = d->kept > 0 || d->moved.n > 0;
	if (rc == 0)
		rc = commit(d, err);
	if (rc < 0)
		return rc;
	begin_moved(d);
	enter_due(d);
	*more = *more || d->fresh;
	return 0;
}

int drive_turn(struct drive *d, int64_t now, int64_t wall, struct err *err)
{
	bool more = true;
	int rc = 0;

	if (d->failed)
		return err_set(err, E_STATE, "the rollout's state could not be kept before");
	d->now = now;
	d->wall = wall;
	d->shut = rollout_window(d->r, wall / CLOCK_SEC) > wall / CLOCK_SEC;
	look_at_away(d);
	while (more && rc == 0)
		rc = one_round(d, &more, err);
	forget_ended(d);
	return rc;
}
