/* drive_node - one node's moves: durable first, then in the planner, then begun. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/drive_priv.h"

#include <stdlib.h>
#include <string.h>

/* --- words --- */

void drive_told_done(struct told *t)
{
	free(t->why);
	free(t->hint);
	free(t->signature);
	*t = (struct told){0};
}

static char *copy(const char *text)
{
	return text && *text ? xstrdup(text) : NULL;
}

void drive_told_set(struct told *t, const struct drive_word *word)
{
	const struct told now = {word ? copy(word->why) : NULL, word ? copy(word->hint) : NULL,
		word ? copy(word->signature) : NULL};

	drive_told_done(t);
	*t = now;
}

static const char *why_of(enum node_state from, enum node_event on)
{
	for (const struct node_edge *e = NODE_EDGES; e->why; e++)
		if (e->from == from && e->on == on)
			return e->why;
	return "";
}

/* Whether a failure that the node gave back unchanged is anybody's but its job's or another's. */
static bool has_signature(enum node_state from, enum node_event on)
{
	return from != STATE_WAIT_JOBS && on != EVENT_ABORT;
}

/* The word of a move: what was said, else what the table says. On the way back the failure that led
 * there is not forgotten: it is the node's to its end. */
static void say(
	struct node *n, enum node_state from, enum node_event on, const struct drive_word *word)
{
	const char *why = word && word->why && *word->why ? word->why : why_of(from, on);
	const struct told before = n->word;
	struct told now = {NULL, copy(word ? word->hint : NULL), NULL};

	if (has_signature(from, on))
		now.signature = copy(word ? word->signature : NULL);
	if (from == STATE_ROLLBACK) {
		now.why = before.why ? xasprintf("%s; before: %s", why, before.why) : copy(why);
		if (!now.hint)
			now.hint = copy(before.hint);
		if (!now.signature)
			now.signature = copy(before.signature);
	} else {
		now.why = copy(why);
	}
	drive_told_done(&n->word);
	n->word = now;
}

/* --- what a state means for the planner --- */

static enum rollout_place place_of(const struct node *n)
{
	switch (n->state) {
	case STATE_ELIGIBLE:
		return NODE_WAITING;
	case STATE_SOAK:
		return NODE_WATCHED;
	case STATE_DONE:
		return NODE_DONE;
	case STATE_QUARANTINED:
	case STATE_UNREACHABLE:
		return NODE_FAILED;
	case STATE_REJECTED:
	case STATE_UNDONE:
		return NODE_UNDONE;
	case STATE_ABORTED:
		return NODE_PASSED;
	case STATE_RELEASED:
		return n->word.signature ? NODE_UNDONE : NODE_PASSED;
	default:
		return NODE_OUT;
	}
}

static bool is_failure(enum rollout_place p)
{
	return p == NODE_FAILED || p == NODE_UNDONE;
}

/* Quarantined ones, since failures were forgiven last, that failed as this one did. */
static unsigned count_alike(const struct drive *d, const struct node *like)
{
	unsigned n = 0;

	for (size_t i = 0; i < d->n && like->word.signature; i++) {
		const struct node *other = &d->nodes[i];

		n += other->state == STATE_QUARANTINED && other->since > d->forgiven &&
		     other->word.signature &&
		     strcmp(other->word.signature, like->word.signature) == 0;
	}
	return n;
}

/* What stops the wave at once, whatever the policy's budget of failures. */
static void judge_end(struct drive *d, size_t i)
{
	const struct node *n = &d->nodes[i];
	const char *name = rollout_name(d->r, i);
	AUTO_STR why = NULL;

	if (n->state == STATE_UNREACHABLE)
		why = xasprintf("%s did not come back", name);
	else if (n->state == STATE_QUARANTINED && count_alike(d, n) > 1)
		why = xasprintf("%s is not the first one quarantined for this: %.120s", name,
			n->word.signature);
	else if (d->policy->on_failure == ON_FAILURE_STOP && is_failure(place_of(n)))
		why = xasprintf("%s failed and the policy says stop: %.120s", name,
			n->word.why ? n->word.why : NODE_STATES[n->state]);
	if (why)
		rollout_trip(d->r, why);
}

static void tell_planner(struct drive *d, size_t i)
{
	const struct node *n = &d->nodes[i];

	if (n->state == STATE_SOAK)
		rollout_return(d->r, i);
	if (node_is_terminal(n->state)) {
		rollout_settle(d->r, i, place_of(n), n->word.signature, d->now);
		judge_end(d, i);
	}
	if (place_of(n) != NODE_OUT && place_of(n) != NODE_FAILED)
		drive_look_at(d, i); /* somebody may have taken it meanwhile */
}

void drive_restore(struct drive *d, size_t i)
{
	const struct node *n = &d->nodes[i];
	const enum rollout_place place = place_of(n);
	const bool counts = is_failure(place) && n->since > d->forgiven;

	rollout_restore(d->r, i, place, n->word.signature, counts, n->since);
	if (counts)
		judge_end(d, i);
}

/* --- moves --- */

static int hand_over(
	struct drive *d, size_t i, enum node_state from, enum node_event on, struct err *err)
{
	const struct node *n = &d->nodes[i];
	const struct drive_move m = {.node = i,
		.from = from,
		.to = n->state,
		.on = on,
		.tries = n->tries,
		.word = {n->word.why, n->word.hint, n->word.signature},
		.wall = d->wall};
	const int rc = d->world.move(d->world.ctx, &m, err);

	d->kept++;
	d->changed = d->now;
	d->failed = d->failed || rc < 0;
	return rc;
}

/* It is to be begun anew after the commit; what is under way is given up then. */
static void set_moving(struct drive *d, size_t i)
{
	struct node *n = &d->nodes[i];

	if (n->phase == PHASE_ACT) {
		n->act_ends = true;
		n->left = n->state;
	}
	n->phase = PHASE_REST;
	n->due = INT64_MAX;
	n->since = d->now;
	n->again = false;
	free(n->note);
	n->note = NULL;
	drive_told_done(&n->told);
	if (!n->moving)
		*vec_push(&d->moved) = i;
	n->moving = true;
}

static int step(struct drive *d, size_t i, enum node_event on, const struct drive_word *word,
	struct err *err)
{
	struct node *n = &d->nodes[i];
	const enum node_state from = n->state, to = node_next(from, on);
	struct told said = {0};

	if (to == STATE_N) {
		d->failed = true;
		return err_set(err, E_INTERNAL, "no way leads on from '%s' by '%s' (%s)",
			NODE_STATES[from], on < EVENT_N ? NODE_EVENTS[on] : "?",
			rollout_name(d->r, i));
	}
	drive_told_set(&said, word); /* word may be the node's own, which goes now */
	set_moving(d, i);
	say(n, from, on, &(struct drive_word){said.why, said.hint, said.signature});
	drive_told_done(&said);
	n->state = to;
	n->tries = 0;
	if (from == STATE_ELIGIBLE)
		*vec_push(&d->active) = i;
	tell_planner(d, i);
	return hand_over(d, i, from, on, err);
}

/* What the policy has decided already, without anything to be done. */
static enum node_event at_once(const struct drive *d, const struct node *n)
{
	if (n->state == STATE_ROLLBACK && d->policy->on_failure != ON_FAILURE_ROLLBACK)
		return EVENT_SKIP;
	if (n->state == STATE_SOAK && d->policy->soak_node == 0)
		return EVENT_OK;
	return EVENT_N;
}

int drive_go_on(struct drive *d, size_t i, struct err *err)
{
	enum node_event on;
	int rc = 0;

	while (rc == 0 && (on = at_once(d, &d->nodes[i])) != EVENT_N)
		rc = step(d, i, on, NULL, err);
	return rc;
}

int drive_go(struct drive *d, size_t i, enum node_event on, const struct drive_word *word,
	struct err *err)
{
	const int rc = step(d, i, on, word, err);

	return rc < 0 ? rc : drive_go_on(d, i, err);
}

int drive_try_again(struct drive *d, size_t i, struct err *err)
{
	struct node *n = &d->nodes[i];
	const enum node_event on = n->on;
	const struct told told = n->told;

	n->told = (struct told){0};
	drive_told_done(&n->word);
	n->word = told;
	if (!n->word.why)
		n->word.why = copy(why_of(n->state, on));
	set_moving(d, i);
	n->tries++;
	return hand_over(d, i, n->state, on, err);
}

int drive_remark(struct drive *d, size_t i, enum node_event on, struct err *err)
{
	return hand_over(d, i, d->nodes[i].state, on, err);
}

/* --- actions --- */

int64_t drive_limit(const struct drive *d, enum node_state state)
{
	const struct rollout_policy *p = d->policy;

	switch (state) {
	case STATE_PREFLIGHT:
		return p->timeouts[TIMEOUT_PREFLIGHT];
	case STATE_STAGED:
		return p->timeouts[TIMEOUT_STAGE];
	case STATE_CORDONED:
	case STATE_DRAINED:
	case STATE_RETURNED:
		return p->timeouts[TIMEOUT_FENCE];
	case STATE_WAIT_JOBS:
		return p->fence.deadline + p->fence.grace + DRIVE_NET;
	case STATE_QUIESCED:
		return p->timeouts[TIMEOUT_APPLY];
	case STATE_REBOOTING:
		return p->reboot_within * (p->power_cycle ? 2 : 1) + DRIVE_NET;
	case STATE_SERVICES:
		return p->timeouts[TIMEOUT_SERVICES];
	case STATE_VERIFY:
	case STATE_SOAK:
		return p->timeouts[TIMEOUT_VERIFY];
	case STATE_ROLLBACK:
		return p->timeouts[TIMEOUT_ROLLBACK];
	default:
		return 0;
	}
}

/* After a crash time went on that nobody looked: an action that may have ended well meanwhile has
 * a little to say so. A watch begins anew with its second check. */
static int64_t ends_at(const struct drive *d, const struct node *n)
{
	const int64_t limit = drive_limit(d, n->state);
	const int64_t least = d->now + (limit < DRIVE_AGAIN_WAIT ? limit : DRIVE_AGAIN_WAIT);
	int64_t due;

	if (limit == 0)
		return INT64_MAX;
	due = (n->again && n->state != STATE_SOAK ? n->since : d->now) + limit;
	return n->again && due < least ? least : due;
}

void drive_enter(struct drive *d, size_t i)
{
	struct node *n = &d->nodes[i];
	const bool again = n->again;

	n->phase = PHASE_ACT;
	n->due = ends_at(d, n);
	d->world.enter(d->world.ctx, i, n->state, n->tries, again);
}

static int64_t begins_at(const struct drive *d, const struct node *n)
{
	if (n->state == STATE_SOAK)
		return n->since + d->policy->soak_node;
	if (n->tries > 0 && !n->again)
		return n->since + DRIVE_RETRY_WAIT;
	return d->now;
}

void drive_begin(struct drive *d, size_t i)
{
	struct node *n = &d->nodes[i];

	n->moving = false;
	if (n->act_ends)
		d->world.leave(d->world.ctx, i, n->left);
	n->act_ends = false;
	if (n->state == STATE_ELIGIBLE)
		return;
	if (node_is_terminal(n->state)) {
		d->world.enter(d->world.ctx, i, n->state, n->tries, n->again);
		return;
	}
	n->phase = PHASE_STAND;
	n->due = begins_at(d, n);
	if (n->due <= d->now)
		drive_enter(d, i);
}
